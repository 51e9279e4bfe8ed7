"""Training: the loss, the batches, and what an interruption leaves."""

import json
import logging
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import yaml
from sentence_transformers.base.losses.gradcache import _minibatch_ranges
from transformers import TrainingArguments

import train_retriever
from family_checkpoints import ENTRIES, write_checkpoint
from posbias.errors import ConfigError, DataError, DivergedError
from posbias.models.checkpoints import checked_settings
from posbias.models.retriever import build_retriever, load_retriever
from posbias.training.contrastive import (
    bin_datasets,
    contrastive_loss,
    exact_cosines,
    make_trainer,
    pairs_left_out,
)
from posbias.training.resumption import check_finite, last_state, seal_state

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
ENTRY = CONFIG["retrievers"]["known"]["bert"]
STD = CONFIG["retrievers"]["token_vectors_std"]
OPTIONS = {**CONFIG["training"], "batch_size": 8, "epochs": 2, "save_every": 3, "log_every": 1}
WORDS = ["alchemy", "algae", "anarchism", "autism", "aardvark", "abacus", "acid", "asteroid"]


def some_pairs(n=48):
    """Pairs of two bins; every document has two queries."""
    pairs = []
    for i in range(n):
        doc = i // 2
        topic = f"{WORDS[doc % 8]} {WORDS[doc // 8 % 8]} number {doc}"
        pairs.append(
            {
                "query_id": f"q{i}",
                "doc_id": f"d{doc}",
                "bin": "a" if doc % 2 else "b",
                "position": "begin",
                "query": f"{topic} {i % 2}",
                "text": f"{topic}: a text about it, with {i % 2 == 0} things.",
                "answer_start": 0,
                "answer_end": 10,
            }
        )
        pairs[-1]["text"] = pairs[-1 - i % 2]["text"]
    return pairs


@pytest.fixture
def model(encoder_folder):
    return build_retriever(ENTRY, encoder_folder, STD, max_tokens=64, seed=3)


def loss_and_gradient(model, loss, pairs):
    features = [model.preprocess([pair[field] for pair in pairs]) for field in ("query", "text")]
    model.zero_grad()
    value = loss(features, torch.zeros(len(pairs)))
    value.backward()
    gradient = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
    return value.item(), gradient.clone()


@pytest.mark.parametrize(
    "changes",
    [
        {"mini_batch_size": 5},
        {"mini_batch_size": 5, "mini_batch_tokens": 40},
        {"mini_batch_size": 5, "mini_batch_tokens": 1},  # each text by itself
        {"mini_batch_size": 64, "mini_batch_tokens": 10_000},
    ],
)
@pytest.mark.parametrize("recompute", [False, True])
def test_cached_loss_equals_plain_loss_and_gradient(model, changes, recompute):
    model.double()  # so that the order of sums does not matter
    pairs = some_pairs()[::2][:12]
    plain = contrastive_loss(model, {**OPTIONS, "loss": "plain"})
    value, gradient = loss_and_gradient(model, plain, pairs)
    if recompute:
        model.train()
        model[0].model.activation_checkpointing_enable({"use_reentrant": False})
    cached = contrastive_loss(model, {**OPTIONS, "loss": "cached", **changes})
    cached_value, cached_gradient = loss_and_gradient(model, cached, pairs)
    assert cached_value == pytest.approx(value, abs=1e-9)
    torch.testing.assert_close(cached_gradient, gradient, atol=1e-6, rtol=1e-6)
    assert gradient.abs().max() > 1e-3


def test_cached_loss_replays_dropout(encoder_folder):
    body = {**ENTRY["body"], "hidden_dropout_prob": 0.3}
    model = build_retriever({**ENTRY, "body": body}, encoder_folder, STD, 64, seed=3).train()
    pairs = some_pairs()[::2][:12]
    plain = contrastive_loss(model, {**OPTIONS, "loss": "plain"})
    whole = contrastive_loss(model, {**OPTIONS, "loss": "cached", "mini_batch_size": 12})
    results = []
    for loss in (plain, whole):
        torch.manual_seed(1)
        results.append(loss_and_gradient(model, loss, pairs))
    assert results[0][0] == pytest.approx(results[1][0], abs=1e-5)
    torch.testing.assert_close(results[0][1], results[1][1], atol=1e-4, rtol=1e-3)


def test_what_a_token_budget_counts(model):
    # Its documentation leaves open what is counted: successive texts, without their padding.
    texts = ["the " * n for n in (1, 9, 1, 1, 30, 1)]
    features = model.preprocess(texts)
    lengths = features["attention_mask"].sum(dim=1).tolist()
    loss = contrastive_loss(model, {**OPTIONS, "loss": "cached", "mini_batch_tokens": 17})
    ranges = _minibatch_ranges(features, loss.mini_batch_size, loss.mini_batch_num_tokens)
    assert [i for begin, end in ranges for i in range(begin, end)] == list(range(6))
    sums = [sum(lengths[begin:end]) for begin, end in ranges]
    assert lengths == [3, 11, 3, 3, 32, 3] and ranges == [(0, 3), (3, 4), (4, 5), (5, 6)]
    assert all(
        total <= 17 or end == begin + 1 for total, (begin, end) in zip(sums, ranges, strict=True)
    )


def test_loss_of_equal_documents_is_the_logarithm_of_their_number(model):
    pairs = [{"query": f"word {i}", "text": "one and the same text"} for i in range(6)]
    value, _ = loss_and_gradient(model, contrastive_loss(model, OPTIONS), pairs)
    assert value == pytest.approx(math.log(6), abs=1e-4)


def test_an_unknown_loss_is_named(model):
    with pytest.raises(ConfigError, match="triplet"):
        contrastive_loss(model, {**OPTIONS, "loss": "triplet"})


def test_an_empty_training_set_is_an_error():
    with pytest.raises(DataError, match="empty"):
        bin_datasets([])


def test_batches_stay_in_one_bin_and_hold_no_document_twice(model, tmp_path):
    pairs = some_pairs()
    bin_of = {pair["text"]: pair["bin"] for pair in pairs}
    trainer = make_trainer(model, pairs, OPTIONS, 1e-3, 5, tmp_path, "t")
    seen = []
    loader = trainer.get_train_dataloader()
    for batch in loader.batch_sampler:
        texts = [loader.dataset[i]["positive"] for i in batch]
        assert len(set(texts)) == len(texts)
        assert len({bin_of[text] for text in texts}) == 1
        seen += texts
    assert len(seen) >= 0.8 * len(pairs)


class Recorder:
    """A collator that writes down the queries of each batch that a training is given."""

    def __init__(self, trainer):
        self.collate, self.batches = trainer.data_collator, []
        trainer.data_collator = self

    def __call__(self, features):
        self.batches.append([feature["anchor"] for feature in features])
        return self.collate(features)

    def __getattr__(self, name):
        return getattr(self.collate, name)


def recorded_training(model, pairs, states, resume=None, **changes):
    trainer = make_trainer(model, pairs, {**OPTIONS, **changes}, 1e-3, 5, states, "t")
    trainer.args.save_total_limit = None
    recorder = Recorder(trainer)
    trainer.train(resume_from_checkpoint=resume)
    return trainer, recorder.batches


def test_a_machine_that_shows_four_gpus_gives_batches_to_one(model, tmp_path, monkeypatch):
    shown = property(lambda arguments: arguments._n_gpu or 4)  # there are none here
    monkeypatch.setattr(TrainingArguments, "n_gpu", shown)
    plain = TrainingArguments(output_dir=tmp_path, per_device_train_batch_size=8)
    assert plain.train_batch_size == 4 * 8
    trainer = make_trainer(model, some_pairs(), OPTIONS, 1e-3, 5, tmp_path, "t")
    assert trainer.args.train_batch_size == OPTIONS["batch_size"]


def test_pairs_that_share_their_document_do_not_hang_a_training(model, tmp_path):
    # 10 pairs, 6 of one document: in batches of 4 at most one of them may stand, so that 6 batches
    # are needed, where the library counts with 3.
    pairs = [
        {"bin": "a", "query": f"query {i}", "text": "one text" if i < 6 else f"text {i}"}
        for i in range(10)
    ]
    trainer, batches = recorded_training(model, pairs, tmp_path, batch_size=4, epochs=2)
    assert trainer.state.global_step == 6 == len(batches)
    seen = [len({query for batch in batches[at : at + 3] for query in batch}) for at in (0, 3)]
    assert pairs_left_out(trainer) == [10 - count for count in seen]
    assert all(left > 0 for left in pairs_left_out(trainer))


def test_nothing_is_left_out_where_all_texts_differ(model, tmp_path):
    trainer = make_trainer(model, some_pairs()[::2], {**OPTIONS, "batch_size": 4}, 1e-3, 5,
                           tmp_path, "t")  # fmt: skip
    assert pairs_left_out(trainer) == [0, 0]


def test_a_training_resumed_at_step_seven_sees_the_same_pairs_as_an_unbroken_one(
    encoder_folder, tmp_path
):
    def run(states, resume=None):
        model = build_retriever(ENTRY, encoder_folder, STD, 64, seed=3)
        return recorded_training(model, some_pairs(), states, resume, save_every=7, epochs=3)

    trainer, whole = run(tmp_path / "whole")
    assert trainer.state.global_step > 14
    _, resumed = run(tmp_path / "resumed", str(tmp_path / "whole" / "checkpoint-7"))
    assert resumed[-len(whole[7:]) :] == whole[7:]
    assert len(whole[7:]) > 7 and whole[7:] != whole[: len(whole[7:])]


def test_autocast_has_no_effect_on_a_cpu_and_the_log_says_so(model, tmp_path, caplog):
    if torch.cuda.is_available():
        pytest.skip("a GPU computes in bfloat16 here")
    with caplog.at_level(logging.INFO):
        trainer = make_trainer(model, some_pairs(), {**OPTIONS, "autocast": "bf16"}, 1e-3, 5,
                               tmp_path, "t")  # fmt: skip
    assert "training.autocast has no effect without a GPU" in caplog.text
    assert not trainer.args.bf16
    with pytest.raises(ConfigError, match="fp16"):
        make_trainer(model, some_pairs(), {**OPTIONS, "autocast": "fp16"}, 1e-3, 5, tmp_path, "t")


@pytest.mark.parametrize("loss", ["plain", "cached"])
def test_cosines_keep_their_precision_inside_autocast(model, loss):
    pairs = some_pairs()[::2][:12]
    loss = contrastive_loss(model, {**OPTIONS, "loss": loss})
    vectors = torch.nn.functional.normalize(torch.randn(200, 64))
    exact = exact_cosines(vectors, vectors)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(exact_cosines(vectors, vectors), exact)
        assert exact_cosines(vectors.bfloat16(), vectors.bfloat16()).dtype == torch.float32
        features = [model.preprocess([p[field] for p in pairs]) for field in ("query", "text")]
        assert loss(features, torch.zeros(len(pairs))).dtype == torch.float32
    assert exact.unique().numel() > 15_000  # in bfloat16 a few thousand at most


def test_computing_layers_again_changes_nothing_but_the_memory(encoder_folder, tmp_path):
    weights = []
    for name, again in (("plain", False), ("again", True)):
        model = build_retriever(ENTRY, encoder_folder, STD, 64, seed=3)
        changes = {"gradient_checkpointing": again, "epochs": 1}
        recorded_training(model, some_pairs(16), tmp_path / name, **changes)
        assert model[0].model.is_activation_checkpointing == again
        weights.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
    torch.testing.assert_close(*weights, atol=1e-6, rtol=1e-5)


def a_state(folder, step):
    """Write a training state, sealed."""
    state = folder / f"checkpoint-{step}"
    state.mkdir(parents=True)
    for name in ("model.safetensors", "optimizer.pt", "scheduler.pt", "trainer_state.json"):
        (state / name).write_bytes(bytes(range(100)))
    seal_state(state)
    return state


def halve(path):
    path.write_bytes(path.read_bytes()[:50])


def blank(path):
    path.write_bytes(path.read_bytes()[:50] + bytes(50))


@pytest.mark.parametrize("damage", [Path.unlink, halve, blank], ids=["missing", "cut", "blank"])
@pytest.mark.parametrize("name", ["optimizer.pt", "model.safetensors", "posbias.json"])
def test_a_state_that_is_not_whole_is_passed_over_and_removed(tmp_path, caplog, damage, name):
    older, newer = a_state(tmp_path, 3), a_state(tmp_path, 12)
    (tmp_path / "checkpoint-best").mkdir()
    assert last_state(tmp_path) == newer
    damage(newer / name)
    assert last_state(tmp_path) == older
    assert not newer.exists() and "checkpoint-12" in caplog.text
    assert last_state(tmp_path / "nothing") is None


@pytest.mark.parametrize("seal", ["[]", "null", "3", "{}", '{"files": {}}', '{"files": []}'])
def test_a_seal_that_seals_nothing_is_none(tmp_path, seal):
    (a_state(tmp_path, 3) / "posbias.json").write_text(seal)
    (tmp_path / "checkpoint-4").write_text("no folder")
    assert last_state(tmp_path) is None


def test_every_state_of_a_training_is_sealed_and_the_newest_kept(model, tmp_path):
    recorded_training(model, some_pairs(), tmp_path / "all")
    states = sorted((tmp_path / "all").glob("checkpoint-*"))
    assert len(states) > 2 and all(checked_settings(state, {})["files"] for state in states)
    trainer = make_trainer(model, some_pairs(), OPTIONS, 1e-3, 5, tmp_path / "one", "t")
    trainer.train()
    (state,) = (tmp_path / "one").glob("checkpoint-*")
    assert last_state(tmp_path / "one") == state
    assert state.name == f"checkpoint-{trainer.state.global_step}"


@pytest.fixture
def training_command(encoder_folder, tmp_path):
    """Return a function that gives the command line of a real training into a named folder."""
    data = write_data(tmp_path, some_pairs(160))
    entry = {**ENTRY, "body": {**ENTRY["body"], "hidden_dropout_prob": 0.1}}

    def command(name, **changes):
        training = {**OPTIONS, "epochs": 3, **changes}
        return [
            sys.executable, str(ROOT / "workflow/scripts/train_retriever.py"),
            f"--pairs={data['pairs']}", f"--documents={data['documents']}",
            f"--encoder=[{encoder_folder}]", "--checkpoint_folder=[]",
            f"--checkpoint={tmp_path / name}",
            "--retriever=bert", "--setting=begin", f"--entry={json.dumps(entry)}",
            f"--token_vectors_std={STD}", f"--training={json.dumps(training)}", "--seed=7",
            f"--resume_dir={tmp_path / ('resume-' + name)}",
            '--scale={"name": "mini", "note": "a test"}',
        ]  # fmt: skip

    return command


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_a_training_killed_at_any_step_resumes_to_the_same_bytes(training_command, tmp_path):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    subprocess.run(training_command("whole"), check=True, env=environment, capture_output=True)
    for number, wanted in enumerate(("checkpoint-3", "checkpoint-33")):
        name = f"killed{number}"
        process = subprocess.Popen(
            training_command(name), env=environment, stderr=subprocess.DEVNULL
        )
        resume = tmp_path / f"resume-{name}"
        limit = time.monotonic() + 120
        reached = int(wanted.split("-")[1])
        while process.poll() is None and time.monotonic() < limit:
            states = [seal.parent.name for seal in resume.glob("*/checkpoint-*/posbias.json")]
            if any(int(state.split("-")[1]) >= reached for state in states):
                break
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (tmp_path / name).exists(), "the training ended before it could be killed"
        again = subprocess.run(
            training_command(name), check=True, env=environment, capture_output=True, text=True
        )
        assert "resuming from" in again.stderr
        assert contents(tmp_path / name) == contents(tmp_path / "whole")
        assert not resume.exists()


@pytest.mark.slow
def test_a_checkpoint_loads_tells_its_training_and_knows_its_data(training_command, tmp_path):
    subprocess.run(training_command("model", epochs=20), check=True, capture_output=True)
    settings = checked_settings(tmp_path / "model", {"retriever": "bert", "setting": "begin"})
    assert settings["setting"] == "begin" and settings["pairs"] == 160
    card = (tmp_path / "model" / "README.md").read_text()
    assert "BERT, trained on evidence at the beginning" in card and "160 pairs" in card
    retriever = load_retriever(tmp_path / "model")
    pairs = some_pairs(160)[::2]
    queries = retriever.encode_queries([pair["query"] for pair in pairs])
    documents = retriever.encode_documents([pair["text"] for pair in pairs])
    right = ((queries @ documents.T).argmax(axis=1) == range(len(pairs))).mean()
    assert right > 0.7


@pytest.mark.slow
def test_a_damaged_checkpoint_is_named_before_it_gives_numbers(training_command, tmp_path):
    subprocess.run(training_command("model", epochs=1), check=True, capture_output=True)
    folder = tmp_path / "model"
    with pytest.raises(DataError, match="bert, setting begin, not retriever gpt2"):
        checked_settings(folder, {"retriever": "gpt2", "setting": "begin"})
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"model\.safetensors: not the file .* delete the folder"):
        checked_settings(folder, {"retriever": "bert", "setting": "begin"})
    with pytest.raises(DataError, match="cannot be loaded"):
        load_retriever(folder)
    weights.unlink()
    with pytest.raises(DataError, match=r"model\.safetensors: missing"):
        checked_settings(folder, {"retriever": "bert", "setting": "begin"})


def write_data(folder, pairs, *more):
    """Write pairs and their documents as the steps before do; `more`: further documents' texts."""
    with (folder / "pairs.jsonl").open("w") as lines:
        for pair in pairs:
            lines.write(json.dumps({k: v for k, v in pair.items() if k != "text"}) + "\n")
    texts = {pair["doc_id"]: pair["text"] for pair in pairs}
    texts |= {f"other{number}": text for number, text in enumerate(more)}
    with (folder / "documents.jsonl").open("w") as lines:
        for doc_id, text in texts.items():
            lines.write(json.dumps({"doc_id": doc_id, "text": text}) + "\n")
    return {"pairs": folder / "pairs.jsonl", "documents": folder / "documents.jsonl"}


def train_here(data, folder, entry, training, **changes):
    """Run the script's main in this process."""
    arguments = {
        "encoder": [],
        "checkpoint_folder": [],
        "checkpoint": folder / "model",
        "retriever": "r",
        "setting": "begin",
        "token_vectors_std": STD,
        "seed": 7,
        "resume_dir": folder / "states",
        "scale": {"name": "mini", "note": "a test"},
    }
    train_retriever.main(**data, entry=entry, training=training, **{**arguments, **changes})


def test_a_training_that_leaves_the_numbers_is_told_and_not_saved(encoder_folder, tmp_path):
    data = write_data(tmp_path, some_pairs(160))
    wild = {**ENTRY, "learning_rate": 1e30}
    with pytest.raises(DivergedError, match=r"train r/begin.* learning_rate"):
        train_here(data, tmp_path, wild, {**OPTIONS, "epochs": 1}, encoder=[encoder_folder])
    assert not (tmp_path / "model").exists()


def test_weights_that_are_no_numbers_are_found(model):
    check_finite(model, "t", 1e-3)
    with torch.no_grad():
        next(p for p in model.parameters() if p.requires_grad)[0] = float("nan")
    with pytest.raises(DivergedError, match="lower its learning_rate"):
        check_finite(model, "t", 1e-3)


def test_queries_of_unknown_documents_are_named(training_command, tmp_path):
    (tmp_path / "documents.jsonl").write_text('{"doc_id": "d0", "text": "x"}\n')
    run = subprocess.run(training_command("bad"), capture_output=True, text=True)
    assert run.returncode == 1
    assert "d1" in run.stderr and "documents.jsonl" in run.stderr and "Traceback" not in run.stderr
    assert not (tmp_path / "bad").exists()


def test_a_training_that_starts_from_a_checkpoint_tells_where_it_comes_from(tmp_path):
    data = write_data(tmp_path, some_pairs(32), "a document that no query wants")
    folder = write_checkpoint("gpt2", tmp_path / "gpt2")
    entry = {**ENTRIES["gpt2"], "max_tokens": 24, "tokenizer": {"append_end": True}}
    training = {**OPTIONS, "epochs": 1, "loss": "cached", "mini_batch_tokens": 30}
    train_here(data, tmp_path, entry, training, checkpoint_folder=[folder], retriever="gpt2")
    settings = checked_settings(tmp_path / "model", {"retriever": "gpt2", "setting": "begin"})
    assert settings["base"]["name"] == "gpt2" and settings["base"]["dtype"] == "float32"
    assert settings["parameters"] == settings["trained_parameters"]
    assert settings["pairs_left_out"] == [0]
    card = (tmp_path / "model" / "README.md").read_text()
    assert "| body | gpt2, " in card and "| longest input | 24 tokens |" in card
    assert "starts from | gpt2, revision not told" in card
    assert "after it: <|endoftext|>; padding on the right with <|endoftext|>" in card
    assert "license: apache-2.0" not in card and "all-MiniLM" not in card
    assert load_retriever(tmp_path / "model").encoder.max_seq_length == 24


class Stopped(Exception):
    pass


def test_a_killed_training_does_not_go_on_with_another_tokenizer(tmp_path, monkeypatch):
    data = write_data(tmp_path, some_pairs(32))
    folder = write_checkpoint("gpt2", tmp_path / "gpt2")
    entry = {**ENTRIES["gpt2"], "max_tokens": 24}
    training = {**OPTIONS, "epochs": 2, "save_every": 1}
    found = []

    def stop(trainer, state, states):
        found.append(state)
        if state is None:
            trainer.args.max_steps = 1
            trainer.train()
        raise Stopped

    def train():
        with pytest.raises(Stopped):
            train_here(data, tmp_path, entry, training, checkpoint_folder=[folder])
        return found[-1]

    monkeypatch.setattr(train_retriever, "train_from", stop)
    assert train() is None
    assert train().name == "checkpoint-1"
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["pre_tokenizer"]["add_prefix_space"] ^= True
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert train() is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attention": "flash"}, r"^retrievers\.known\.r: attention 'flash' does not exist"),
        ({"positions": "rope"}, r"^retrievers\.known\.r: positions 'rope' declared"),
        ({"pooling": "sum"}, r"^retrievers\.known\.r: pooling 'sum' does not exist"),
        ({"tokenizer": {"side": "left"}}, r"^retrievers\.known\.r: tokenizer has no option side"),
        ({"max_tokens": 0}, r"^retrievers\.known\.r: max_tokens is 0, which leaves no room"),
        ({"max_tokens": 999}, r"^retrievers\.known\.r: max_tokens is 999, but a body"),
    ],
)
def test_a_wrong_entry_is_named_by_its_place_in_the_config(tmp_path, change, message):
    data = write_data(tmp_path, some_pairs(8))
    folder = write_checkpoint("gpt2", tmp_path / "gpt2")
    entry = {**ENTRIES["gpt2"], "max_tokens": 24, **change}
    with pytest.raises(ConfigError, match=message):
        train_here(data, tmp_path, entry, OPTIONS, checkpoint_folder=[folder])


@pytest.mark.slow
def test_fine_tuning_a_real_encoder_for_a_few_steps_lowers_its_loss(encoder_folder, tmp_path):
    entry = {
        "checkpoint": "minilm_l6",
        "positions": "absolute",
        "pooling": "mean",
        "query_prefix": "query: ",
    }
    pairs = some_pairs(256)[::2]
    options = {**OPTIONS, "batch_size": 16, "epochs": 3, "warmup_ratio": 0.0}
    model = build_retriever(entry, None, STD, 64, seed=3, checkpoint=encoder_folder)
    trainer = make_trainer(model, pairs, options, 5e-5, 5, tmp_path / "states", "t")
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert sum(losses[-4:]) < 0.7 * sum(losses[:4])
