"""Checkpoints of the eight families: loaded, trained for a few steps, stored, loaded again.

The checkpoints are small and their weights random; class, precision, files and kind of tokenizer
are those of the published ones (family_checkpoints.py).
"""

import json
import shutil

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from family_checkpoints import ENTRIES, TEXTS, sentences, write_checkpoint
from posbias.errors import ConfigError, DataError
from posbias.files import sha256_file
from posbias.models.bodies import usable_positions
from posbias.models.pretrained import base_facts, read_config
from posbias.models.retriever import (
    Retriever,
    build_retriever,
    load_retriever,
    retriever_tokenizer,
)
from posbias.models.tokenizers import describe
from posbias.training.contrastive import contrastive_loss, make_trainer

LIMIT = 48  # tokens; the last text is longer
DECODERS = [name for name, entry in ENTRIES.items() if entry["pooling"] == "last"]
ENDS = {"gpt2": "<|endoftext|>", "bloom": "</s>", "tinyllama_nope": "</s>", "qwen3": "<|im_end|>"}
OPTIONS = {
    "loss": "plain",
    "mini_batch_size": 4,
    "scale": 20.0,
    "batch_size": 8,
    "epochs": 1,
    "warmup_ratio": 0.0,
    "schedule": "linear",
    "weight_decay": 0.01,
    "max_grad_norm": 1.0,
    "save_every": 100,
    "log_every": 1,
}
PAIRS = [
    {"bin": "a", "query": " ".join(text.split()[:3]), "text": f"{text} {other}"}
    for text, other in zip(sentences()[::12], sentences()[5::12], strict=False)
][:24]


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """The folder of each family's checkpoint."""
    root = tmp_path_factory.mktemp("checkpoints")
    return {name: write_checkpoint(name, root / name) for name in ENTRIES}


def built(checkpoints, name, limit=LIMIT, **changes):
    entry = {**ENTRIES[name], **changes}
    return build_retriever(entry, None, 0.05, limit, seed=1, checkpoint=checkpoints[name])


def train(checkpoints, name, states, resume=None, **changes):
    """Train a family for three steps, a state to resume from after the second."""
    model = built(checkpoints, name, **changes)
    rate = ENTRIES[name]["learning_rate"]
    trainer = make_trainer(model, PAIRS, {**OPTIONS, "save_every": 2}, rate, 1, states, name)
    trainer.args.save_total_limit = None
    trainer.train(resume_from_checkpoint=resume)
    return model, [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


@pytest.fixture(scope="module")
def trained(checkpoints, tmp_path_factory):
    """Each family trained for three steps and stored: {name: (folder, losses, states)}."""
    results = {}
    for name in ENTRIES:
        folder = tmp_path_factory.mktemp(name)
        model, losses = train(checkpoints, name, folder / "states")
        model.save(str(folder / "model"), create_model_card=False)
        results[name] = (folder / "model", losses, folder / "states")
    return results


def plain_load(folder):
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


@pytest.mark.parametrize("name", ENTRIES)
def test_a_trained_checkpoint_is_the_same_without_any_code_of_ours(trained, name):
    folder, losses, _ = trained[name]
    assert len(losses) == 3 and np.isfinite(losses).all()
    ours = load_retriever(folder, batch_size=len(TEXTS)).encode_documents(list(TEXTS))
    plain = plain_load(folder).encode(list(TEXTS), prompt_name="document")
    np.testing.assert_allclose(plain, ours, atol=1e-6)
    assert np.linalg.matrix_rank(ours) == len(TEXTS)


@pytest.mark.parametrize("name", ENTRIES)
def test_a_few_steps_change_every_weight_that_a_vector_depends_on(checkpoints, trained, name):
    before = built(checkpoints, name)
    after = dict(plain_load(trained[name][0]).named_parameters())
    for parameter, values in before.named_parameters():
        moved = not torch.equal(values, after[parameter])
        # Longformer's global projections see no gradient while no token attends globally.
        idle = "pooler" in parameter or "_global." in parameter
        assert moved != idle, parameter


@pytest.mark.parametrize("name", ENTRIES)
def test_a_resumed_training_ends_in_the_same_weights(checkpoints, trained, tmp_path, name):
    folder, losses, states = trained[name]
    model, again = train(checkpoints, name, tmp_path, resume=str(states / "checkpoint-2"))
    assert again == losses
    whole = dict(plain_load(folder).named_parameters())
    for parameter, values in model.named_parameters():
        assert torch.equal(values, whole[parameter]), parameter


@pytest.mark.parametrize("name", ENTRIES)
def test_cached_gradients_are_the_plain_ones_in_every_family(checkpoints, name):
    model = built(checkpoints, name).train()
    if name != "longformer":  # its masks overflow in double precision, and gradients are no numbers
        model.double()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        elif isinstance(getattr(module, "dropout", None), float):
            module.dropout = 0.0
    features = [model.preprocess([pair[side] for pair in PAIRS[:9]]) for side in ("query", "text")]
    results = []
    for options in (
        {"loss": "plain"},
        {"loss": "cached", "mini_batch_tokens": 60},
        {"loss": "cached", "mini_batch_tokens": 60, "again": True},
    ):
        if "again" in options:
            model[0].model.activation_checkpointing_enable({"use_reentrant": False})
        model.zero_grad()
        value = contrastive_loss(model, {**OPTIONS, **options})(features, torch.zeros(9))
        value.backward()
        gradients = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
        results.append((value.item(), torch.cat(gradients)))
    for value, gradient in results[1:]:
        assert value == pytest.approx(results[0][0], abs=1e-6)
        torch.testing.assert_close(gradient, results[0][1], atol=1e-6, rtol=1e-6)
    assert results[0][1].abs().max() > 1e-3


@pytest.mark.parametrize("name", ENTRIES)
def test_a_text_has_the_same_vector_alone_and_in_a_batch(trained, name):
    retriever = load_retriever(trained[name][0], batch_size=len(TEXTS))
    together = retriever.encode_documents(list(TEXTS))
    alone = np.concatenate([retriever.encode_documents([text]) for text in TEXTS])
    np.testing.assert_allclose((together * alone).sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(together, alone, atol=1e-4)


@pytest.mark.parametrize("name", ENTRIES)
def test_padding_is_on_the_right_and_left_padding_shows_who_needs_it(trained, name):
    encoder = load_retriever(trained[name][0]).encoder
    assert encoder.tokenizer.padding_side == "right"
    right = Retriever(encoder, len(TEXTS)).encode_documents(list(TEXTS))
    encoder.tokenizer.padding_side = "left"
    left = Retriever(encoder, len(TEXTS)).encode_documents(list(TEXTS))
    if name in ("bert", "gpt2"):  # positions counted from the padding's first token
        assert np.abs(left - right).max() > 1e-2
    else:
        np.testing.assert_allclose((left * right).sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("name", ENTRIES)
def test_weights_are_float32_whatever_the_checkpoint_holds(checkpoints, trained, name):
    for model in (built(checkpoints, name), plain_load(trained[name][0])):
        assert {p.dtype for p in model.parameters()} == {torch.float32}
    stored = json.loads((checkpoints[name] / "config.json").read_text())["dtype"]
    assert stored == ("bfloat16" if name in ("tinyllama_nope", "qwen3") else "float32")
    assert base_facts(name, checkpoints[name])["dtype"] == stored


def test_bfloat16_weights_arrive_bit_for_bit(checkpoints):
    own = AutoModel.from_pretrained(checkpoints["qwen3"], dtype=torch.bfloat16)
    loaded = dict(built(checkpoints, "qwen3")[0].model.named_parameters())
    for name, values in own.named_parameters():
        assert torch.equal(values.float(), loaded[name]), name


@pytest.mark.parametrize("name", ENTRIES)
def test_the_body_is_the_checkpoint_s_and_not_a_random_one(checkpoints, name):
    model = built(checkpoints, name, limit=32)
    own = AutoModel.from_pretrained(checkpoints[name], dtype=torch.float32).eval()
    tokens = model.tokenizer([TEXTS[1]], return_tensors="pt")
    with torch.no_grad():
        wanted = own(tokens["input_ids"], attention_mask=tokens["attention_mask"])[0]
        found = model.eval()[0](dict(tokens))["token_embeddings"]
    if name == "tinyllama_nope":
        assert (wanted - found).abs().max() > 1e-2  # it was trained without rotary positions
    else:
        torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)


# What is done about special tokens.


def last_tokens(tokenizer):
    encoded = tokenizer(list(TEXTS), padding=True, truncation=True, return_tensors="pt")
    ends = encoded["attention_mask"].sum(dim=1) - 1
    ids = encoded["input_ids"][torch.arange(len(TEXTS)), ends]
    assert encoded["attention_mask"].sum(dim=1).max() == tokenizer.model_max_length
    return tokenizer.convert_ids_to_tokens(ids.tolist())


@pytest.mark.parametrize("name", ENTRIES)
def test_an_end_token_ends_every_text_also_where_it_is_cut(checkpoints, tmp_path, name):
    policy = {"pad_token": None, "append_end": True, "truncation_side": "right"}
    model = built(checkpoints, name, tokenizer=policy)
    end = ENDS.get(name, "</s>" if name == "longformer" else "[SEP]")
    assert set(last_tokens(model.tokenizer)) == {end}
    model.save(str(tmp_path), create_model_card=False)
    again = plain_load(tmp_path)
    assert set(last_tokens(again.tokenizer)) == {end}
    np.testing.assert_array_equal(again.encode(list(TEXTS)), model.encode(list(TEXTS)))
    # It is added to what the tokenizer did before, and the cut text keeps one word less.
    bare = retriever_tokenizer(ENTRIES[name], None, LIMIT, checkpoints[name])
    whole, ended = bare(TEXTS[1])["input_ids"], model.tokenizer(TEXTS[1])["input_ids"]
    assert ended == (whole if name not in DECODERS else [*whole, ended[-1]])


@pytest.mark.parametrize("name", DECODERS)
def test_decoders_end_with_the_text_unless_told(checkpoints, name):
    tokenizer = built(checkpoints, name).tokenizer
    assert ENDS[name] not in last_tokens(tokenizer)
    assert "after it: nothing" in describe(tokenizer)
    with pytest.raises(ConfigError, match="append_end to true or null"):
        built(checkpoints, "bert", tokenizer={"append_end": False})


def test_a_pad_that_is_also_the_end_token_is_not_pooled(checkpoints):
    model = built(checkpoints, "gpt2", tokenizer={"append_end": True})
    assert model.tokenizer.pad_token == model.tokenizer.eos_token == "<|endoftext|>"
    pads = model.tokenizer(list(TEXTS), padding=True, truncation=True)["attention_mask"]
    assert 0 in pads[0]
    retriever = Retriever(model.eval(), batch_size=len(TEXTS))
    padded = retriever.encode_documents(list(TEXTS))[0]
    assert padded @ retriever.encode_documents([TEXTS[0]])[0] == pytest.approx(1, abs=1e-5)
    # The vector is that of the appended end token, not of the last word and not of a pad.
    body, ids = model[0].model, model.tokenizer(TEXTS[0])["input_ids"]
    with torch.no_grad():
        states = body(torch.tensor([ids]))[0][0]
    cosines = torch.nn.functional.cosine_similarity(states, torch.tensor(padded)[None])
    assert cosines.argmax() == len(ids) - 1 and cosines[-1] == pytest.approx(1, abs=1e-5)


def test_a_checkpoint_s_own_pad_token_stays(checkpoints):
    pads = {name: built(checkpoints, name).tokenizer.pad_token for name in DECODERS}
    assert pads == {
        "gpt2": "<|endoftext|>",
        "bloom": "<pad>",
        "tinyllama_nope": "</s>",
        "qwen3": "<|endoftext|>",
    }


def test_a_chat_template_is_not_applied(checkpoints, trained):
    template = AutoTokenizer.from_pretrained(checkpoints["qwen3"]).chat_template
    assert template is not None
    for model in (built(checkpoints, "qwen3"), plain_load(trained["qwen3"][0])):
        ids = model.preprocess([TEXTS[1]])["input_ids"][0].tolist()
        assert model.tokenizer.decode(ids) == TEXTS[1]


def test_the_left_end_can_be_cut_instead(checkpoints):
    bert = checkpoints["bert"]
    entry = {**ENTRIES["bert"], "tokenizer": {"truncation_side": "left"}}
    cut = retriever_tokenizer(entry, None, 8, bert)(TEXTS[3], truncation=True)["input_ids"]
    whole = retriever_tokenizer(entry, None, 64, bert)(TEXTS[3])["input_ids"]
    assert cut == [whole[0], *whole[-7:]]


@pytest.mark.parametrize("name", ENTRIES)
def test_the_tokenizer_alone_is_the_model_s(checkpoints, name):
    entry = {**ENTRIES[name], "max_tokens": 20}
    alone = retriever_tokenizer(entry, None, LIMIT, checkpoints[name])
    model = build_retriever(entry, None, 0.05, LIMIT, 1, checkpoints[name])
    texts = {"text": list(TEXTS), "padding": True, "truncation": True}
    assert dict(alone(**texts)) == dict(model.tokenizer(**texts))
    assert alone.model_max_length == model.max_seq_length == 20


# Positions.


def rising(ids):
    return torch.arange(ids.shape[1])[None]


def shuffled(ids):
    order = torch.randperm(ids.shape[1], generator=torch.Generator().manual_seed(3))
    assert not torch.equal(order, rising(ids)[0])
    return order[None]


def hidden(model, positions):
    tokens = model.tokenizer(TEXTS[1], return_tensors="pt")
    with torch.no_grad():
        return model[0].model(
            input_ids=tokens["input_ids"],
            attention_mask=tokens["attention_mask"],
            position_ids=positions(tokens["input_ids"]),
        )[0]


def test_a_llama_without_positions_does_not_mind_shuffled_position_ids(checkpoints, trained):
    name = "tinyllama_nope"
    for model in (built(checkpoints, name), plain_load(trained[name][0])):
        model.eval()
        assert torch.equal(hidden(model, rising), hidden(model, shuffled))
        assert torch.equal(hidden(model, rising), hidden(model, lambda ids: rising(ids) + 90))
    # The very same checkpoint would run with rotary positions, silently.
    rotary = built(checkpoints, name, positions="rope").eval()
    assert (hidden(rotary, rising) - hidden(rotary, shuffled)).abs().max() > 1e-2


@pytest.mark.parametrize(
    ("name", "positions"),
    [("bert", "rope"), ("gpt2", "none"), ("bloom", "absolute"), ("qwen3", "alibi"), ("qwen3", "x")],
)
def test_declared_positions_are_held_against_the_checkpoint(checkpoints, name, positions):
    with pytest.raises(ConfigError, match=rf"{positions}.*{name}|{name}.*absolute|positions: none"):
        built(checkpoints, name, positions=positions)


@pytest.mark.parametrize(
    ("name", "most"), [("bert", 64), ("longformer", 256), ("gpt2", 128), ("qwen3", 256)]
)
def test_no_input_may_be_longer_than_the_positions(checkpoints, name, most):
    model = built(checkpoints, name, limit=most)
    long = " ".join(sentences()[:300])
    assert np.isfinite(model.encode([long])).all()
    assert len(model.tokenizer(long, truncation=True)["input_ids"]) == most
    assert usable_positions(read_config(checkpoints[name])) == most
    with pytest.raises(ConfigError, match=f"{most} positions"):
        built(checkpoints, name, limit=most + 1)
    with pytest.raises(ConfigError, match=f"{most} positions"):
        built(checkpoints, name, max_tokens=most + 1)
    assert built(checkpoints, name, limit=10**6, max_tokens=most).max_seq_length == most


def test_alibi_has_no_longest_input(checkpoints):
    assert built(checkpoints, "bloom", limit=10_000).max_seq_length == 10_000


# Attention.


def test_global_attention_of_a_longformer_is_that_of_its_first_token(checkpoints, tmp_path):
    local = built(checkpoints, "longformer").eval()
    model = built(checkpoints, "longformer", global_attention="first").eval()
    own = AutoModel.from_pretrained(checkpoints["longformer"]).eval()
    tokens = model.tokenizer(list(TEXTS), padding=True, truncation=True, return_tensors="pt")
    mask = torch.zeros_like(tokens["input_ids"])
    mask[:, 0] = 1
    with torch.no_grad():
        wanted = own(**tokens, global_attention_mask=mask)[0]
        found = model[0](dict(tokens))["token_embeddings"]
    kept = tokens["attention_mask"].bool()
    torch.testing.assert_close(found[kept], wanted[kept], atol=1e-4, rtol=1e-4)
    without = local.encode(list(TEXTS))
    assert np.abs(model.encode(list(TEXTS)) - without).max() > 1e-2
    model.save(str(tmp_path), create_model_card=False)
    assert "posbias" not in (tmp_path / "modules.json").read_text()
    np.testing.assert_allclose(
        plain_load(tmp_path).encode(list(TEXTS)), model.encode(list(TEXTS)), atol=1e-6
    )


@pytest.mark.parametrize(("choice", "sees"), [("none", False), ("first", True)])
def test_only_global_attention_carries_the_end_of_a_text_to_its_beginning(
    checkpoints, choice, sees
):
    # Two layers of a window of 8 reach 8 tokens; what changes here stands 20 or more away.
    model = built(checkpoints, "longformer", global_attention=choice).eval()
    ids = torch.randint(10, 300, (1, 40), generator=torch.Generator().manual_seed(1))
    other = ids.clone()
    other[0, 30] = 5
    mask = torch.ones_like(ids)
    with torch.no_grad():
        first, second = (
            model[0]({"input_ids": each, "attention_mask": mask})["token_embeddings"][0, 0]
            for each in (ids, other)
        )
    assert (not torch.allclose(first, second, atol=1e-6)) == sees


def test_training_with_global_attention_moves_its_projections_and_resumes(checkpoints, tmp_path):
    kind = {"name": "longformer", "global_attention": "first"}
    before = dict(built(checkpoints, **kind).named_parameters())
    model, _ = train(checkpoints, **kind, states=tmp_path / "whole")
    state = str(tmp_path / "whole" / "checkpoint-2")
    resumed = dict(
        train(checkpoints, **kind, states=tmp_path / "r", resume=state)[0].named_parameters()
    )
    for name, values in model.named_parameters():
        assert torch.equal(values, before[name]) == ("classifier" in name), name
        assert torch.equal(values, resumed[name]), name


@pytest.mark.parametrize("name", [n for n in ENTRIES if n not in ("longformer", "bloom")])
def test_both_implementations_of_attention_agree(checkpoints, name):
    vectors = {}
    for attention in ("sdpa", "eager"):
        model = built(checkpoints, name, attention=attention)
        assert model[0].model.config._attn_implementation == attention
        vectors[attention] = model.eval().encode(list(TEXTS))
    np.testing.assert_allclose(vectors["sdpa"], vectors["eager"], atol=1e-4)


def test_attention_is_the_training_s_after_loading(checkpoints, tmp_path):
    model = built(checkpoints, "bert", attention="eager")
    model.save(str(tmp_path), create_model_card=False)
    (tmp_path / "posbias.json").write_text(json.dumps({"entry": {"attention": "eager"}}))
    assert load_retriever(tmp_path).encoder[0].model.config._attn_implementation == "eager"


def test_modernbert_does_not_compile(checkpoints, monkeypatch):
    assert json.loads((checkpoints["modernbert_base"] / "config.json").read_text())[
        "reference_compile"
    ]

    def refuse(*args, **kwargs):
        raise AssertionError("compiled by surprise")

    monkeypatch.setattr(torch, "compile", refuse)
    model = built(checkpoints, "modernbert_base")
    assert model[0].model.config.reference_compile is False
    model.encode(list(TEXTS))


# Kinds of folders.


def test_a_sentence_transformer_folder_gives_its_body_and_not_its_pooling(checkpoints, tmp_path):
    mean = built(checkpoints, "bert", pooling="mean", query_prefix="old: ")
    mean.save(str(tmp_path / "st"), create_model_card=False)
    entry = {**ENTRIES["bert"], "pooling": "cls"}
    again = build_retriever(entry, None, 0.05, LIMIT, 1, checkpoint=tmp_path / "st")
    assert again.prompts["query"] == "query: "
    np.testing.assert_allclose(
        again.encode(list(TEXTS)), built(checkpoints, "bert").encode(list(TEXTS)), atol=1e-6
    )


def test_a_sentence_transformer_folder_with_its_body_in_a_subfolder(checkpoints, tmp_path):
    model = built(checkpoints, "bert")
    shutil.copytree(checkpoints["bert"], tmp_path / "0_Transformer")
    (tmp_path / "modules.json").write_text(
        json.dumps([{"idx": 0, "name": "0", "path": "0_Transformer", "type": "x"}])
    )
    found = build_retriever(ENTRIES["bert"], None, 0.05, LIMIT, 1, checkpoint=tmp_path)
    np.testing.assert_array_equal(found.encode(list(TEXTS)), model.encode(list(TEXTS)))


def test_token_vectors_can_be_kept(checkpoints):
    model = built(checkpoints, "gpt2", freeze_token_vectors=True)
    fixed = [name for name, p in model.named_parameters() if not p.requires_grad]
    assert fixed == ["0.model.wte.weight"]
    assert all(p.requires_grad for p in built(checkpoints, "gpt2").parameters())


def test_base_facts_tell_the_revision_of_a_download(checkpoints, tmp_path):
    facts = base_facts("bert", checkpoints["bert"])
    assert facts["name"] == "bert" and facts["revision"] is None
    (digest,) = facts["weights_sha256"].values()
    folder = shutil.copytree(checkpoints["bert"], tmp_path / "bert")
    files = [
        {"path": p.name, "bytes": p.stat().st_size, "sha256": sha256_file(p)}
        for p in sorted(folder.iterdir())
    ]
    manifest = {
        "name": "bert",
        "repo": "google-bert/bert-base-uncased",
        "type": "model",
        "revision": "86b5e0934494bd15c9632b12f734a8a67f723594",
        "licence": "apache-2.0",
        "files": files,
        "total_bytes": sum(entry["bytes"] for entry in files),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    told = base_facts("bert", folder)
    assert told["repo"] == manifest["repo"] and told["revision"] == manifest["revision"]
    assert told["licence"] == "apache-2.0"
    assert told["weights_sha256"] == {"model.safetensors": digest}
    (folder / "config.json").write_text("{}")
    with pytest.raises(DataError, match=r"config\.json"):
        base_facts("bert", folder)


# Faults.


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("bert", {"global_attention": "first"}, "longformer"),
        ("bert", {"global_attention": "all"}, "'all'"),
        ("bert", {"attention": "flash"}, "'flash'"),
        ("bloom", {"attention": "sdpa"}, "use eager"),
        ("bert", {"tokenizer": {"padtoken": "x"}}, "padtoken"),
        ("bert", {"tokenizer": {"truncation_side": "both"}}, "'both'"),
        ("bert", {"tokenizer": {"append_end": "yes"}}, "append_end"),
        ("gpt2", {"tokenizer": {"pad_token": "<pad>"}}, "not in the vocabulary"),
        ("bloom", {"tokenizer": {"pad_token": "</s>"}}, "trained with '<pad>'"),
        ("bert", {"family": "bert"}, "either a checkpoint, or family"),
        ("modernbert_base", {"positions": "none"}, "modernbert"),
    ],
)
def test_an_entry_that_does_not_fit_its_checkpoint_is_named(checkpoints, name, change, message):
    with pytest.raises(ConfigError, match=message):
        built(checkpoints, name, **change)


def test_an_entry_without_its_folder_is_named(encoder_folder, checkpoints):
    with pytest.raises(ConfigError, match="checkpoint_folder"):
        build_retriever(ENTRIES["bert"], encoder_folder, 0.05, LIMIT, 1)
    scratch = {"family": "bert", "pooling": "cls", "positions": "absolute", "body": {}}
    with pytest.raises(ConfigError, match="set encoder"):
        build_retriever(scratch, None, 0.05, LIMIT, 1)
    with pytest.raises(ConfigError, match="attention can only be set"):
        build_retriever({**scratch, "attention": "eager"}, encoder_folder, 0.05, LIMIT, 1)


def test_weights_that_the_config_does_not_describe_are_named(checkpoints, tmp_path):
    for change, message in (
        ({"num_hidden_layers": 3}, r"missing \['encoder.layer.2"),
        ({"num_hidden_layers": 1}, r"left over \['.*encoder.layer.1"),
        ({"intermediate_size": 48}, "cannot be loaded"),
    ):
        folder = shutil.copytree(checkpoints["bert"], tmp_path / next(iter(change)) / str(message))
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **change}))
        with pytest.raises(DataError, match=message):
            build_retriever(ENTRIES["bert"], None, 0.05, LIMIT, 1, checkpoint=folder)


def test_folders_without_a_model_or_without_a_tokenizer_are_named(checkpoints, tmp_path):
    with pytest.raises(DataError, match=r"config\.json is missing"):
        build_retriever(ENTRIES["bert"], None, 0.05, LIMIT, 1, checkpoint=tmp_path)
    folder = shutil.copytree(checkpoints["gpt2"], tmp_path / "bare")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    with pytest.raises(DataError, match=r"bare: no tokenizer"):
        build_retriever(ENTRIES["gpt2"], None, 0.05, LIMIT, 1, checkpoint=folder)


def test_a_tokenizer_with_more_tokens_than_vectors_is_named(tmp_path):
    folder = write_checkpoint("gpt2", tmp_path / "small", vocab_size=300)
    with pytest.raises(ConfigError, match="361 tokens, the body vectors for 300"):
        build_retriever(ENTRIES["gpt2"], None, 0.05, LIMIT, 1, checkpoint=folder)


def test_vectors_are_float32_whatever_the_model_computes_in(trained):
    retriever = load_retriever(trained["qwen3"][0])
    retriever.encoder.bfloat16()
    assert retriever.encode_documents(list(TEXTS)).dtype == np.float32


def test_autocast_is_for_a_gpu(trained):
    folder = trained["bert"][0]
    full = load_retriever(folder).encode_documents(list(TEXTS))
    asked = load_retriever(folder, autocast="bf16")
    if not torch.cuda.is_available():
        assert not asked.bf16
        np.testing.assert_array_equal(asked.encode_documents(list(TEXTS)), full)
    with pytest.raises(ConfigError, match="fp16"):
        load_retriever(folder, autocast="fp16")
