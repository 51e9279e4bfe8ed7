"""The two evaluation scripts from files to files, with made-up models."""

import csv
import math
import re
import subprocess
import sys
import zlib

import numpy as np
import pytest

import evaluate_references
import evaluate_retriever
from posbias.benchmarks.evaluation import evaluation_settings
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, write_jsonl
from posbias.report.records import common_interval, grouping_of, read_measures
from posbias.retrieval.trec import read_run, write_qrels

N_DOCUMENTS = 45
WIDTH = 16_384  # of the hashed words, so that no two meet
EVALUATION = {
    "benchmark": "wiki_heldout",
    "depth": 20,
    "cutoff": 10,
    "character_edges": [0, 14, 28, 60],
    "resamples": 500,
    "level": 0.95,
    "min_group": 5,
    "seed": 42,
    "batch_size": 8,
    "threads": 1,
}


class WordRetriever:
    """Counts hashed words; of documents only the first `reach` characters are read."""

    def __init__(self, reach: int) -> None:
        self.reach = reach

    def _vectors(self, texts: list[str]) -> np.ndarray:
        vectors = np.full((len(texts), WIDTH), 1e-3, dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text):
                row[zlib.crc32(word.encode()) % WIDTH] += 1
        return vectors

    def encode_queries(self, texts: list[str]) -> np.ndarray:
        return self._vectors(texts)

    def encode_documents(self, texts: list[str]) -> np.ndarray:
        return self._vectors([text[: self.reach] for text in texts])

    def truncated(self, texts: list[str], ends: list[int]) -> np.ndarray:
        return np.asarray(ends) > self.reach


class ConstantRetriever(WordRetriever):
    """The same vector for every text."""

    def _vectors(self, texts: list[str]) -> np.ndarray:
        return np.ones((len(texts), 4), dtype=np.float32)


MODELS = {
    "front": WordRetriever(20),
    "whole": WordRetriever(1000),
    "constant": ConstantRetriever(1000),
}


@pytest.fixture
def files(tmp_path):
    """Make documents of three words of their own, one in each third, and a query for each."""
    documents, queries, qrels = [], [], {}
    for number in range(N_DOCUMENTS):
        words = [f"{position}{number:03d}" for position in ("begin", "middle", "end")]
        text = " and then ".join(words)
        documents.append({"doc_id": f"d{number}", "text": text})
        for position, word in zip(("begin", "middle", "end"), words, strict=True):
            query_id = f"d{number}-{position}"
            start = text.index(word)
            queries.append(
                {
                    "query_id": query_id,
                    "text": word,
                    "doc_id": f"d{number}",
                    "position": position,
                    "answer_start": start,
                    "answer_end": start + len(word),
                }
            )
            qrels[query_id] = {f"d{number}": 1}
    write_jsonl(tmp_path / "corpus.jsonl", documents)
    write_jsonl(tmp_path / "queries.jsonl", queries)
    write_qrels(tmp_path / "qrels.txt", qrels)
    return {
        "corpus": tmp_path / "corpus.jsonl",
        "queries": tmp_path / "queries.jsonl",
        "qrels": tmp_path / "qrels.txt",
    }


@pytest.fixture
def fakes(monkeypatch):
    threads = []
    for script in (evaluate_retriever, evaluate_references):
        monkeypatch.setattr(script, "set_threads", threads.append)
    monkeypatch.setattr(
        evaluate_retriever, "load_retriever", lambda path, batch_size: MODELS[path.name]
    )
    monkeypatch.setattr(evaluate_retriever, "checked_settings", lambda *names: {})
    monkeypatch.setattr(evaluate_references, "load_encoder", lambda path: path)
    monkeypatch.setattr(
        evaluate_references, "Retriever", lambda encoder, batch_size: MODELS[encoder.name]
    )
    return threads


def outputs(folder, names):
    return {
        kind: [folder / name / file for name in names]
        for kind, file in (("runs", "a.run"), ("measures", "m.json"), ("scores", "s.csv"))
    }


def evaluate(files, folder, models=("front", "whole"), settings=("begin", "uniform"), **changed):
    evaluate_retriever.main(
        **files,
        **outputs(folder, settings),
        checkpoints=[folder / model for model in models],
        retriever="bert",
        label="BERT",
        settings=list(settings),
        evaluation=EVALUATION | changed,
    )


def test_one_record_per_setting_that_the_report_can_read(files, fakes, tmp_path):
    evaluate(files, tmp_path)
    paths = outputs(tmp_path, ["begin", "uniform"])["measures"]
    begin, uniform = read_measures(paths)
    assert fakes == [1]
    assert [begin["setting"], uniform["setting"]] == ["begin", "uniform"]
    assert {key: begin[key] for key in ("retriever", "label", "benchmark", "measure", "seed")} == {
        "retriever": "bert",
        "label": "BERT",
        "benchmark": "wiki_heldout",
        "measure": "nDCG@10",
        "seed": 42,
    }
    assert common_interval([begin, uniform])["resamples"] == 500
    assert uniform["micro_mean"] > 0.95
    assert grouping_of(uniform, "thirds")["psi"] < 0.05
    thirds = grouping_of(begin, "thirds")
    assert thirds["favoured"] == "begin"
    assert thirds["groups"][0]["mean"] > 0.95
    assert thirds["groups"][2]["mean"] < 0.2
    assert thirds["psi"] > 0.8
    assert thirds["psi_low"] <= thirds["psi"] <= thirds["psi_high"]
    buckets = grouping_of(begin, "characters")["groups"]
    assert [(bucket["name"], bucket["n"]) for bucket in buckets] == [
        ("0-14", 45),
        ("14-28", 45),
        ("28-60", 45),
    ]
    assert begin["evidence_truncated"] == {"n": 90, "of": 135}
    assert uniform["evidence_truncated"] == {"n": 0, "of": 135}
    assert begin["counts"] == {
        "judged": 135,
        "ranked": 135,
        "unjudged": 0,
        "documents": 45,
        "judgements_outside_corpus": 0,
        "dropped": {},
        "counted_twice": {"thirds": 0, "characters": 0},
    }


def test_the_evaluator_reads_our_mean_from_the_run_file(files, fakes, tmp_path):
    evaluate(files, tmp_path)
    for setting in ("begin", "uniform"):
        command = [sys.executable, "-m", "ir_measures", str(files["qrels"])]
        printed = subprocess.run(
            [*command, str(tmp_path / setting / "a.run"), "nDCG@10"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        mean = read_json(tmp_path / setting / "m.json")["micro_mean"]
        assert printed.split() == ["nDCG@10", f"{mean:.4f}"]


def test_the_scores_of_queries_agree_with_the_run_and_the_mean(files, fakes, tmp_path):
    evaluate(files, tmp_path)
    with (tmp_path / "begin/s.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    run = read_run(tmp_path / "begin/a.run")
    assert list(rows[0]) == ["query_id", "doc_id", "position", "answer_start", "rank", "nDCG@10"]
    assert len(rows) == 135
    for row in rows:
        ranked = list(run[row["query_id"]])
        assert len(ranked) == 20
        assert row["rank"] == (
            str(ranked.index(row["doc_id"]) + 1) if row["doc_id"] in ranked else ""
        )
        gained = row["rank"] and int(row["rank"]) <= 10
        value = 1 / math.log2(int(row["rank"]) + 1) if gained else 0
        assert float(row["nDCG@10"]) == pytest.approx(value)
    mean = np.mean([float(row["nDCG@10"]) for row in rows])
    assert read_json(tmp_path / "begin/m.json")["micro_mean"] == pytest.approx(mean)
    assert {row["rank"] for row in rows if row["position"] == "begin"} == {"1"}


def test_a_constant_model_ranks_by_document_index_and_favours_nothing(files, fakes, tmp_path):
    evaluate(files, tmp_path, models=["constant"], settings=["begin"])
    record = read_json(tmp_path / "begin/m.json")
    chance = sum(1 / math.log2(rank + 1) for rank in range(1, 11)) / N_DOCUMENTS
    assert record["micro_mean"] == pytest.approx(chance)
    assert grouping_of(record, "thirds")["psi"] == pytest.approx(0, abs=1e-12)
    assert grouping_of(record, "thirds")["favoured"] is None
    for ranked in read_run(tmp_path / "begin/a.run").values():
        assert list(ranked) == [f"d{i}" for i in range(20)]


def test_same_bytes_twice_and_alone_as_among_other_settings(files, fakes, tmp_path):
    evaluate(files, tmp_path / "one")
    evaluate(files, tmp_path / "two", models=["whole"], settings=["uniform"])
    for file in ("a.run", "m.json", "s.csv"):
        one, two = (tmp_path / run / "uniform" / file for run in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_each_setting_has_resamples_of_its_own(files, fakes, tmp_path):
    evaluate(files, tmp_path, models=["front", "front"])
    begin, uniform = (read_json(tmp_path / name / "m.json") for name in ("begin", "uniform"))
    assert begin["micro_mean"] == uniform["micro_mean"]
    assert grouping_of(begin, "thirds")["macro_low"] != grouping_of(uniform, "thirds")["macro_low"]


def test_a_query_without_offsets_leaves_only_the_characters(files, fakes, tmp_path):
    lines = files["queries"].read_text().splitlines()
    lines[0] = re.sub(r'"answer_(start|end)": \d+', r'"answer_\1": null', lines[0])
    files["queries"].write_text("\n".join(lines) + "\n")
    evaluate(files, tmp_path)
    record = read_json(tmp_path / "begin/m.json")
    assert record["counts"]["dropped"] == {"characters: no answer offset": 1}
    assert [g["n"] for g in grouping_of(record, "thirds")["groups"]] == [45, 45, 45]
    assert [g["n"] for g in grouping_of(record, "characters")["groups"]] == [44, 45, 45]
    assert record["evidence_truncated"]["of"] == 134


def test_references_bm25_and_encoder(files, fakes, tmp_path):
    evaluate_references.main(
        **files,
        **outputs(tmp_path, ["bm25", "minilm_l6"]),
        encoder=tmp_path / "front",
        references=[
            {
                "name": "bm25",
                "label": "BM25",
                "kind": "bm25",
                "options": {"k1": 0.9, "b": 0.4, "stopwords": "en", "stemmer": None},
            },
            {
                "name": "minilm_l6",
                "label": "all-MiniLM-L6-v2",
                "kind": "sentence_transformer",
                "options": {},
            },
        ],
        evaluation=EVALUATION,
    )
    bm25, encoder = read_measures(outputs(tmp_path, ["bm25", "minilm_l6"])["measures"])
    assert [bm25["retriever"], bm25["setting"], bm25["micro_mean"]] == ["bm25", None, 1.0]
    assert grouping_of(bm25, "thirds")["psi"] == 0
    assert "evidence_truncated" not in bm25
    assert encoder["label"] == "all-MiniLM-L6-v2"
    assert encoder["evidence_truncated"] == {"n": 90, "of": 135}
    # Only the one document that holds the word is a hit of BM25.
    run = read_run(tmp_path / "bm25/a.run")
    assert {query_id: list(ranked) for query_id, ranked in run.items()} == {
        f"d{i}-{position}": [f"d{i}"]
        for i in range(N_DOCUMENTS)
        for position in ("begin", "middle", "end")
    }
    assert (tmp_path / "bm25/a.run").read_text().split()[5] == "bm25"


def test_queries_without_a_hit_count_zero_and_are_counted(files, fakes, tmp_path):
    text = files["queries"].read_text().replace('"text": "end', '"text": "zebra')
    files["queries"].write_text(text)
    evaluate_references.main(
        **files,
        **outputs(tmp_path, ["bm25"]),
        encoder=tmp_path,
        references=[{"name": "bm25", "label": "BM25", "kind": "bm25"}],
        evaluation=EVALUATION,
    )
    record = read_json(tmp_path / "bm25/m.json")
    assert record["micro_mean"] == pytest.approx(2 / 3)
    assert (record["counts"]["judged"], record["counts"]["ranked"]) == (135, 90)
    assert grouping_of(record, "thirds")["psi"] == 1


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"kind": "splade"}, "kind 'splade' does not exist; known: bm25, sentence_transformer"),
        ({"kind": "sentence_transformer", "options": {"k1": 1}}, "takes no options, found k1"),
    ],
)
def test_a_reference_that_cannot_be_made_is_refused(files, fakes, tmp_path, reference, message):
    with pytest.raises(ConfigError, match=message):
        evaluate_references.main(
            **files,
            **outputs(tmp_path, ["x"]),
            encoder=tmp_path / "front",
            references=[{"name": "x", "label": "X"} | reference],
            evaluation=EVALUATION,
        )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"depth": 5}, "1 <= cutoff <= depth must hold, found 10 and 5"),
        ({"cutoff": 0}, "1 <= cutoff <= depth must hold"),
        ({"dept": 100}, "unexpected keyword argument 'dept'"),
    ],
)
def test_evaluation_settings_are_checked(changed, message):
    with pytest.raises(ConfigError, match=message):
        evaluation_settings(EVALUATION | changed)


def test_a_model_that_diverged_is_refused_and_leaves_nothing(files, fakes, tmp_path, monkeypatch):
    broken = ConstantRetriever(1000)
    broken.encode_documents = lambda texts: np.full((len(texts), 4), np.nan, dtype=np.float32)
    monkeypatch.setitem(MODELS, "broken", broken)
    with pytest.raises(DataError, match=r"document 0 .* has a vector of length nan"):
        evaluate(files, tmp_path, models=["broken"], settings=["begin"])
    assert not (tmp_path / "begin").exists()
