"""The measuring of moved evidence: cosines, counts of what is cut, the script."""

import json

import numpy as np
import pytest

import measure_evidence_moving
from family_checkpoints import ENTRIES, sentences, write_checkpoint
from posbias.errors import ConfigError, DataError
from posbias.files import write_jsonl
from posbias.measures.truncation import readable_range
from posbias.models.checkpoints import seal_checkpoint
from posbias.models.encoder import set_threads
from posbias.models.retriever import Retriever, build_retriever, load_retriever
from posbias.representation import moving_scores
from posbias.representation.evidence_cut import EvidencePair
from posbias.representation.evidence_moving import place
from posbias.representation.moving_scores import pair_counts, score_pairs
from search_toy import WordRetriever

LIMIT = 64  # tokens
EVALUATION = {
    "batch_size": 8, "autocast": "none", "threads": 1, "resamples": 200, "level": 0.9,
}  # fmt: skip


def pairs_of(count: int) -> list[EvidencePair]:
    every = sentences()
    return [
        EvidencePair(
            f"q{number}",
            every[number].split()[1],
            f"d{number // 2}",
            " ".join(every[20 + number : 23 + number]),
            f"{every[number]} ",
            0,
        )
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A small retriever, not trained, that says it was trained for the begin."""
    set_threads(1)
    root = tmp_path_factory.mktemp("moving")
    write_checkpoint("bert", root / "bert")
    model = build_retriever(ENTRIES["bert"], None, 0.05, LIMIT, 1, root / "bert")
    model.save_pretrained(str(root / "begin"))
    seal_checkpoint(
        root / "begin", {"retriever": "bert", "setting": "begin", "entry": ENTRIES["bert"]}
    )
    return root / "begin"


@pytest.fixture(scope="module")
def model(checkpoint):
    return load_retriever(checkpoint, 8)


def test_cosines_are_those_of_each_document_alone(model: Retriever):
    pairs = pairs_of(40)  # more than are encoded at once
    scores = score_pairs(model, pairs, 4, "words", "test")
    assert scores.cosines.shape == (40, 4)
    for row in (0, 31, 32, 39):
        pair = pairs[row]
        query = model.encoder.encode([f"query: {pair.query}"])[0]
        ends = [place(pair.rest, pair.passage, at).text for at in (0, len(pair.rest))]
        for text, found in zip(ends, scores.cosines[row, [0, 3]], strict=True):
            vector = model.encoder.encode([text])[0]
            wanted = query @ vector / np.linalg.norm(query) / np.linalg.norm(vector)
            assert found == pytest.approx(wanted, abs=1e-5)
    assert np.ptp(scores.cosines, axis=1).max() > 1e-4


def test_texts_beyond_the_longest_input_are_counted_by_position(model: Retriever):
    every = sentences()
    short, long = " ".join(every[:2]), " ".join(every[:30])
    pairs = [
        EvidencePair("q0", "glass", "d0", short, f"{every[50]} ", 0),
        EvidencePair("q1", "glass", "d1", long, f"{every[51]} ", 0),
        EvidencePair("q2", "glass", "d2", long, " ".join(every[30:60]) + " ", 0),
    ]
    tokens = len(model.encoder.tokenizer(f"{short} {every[50]}")["input_ids"])
    assert tokens < LIMIT < len(model.encoder.tokenizer(long)["input_ids"])
    cut = score_pairs(model, pairs, 3, "words", "test").cut
    assert [counts["texts"] for counts in cut] == [2, 2, 2]
    assert [counts["evidence_wholly"] for counts in cut] == [0, 2, 2]
    # The longer evidence is cut in its middle even where it comes first.
    assert [counts["evidence_partly"] for counts in cut] == [1, 0, 0]
    ((_, last),) = readable_range(model.encoder.tokenizer, [long], LIMIT)
    assert 0 < last < len(long) / 2


def test_a_reader_of_the_front_alone_sees_evidence_that_stands_there(monkeypatch):
    monkeypatch.setattr(
        moving_scores, "readable_range", lambda tokenizer, texts, limit: [(0, 30)] * len(texts)
    )
    toy = WordRetriever(reach=30)
    toy.encoder = type("Encoder", (), {"tokenizer": None, "max_seq_length": 0})()
    rest = " ".join(f"filling{number:02d}" for number in range(12))
    pairs = [EvidencePair(f"q{n}", f"needle{n}", "d", rest, f"needle{n} ", 0) for n in range(5)]
    scores = score_pairs(toy, pairs, 6, "words", "test")
    assert (scores.cosines[:, 0] > 0.4).all() and (scores.cosines[:, 2:] < 0.02).all()
    assert [counts["evidence_wholly"] for counts in scores.cut] == [0, 0, 5, 5, 5, 5]
    assert toy.asked == [5] and len(toy.encoded) == 30
    assert all(text.count("needle") == 1 and len(text) == len(rest) + 8 for text in toy.encoded)


def test_documents_too_short_for_their_places_are_counted():
    pairs = [
        EvidencePair("a", "q", "d", "one two three", "x ", 0),
        EvidencePair("b", "q", "d", "one two three four five six", "x ", 0),
    ]
    counts = {"pairs": 2, "documents": 1}
    assert pair_counts(pairs, 6, "words") == counts | {"places_coincide": 1}
    assert pair_counts(pairs, 6, "characters") == counts | {"places_coincide": 0}


def measure(folder, checkpoint, pairs, **changes):
    write_jsonl(folder / "pairs.jsonl", [pair.record() for pair in pairs])
    arguments = {
        "pairs": folder / "pairs.jsonl",
        "checkpoints": [checkpoint],
        "measures": folder / "bert.json",
        "retriever": "bert",
        "label": "BERT, small",
        "settings": ["begin"],
        "positions": 5,
        "snap": "words",
        "evaluation": EVALUATION,
        "seed": 42,
    }
    measure_evidence_moving.main(**{**arguments, **changes})
    return (folder / "bert.json").read_text()


def test_the_script_writes_means_range_and_counts(tmp_path, checkpoint, model):
    pairs = pairs_of(12)
    text = measure(tmp_path, checkpoint, pairs)
    record = json.loads(text)
    of_setting = record["settings"]["begin"]
    means = score_pairs(model, pairs, 5, "words", "test").cosines.mean(axis=0)
    assert [point["mean"] for point in of_setting["points"]] == pytest.approx(means.tolist())
    assert of_setting["range"] == pytest.approx(np.ptp(means))
    assert of_setting["points"][of_setting["peak"] - 1]["mean"] == pytest.approx(means.max())
    assert of_setting["points"][of_setting["lowest"] - 1]["mean"] == pytest.approx(means.min())
    assert (record["counts"]["pairs"], record["counts"]["documents"]) == (12, 6)
    assert [cut["position"] for cut in record["counts"]["truncated"]["begin"]] == [1, 2, 3, 4, 5]
    assert record["interval"] == {"kind": "bootstrap over pairs", "resamples": 200, "level": 0.9}
    assert measure(tmp_path, checkpoint, pairs) == text


@pytest.mark.parametrize(
    ("changes", "fault", "message"),
    [
        ({"evaluation": {"batch_size": 8}}, ConfigError, "autocast, threads, resamples, level"),
        ({"settings": ["end"]}, DataError, "holds retriever bert, setting begin, not .*end"),
        ({"positions": 1}, ConfigError, "positions must be"),
        ({"snap": "lines"}, ConfigError, "'lines' is not one of"),
    ],
)
def test_what_cannot_be_measured_is_named(tmp_path, checkpoint, changes, fault, message):
    with pytest.raises(fault, match=message):
        measure(tmp_path, checkpoint, pairs_of(2), **changes)
    with pytest.raises(DataError, match="holds no pair"):
        measure(tmp_path, checkpoint, [])
    assert not (tmp_path / "bert.json").exists()
