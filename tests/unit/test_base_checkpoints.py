"""Checkpoints that a training starts from: no code of theirs runs, no change passes unseen."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from family_checkpoints import ENTRIES, write_checkpoint
from posbias.errors import ConfigError, DataError
from posbias.files import content_hash
from posbias.listwise.model_folder import read_causal_lm
from posbias.models import bodies, pretrained
from posbias.models.bodies import load_tokenizer
from posbias.models.pretrained import base_facts
from posbias.models.retriever import build_retriever, retriever_tokenizer
from test_encoder import bring_code, change_json, change_weights, nobody  # noqa: F401

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("checkpoints")
    return {name: write_checkpoint(name, root / name) for name in ("bert", "gpt2", "qwen3")}


@pytest.fixture
def bert(checkpoints, tmp_path) -> Path:
    """A copy of a checkpoint, to be changed."""
    return shutil.copytree(checkpoints["bert"], tmp_path / "bert")


def build(folder: Path, name: str = "bert", max_tokens: int = 48, **changes):
    return build_retriever({**ENTRIES[name], **changes}, None, 0.05, max_tokens, 1, folder)


def cut(folder: Path, name: str = "bert", max_tokens: int = 48, **changes):
    return retriever_tokenizer({**ENTRIES[name], **changes}, None, max_tokens, folder)


# Code of a checkpoint's own.


@pytest.mark.parametrize("load", [build, cut])
@pytest.mark.parametrize("where", ["config", "known config", "tokenizer", "elsewhere"])
def test_code_of_a_checkpoint_s_own_does_not_run_and_is_told_of(bert, tmp_path, where, load):
    bring_code(bert, where, tmp_path / "flag")
    with pytest.raises(ConfigError, match=r"bert brings its own code \(.*\); it is not run here"):
        load(bert)
    assert not (tmp_path / "flag").exists()


@pytest.mark.parametrize("load", [build, cut])
@pytest.mark.parametrize("where", ["config", "tokenizer"])
def test_the_libraries_are_told_not_to_run_it(bert, tmp_path, where, load, monkeypatch):
    monkeypatch.setattr(pretrained, "refuse_own_code", lambda *_: None)  # as if nobody had looked
    bring_code(bert, where, tmp_path / "flag")
    if where == "tokenizer":  # a class of the library's stands in, which knows no special tokens
        with pytest.raises(ConfigError, match="no end token"):
            load(bert)
    else:
        with pytest.raises(DataError, match=r"(?s)cannot be loaded .*trust_remote_code"):
            load(bert)
    assert not (tmp_path / "flag").exists()


def test_classes_for_other_uses_do_not_matter(bert, tmp_path):
    bring_code(bert, "config", tmp_path / "flag")
    mapped = {"AutoModelForQuestionAnswering": "evil.M"}
    change_json(bert / "config.json", model_type="bert", auto_map=mapped)
    assert build(bert).encode(["a"]).shape == (1, 32)
    assert not (tmp_path / "flag").exists()


@pytest.mark.parametrize("looked", [True, False])
def test_a_tokenizer_for_weights_from_scratch_runs_no_code(bert, tmp_path, monkeypatch, looked):
    bring_code(bert, "tokenizer", tmp_path / "flag")
    if looked:
        with pytest.raises(ConfigError, match="brings its own code"):
            load_tokenizer(bert)
    else:
        monkeypatch.setattr(bodies, "refuse_own_code", lambda *_: None)
        load_tokenizer(bert)
    assert not (tmp_path / "flag").exists()


def test_a_causal_language_model_runs_no_code(checkpoints, tmp_path, monkeypatch):
    folder = shutil.copytree(checkpoints["qwen3"], tmp_path / "lm")
    bring_code(folder, "config", tmp_path / "flag")
    with pytest.raises(ConfigError, match=r"lm brings its own code \(.*AutoConfig"):
        read_causal_lm(folder, torch.float32)
    monkeypatch.setattr("posbias.listwise.model_folder.refuse_own_code", lambda *_: None)
    with pytest.raises(DataError, match=r"(?s)cannot be loaded .*trust_remote_code"):
        read_causal_lm(folder, torch.float32)
    assert not (tmp_path / "flag").exists()


# What a training says that it started from.


def edit_tokenizer(folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["normalizer"]["lowercase"] = not tokenizer["normalizer"]["lowercase"]
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


CHANGES = {
    "config.json": lambda folder: change_json(folder / "config.json", layer_norm_eps=1e-3),
    "tokenizer.json": edit_tokenizer,
    "tokenizer_config.json": lambda f: change_json(f / "tokenizer_config.json", pad_token="[SEP]"),
    "sentence_bert_config.json": lambda folder: change_json(
        folder / "sentence_bert_config.json", do_lower_case=True
    ),
    "vocab.txt": lambda folder: (folder / "vocab.txt").write_text("[PAD]\n"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_config_or_tokenizer_is_another_start(bert, name):
    before = content_hash(base_facts("bert", bert))
    assert content_hash(base_facts("bert", bert)) == before
    CHANGES[name](bert)
    facts = base_facts("bert", bert)
    assert content_hash(facts) != before
    assert facts["files_sha256"][name] == hashlib.sha256((bert / name).read_bytes()).hexdigest()


def test_the_modules_of_an_encoder_are_part_of_the_start(bert, tmp_path):
    build(bert).save(str(tmp_path / "st"), create_model_card=False)
    before = base_facts("st", tmp_path / "st")
    assert {"modules.json", "sentence_bert_config.json"} <= before["files_sha256"].keys()
    modules = json.loads((tmp_path / "st" / "modules.json").read_text())
    (tmp_path / "st" / "modules.json").write_text(json.dumps(modules[:1]))
    assert base_facts("st", tmp_path / "st") != before


def pin(folder: Path) -> Path:
    """Write the list of a download."""
    files = [
        {"path": path.name, "bytes": path.stat().st_size,
         "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in sorted(folder.iterdir())
    ]  # fmt: skip
    manifest = {"name": folder.name, "repo": "owner/bert", "type": "model", "revision": COMMIT,
                "licence": None, "files": files, "total_bytes": 0}  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def flip(path: Path, at: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[at] ^= 1
    path.write_bytes(bytes(raw))


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_download_that_was_changed_in_one_bit_is_named(bert, name):
    pin(bert)
    base_facts("bert", bert)
    flip(bert / name, -1 if name == "model.safetensors" else 5)
    with pytest.raises(
        DataError, match=rf"bert/{name}: corrupted, SHA-256 .*Delete .*bert and run"
    ):
        base_facts("bert", bert)


def test_weights_that_did_not_come_with_the_download_are_named(bert):
    pin(bert)
    shutil.copy(bert / "model.safetensors", bert / "pytorch_model.bin")
    with pytest.raises(DataError, match=r"pytorch_model\.bin: not in manifest\.json"):
        base_facts("bert", bert)


# Numbers, and room for text.


def test_a_weight_that_is_no_number_is_named_before_the_training(checkpoints, tmp_path):
    folder = shutil.copytree(checkpoints["gpt2"], tmp_path / "gpt2")
    name = next(n for n in load_file(folder / "model.safetensors") if n.endswith("0.mlp.c_fc.bias"))
    change_weights(folder, lambda weights: weights[name][:1].fill_(float("nan")))
    with pytest.raises(DataError, match=r"gpt2: h\.0\.mlp\.c_fc\.bias holds values"):
        build(folder, "gpt2")


@pytest.mark.parametrize("load", [build, cut])
@pytest.mark.parametrize(
    ("name", "policy", "special"),
    [("bert", {}, 2), ("gpt2", {"append_end": True}, 1), ("gpt2", {}, 0)],
)
def test_an_input_must_hold_more_than_special_tokens(checkpoints, name, policy, special, load):
    def longest(tokens):
        return load(checkpoints[name], name, tokens, tokenizer=policy)

    for tokens in {special, 0}:
        message = rf"max_tokens is {tokens}, which leaves no room .* {special} special"
        with pytest.raises(ConfigError, match=message):
            longest(tokens)
    found = longest(special + 1)
    tokenizer = getattr(found, "tokenizer", found)
    assert len(tokenizer("the old city", truncation=True)["input_ids"]) == special + 1


def test_weights_from_scratch_need_room_as_well(encoder_folder):
    body = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
            "intermediate_size": 16}  # fmt: skip
    entry = {"family": "bert", "body": body, "positions": "absolute", "pooling": "mean",
             "query_prefix": ""}  # fmt: skip
    for load in (
        lambda: build_retriever(entry, encoder_folder, 0.05, 2, 1),
        lambda: retriever_tokenizer(entry, encoder_folder, 2),
    ):
        with pytest.raises(ConfigError, match="max_tokens is 2, which leaves no room"):
            load()
