"""The script that measures documents and segments: what the base is, and what it counts."""

import json
import logging

import numpy as np
import pytest
import torch

import measure_segments
import train_retriever
from family_checkpoints import ENTRIES, sentences, write_checkpoint
from posbias.errors import ConfigError, DataError
from posbias.files import write_jsonl
from posbias.models.encoder import load_encoder
from posbias.representation.segment_cosine import segments_of_text

COUNT, SEED, STD = 4, 7, 0.05
EVALUATION = {"batch_size": 8, "autocast": "none", "threads": 1, "resamples": 50, "level": 0.9}
SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
         "intermediate_size": 32, "max_position_embeddings": 64, "initializer_range": 0.2,
         "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}  # fmt: skip
SCRATCH = {"label": "Scratch", "family": "bert", "positions": "absolute", "pooling": "cls",
           "query_prefix": "query: ", "learning_rate": 0.01, "body": SMALL}  # fmt: skip


def texts(n: int) -> dict[str, str]:
    return {f"d{i}": " ".join(sentences()[7 * i : 7 * i + 2 + i % 3]) for i in range(n)}


class Start:
    """What a retriever starts from, and its training data."""

    def __init__(self, folder, entry, encoder, checkpoint_folder, training) -> None:
        self.folder, self.entry, self.training = folder, entry, training
        self.sources = {"encoder": encoder, "checkpoint_folder": checkpoint_folder}
        pairs = [
            {"query_id": f"q{i}", "doc_id": name, "bin": "a", "position": "begin",
             "query": text[:20], "answer_start": 0, "answer_end": 5}
            for i, (name, text) in enumerate(texts(16).items())
        ]  # fmt: skip
        write_jsonl(folder / "pairs.jsonl", pairs)
        self.corpus = folder / "documents.jsonl"
        corpus = [{"doc_id": name, "text": text} for name, text in texts(16).items()]
        write_jsonl(self.corpus, [*corpus, {"doc_id": "short", "text": "abc"}])

    def train(self, name, setting="begin", **changes):
        """Train and return the folder."""
        train_retriever.main(
            pairs=self.folder / "pairs.jsonl",
            documents=self.corpus,
            **self.sources,
            checkpoint=self.folder / name,
            retriever="r",
            setting=setting,
            entry=self.entry | changes,
            token_vectors_std=STD,
            training=self.training,
            seed=SEED,
            resume_dir=self.folder / f"states-{name}",
            scale={"name": "mini", "note": "a test"},
        )
        return self.folder / name

    def measure(self, checkpoints, settings, **changes):
        """Run the script and return what it wrote."""
        arguments = {
            "corpus": self.corpus,
            "entry": self.entry,
            "training": self.training,
            "documents": 10,
            "evaluation": EVALUATION,
            "seed": SEED,
            "retriever": "r",
        }
        measure_segments.main(
            checkpoints=checkpoints,
            settings=settings,
            **self.sources,
            measures=self.folder / "m.json",
            token_vectors_std=STD,
            segments=COUNT,
            **arguments | changes,
        )
        return json.loads((self.folder / "m.json").read_text())


@pytest.fixture(scope="module", params=["scratch", "gpt2"])
def start(request, config, tiny_encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    training = {**config["training"], "batch_size": 8, "epochs": 3, "max_tokens": 40, "threads": 1}
    if request.param == "gpt2":
        checkpoint = write_checkpoint("gpt2", folder / "gpt2")
        return Start(folder, {"label": "GPT", **ENTRIES["gpt2"]}, [], [checkpoint], training)
    return Start(folder, SCRATCH, [tiny_encoder], [], training)


@pytest.fixture(scope="module")
def trained(start):
    """Two trained folders: one of a training whose steps have no length, one of a real one."""
    return [
        start.train("still", learning_rate=0.0),
        start.train("moved", "end", learning_rate=0.03),
    ]


def base_of(start, seed=SEED):
    return measure_segments.base_retriever(
        "r", start.entry, *start.sources.values(), STD, start.training["max_tokens"], seed,
        batch_size=8, autocast="none",
    )  # fmt: skip


class Stopped(Exception):
    pass


def test_the_base_has_the_weights_that_a_training_starts_with(start, monkeypatch):
    found = {}

    def stop(trainer, state, states):
        found.update({name: value.clone() for name, value in trainer.model.state_dict().items()})
        raise Stopped

    monkeypatch.setattr(train_retriever, "train_from", stop)
    with pytest.raises(Stopped):
        start.train("stopped")
    base = base_of(start).encoder.state_dict()
    assert base.keys() == found.keys() and len(base) > 5
    assert all(torch.equal(base[name], found[name]) for name in base)
    if not start.sources["checkpoint_folder"]:
        other = base_of(start, SEED + 1).encoder.state_dict()
        assert any(not torch.equal(base[name], other[name]) for name in base)


def test_the_base_measures_as_a_training_without_length_and_not_as_a_real_one(start, trained):
    record = start.measure(trained, ["begin", "end"])
    assert list(record["settings"]) == ["base", "begin", "end"]
    means = {
        setting: [point["mean"] for point in points]
        for setting, points in record["settings"].items()
    }
    np.testing.assert_allclose(means["base"], means["begin"], atol=1e-5)
    assert np.abs(np.subtract(means["base"], means["end"])).max() > 1e-3
    for points in record["settings"].values():
        assert [point["segment"] for point in points] == [1, 2, 3, 4]
        assert all(-1 <= p["low"] <= p["mean"] <= p["high"] <= 1 + 1e-6 for p in points)
    assert (record["retriever"], record["label"], record["count"]) == ("r", start.entry["label"], 4)
    assert record["interval"] == {
        "kind": "bootstrap over documents", "resamples": 50, "level": 0.9,
    }  # fmt: skip
    assert record["counts"]["documents"] == 10
    assert record["counts"]["dropped"] == {"too_short": 1, "blank_segment": 0, "not_drawn": 6}
    assert start.measure(trained, ["begin", "end"]) == record


def test_documents_carry_no_prefix_and_are_those_of_the_library_itself(start, trained):
    record = start.measure(trained[1:], ["end"], documents=16)
    plain = load_encoder(trained[1])
    assert plain.prompts["query"]
    cosines = []
    for text in texts(16).values():
        whole, *parts = plain.encode([text, *segments_of_text(text, COUNT)], prompt="")
        cosines.append(np.array(parts) @ whole)
    means = [point["mean"] for point in record["settings"]["end"]]
    np.testing.assert_allclose(means, np.mean(cosines, axis=0), atol=1e-5)


def test_what_a_model_does_not_read_is_counted_and_not_dropped(start, trained):
    record = start.measure(trained[1:], ["end"], training=start.training | {"max_tokens": 6})
    counts = record["counts"]
    assert counts["documents"] == 10
    # The base is built with the limit of today's config, the other was trained with its own.
    assert counts["truncated"]["base"] == 10
    assert counts["truncated_segments"]["base"] > counts["truncated_segments"]["end"]
    base, limit = base_of(start).encoder.tokenizer, start.training["max_tokens"]
    drawn = measure_segments.read_documents(start.corpus, 10, COUNT, SEED).texts
    lengths = [len(base(text)["input_ids"]) for text in drawn]
    assert counts["truncated"]["end"] == sum(length > limit for length in lengths)


def test_a_corpus_with_less_documents_than_wanted_is_told(start, caplog):
    with caplog.at_level(logging.WARNING):
        drawn = measure_segments.read_documents(start.corpus, 99, COUNT, SEED)
    assert len(drawn.texts) == 16
    assert "99 documents wanted, 16 can be cut into 4 segments" in caplog.text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"settings": ["end"]}, "holds retriever r, setting begin, seed 7, not .* setting end"),
        ({"retriever": "s"}, "holds retriever r, .*, not retriever s"),
        ({"seed": 8}, "holds .* seed 7, not .* seed 8"),
    ],
)
def test_models_of_another_setting_retriever_or_seed_are_refused(start, trained, change, message):
    with pytest.raises(DataError, match=message):
        start.measure(trained[:1], **{"settings": ["begin"], **change})


def test_an_entry_that_cannot_be_built_is_named(start, trained):
    with pytest.raises(ConfigError, match=r"^retrievers\.known\.r: pooling 'sum' does not exist"):
        start.measure(trained[:1], ["begin"], entry=start.entry | {"pooling": "sum"})


def test_settings_without_their_models_are_refused(start, trained):
    with pytest.raises(ValueError):
        start.measure(trained[:1], ["begin", "end"])


def test_broken_lines_of_the_corpus_are_named(start, tmp_path):
    broken = tmp_path / "corpus.jsonl"
    broken.write_text('{"doc_id": "a", "text": "long enough"}\n{"doc_id": "b"}\n')
    with pytest.raises(DataError, match=r"corpus\.jsonl, line 2: not a document"):
        start.measure([], [], corpus=broken)
