"""Training: the loss, the batches, and what an interruption leaves."""

import json
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

from posbias.errors import ConfigError, DataError, DivergedError
from posbias.models.checkpoints import checked_settings
from posbias.models.retriever import build_retriever, load_retriever
from posbias.training.contrastive import (
    bin_datasets,
    contrastive_loss,
    make_trainer,
)
from posbias.training.resumption import check_finite, last_state

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
                "query": f"{topic} {i % 2}",
                "text": f"{topic}: a text about it, with {i % 2 == 0} things.",
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


def test_cached_loss_equals_plain_loss_and_gradient(model):
    pairs = some_pairs()[::2][:12]
    plain = contrastive_loss(model, {**OPTIONS, "loss": "plain"})
    cached = contrastive_loss(model, {**OPTIONS, "loss": "cached", "mini_batch_size": 5})
    value, gradient = loss_and_gradient(model, plain, pairs)
    cached_value, cached_gradient = loss_and_gradient(model, cached, pairs)
    assert cached_value == pytest.approx(value, abs=1e-5)
    torch.testing.assert_close(cached_gradient, gradient, atol=1e-4, rtol=1e-3)
    assert gradient.abs().max() > 1e-3


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


def test_a_cut_off_state_is_passed_over(tmp_path):
    for step, files in ((3, ["trainer_state.json", "rng_state.pth"]), (6, ["trainer_state.json"])):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        for name in files:
            (folder / name).write_text("{}")
    assert last_state(tmp_path).name == "checkpoint-3"
    assert last_state(tmp_path / "nothing") is None


@pytest.fixture
def training_command(encoder_folder, tmp_path):
    """Return a function that gives the command line of a real training into a named folder."""
    pairs = some_pairs(160)
    with (tmp_path / "pairs.jsonl").open("w") as lines:
        for pair in pairs:
            lines.write(json.dumps({k: v for k, v in pair.items() if k != "text"}) + "\n")
    with (tmp_path / "documents.jsonl").open("w") as lines:
        for doc_id, text in {pair["doc_id"]: pair["text"] for pair in pairs}.items():
            lines.write(json.dumps({"doc_id": doc_id, "text": text}) + "\n")
    entry = {**ENTRY, "body": {**ENTRY["body"], "hidden_dropout_prob": 0.1}}

    def command(name, **changes):
        training = {**OPTIONS, "epochs": 3, **changes}
        return [
            sys.executable, str(ROOT / "workflow/scripts/train_retriever.py"),
            f"--pairs={tmp_path / 'pairs.jsonl'}", f"--documents={tmp_path / 'documents.jsonl'}",
            f"--encoder={encoder_folder}", f"--checkpoint={tmp_path / name}",
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
            states = [last_state(folder) for folder in resume.glob("*")]
            if any(state and int(state.name.split("-")[1]) >= reached for state in states):
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


def test_a_training_that_leaves_the_numbers_is_told_and_not_saved(training_command, tmp_path):
    command = training_command("wild", epochs=1)
    wild = json.dumps({**ENTRY, "learning_rate": 1e30})
    command = [f"--entry={wild}" if part.startswith("--entry=") else part for part in command]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1 and "Traceback" not in run.stderr
    assert "train bert/begin" in run.stderr and "learning_rate" in run.stderr
    assert not (tmp_path / "wild").exists()


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
