"""A test collection on disk and models that need no training, for the tests of search scripts."""

import re
import zlib
from pathlib import Path

import numpy as np
import pytest

import evaluate_reference
import evaluate_retriever
import search_corpus
from posbias.files import write_json, write_jsonl
from posbias.retrieval.products import HostProducts
from posbias.retrieval.sharded import Hits, merge_hits, read_hits, whole_searches
from posbias.retrieval.trec import write_qrels

N_DOCUMENTS = 45
WIDTH = 16_384  # of the hashed words, so that no two meet
NAME = "wiki_heldout"
N = 45  # documents of a collection
ONE = {"models": ("whole",), "settings": ("begin",)}
POSITIONS = ("begin", "middle", "end")
SEARCH = {"depth": 20, "batch_size": 8, "block_documents": 8, "autocast": "none", "threads": 1}
EVALUATION = SEARCH | {"cutoff": 10, "resamples": 500, "level": 0.95, "min_group": 5}
GROUPS = {"thirds": {}, "characters": {"edges": [0, 14, 28, 60]}}


class WordRetriever:
    """Counts hashed words; of documents only the first `reach` characters are read."""

    def __init__(self, reach: int) -> None:
        self.reach = reach
        self.asked: list[int] = []  # queries of each call
        self.encoded: list[str] = []  # documents

    def _vectors(self, texts: list[str]) -> np.ndarray:
        vectors = np.full((len(texts), WIDTH), 1e-3, dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text):
                row[zlib.crc32(word.encode()) % WIDTH] += 1
        return vectors

    def encode_queries(self, texts: list[str]) -> np.ndarray:
        self.asked.append(len(texts))
        return self._vectors(texts)

    def encode_documents(self, texts: list[str]) -> np.ndarray:
        self.encoded += texts
        return self._vectors([text[: self.reach] for text in texts])

    def truncated(self, texts: list[str], ends: list[int]) -> np.ndarray:
        return np.asarray(ends) > self.reach


class ConstantRetriever(WordRetriever):
    """The same vector for every text."""

    def _vectors(self, texts: list[str]) -> np.ndarray:
        return np.ones((len(texts), 4), dtype=np.float32)


def toy_models() -> dict[str, WordRetriever]:
    return {
        "front": WordRetriever(20),
        "whole": WordRetriever(1000),
        "constant": ConstantRetriever(1000),
    }


def document(number: int) -> tuple[dict, list[dict]]:
    """A document of three words of its own, one in each third, and a query for each."""
    words = [f"{position}{number:03d}" for position in POSITIONS]
    text = " and then ".join(words)
    queries = [
        {
            "query_id": f"d{number}-{position}",
            "text": word,
            "doc_id": f"d{number}",
            "positions": [position],
            "answer_start": text.index(word),
            "answer_end": text.index(word) + len(word),
        }
        for position, word in zip(POSITIONS, words, strict=True)
    ]
    return {"doc_id": f"d{number}", "text": text}, queries


def write_collection(folder: Path, numbers: list[int] | range, note: str | None = None) -> dict:
    """Write a benchmark of these documents; return its files by the scripts' argument names."""
    made = [document(number) for number in numbers]
    queries = [query for _, of_document in made for query in of_document]
    files = {
        "corpus": folder / "corpus.jsonl",
        "queries": folder / "queries.jsonl",
        "qrels": folder / "qrels.txt",
        "excluded": folder / "excluded.json",
        "summary": folder / "summary.json",
    }
    write_jsonl(files["corpus"], [one for one, _ in made])
    write_jsonl(files["queries"], queries)
    write_qrels(files["qrels"], {query["query_id"]: {query["doc_id"]: 1} for query in queries})
    write_json(files["excluded"], {})
    write_json(files["summary"], {"corpus_note": note})
    return files


def install(monkeypatch: pytest.MonkeyPatch, models: dict) -> list[int]:
    """Let the scripts load these models by the name of a folder; return what sets threads."""
    threads: list[int] = []
    for script in (search_corpus, evaluate_reference):
        monkeypatch.setattr(script, "set_threads", threads.append)
        monkeypatch.setattr(script, "products_here", HostProducts)
    monkeypatch.setattr(search_corpus, "load_retriever", lambda path, *options: models[path.name])
    monkeypatch.setattr(search_corpus, "checked_settings", lambda path, settings: settings)
    monkeypatch.setattr(evaluate_reference, "load_encoder", lambda path: path)
    monkeypatch.setattr(
        evaluate_reference, "Retriever", lambda encoder, *options: models[encoder.name]
    )
    return threads


def search(
    files: dict | list[dict],
    folder: Path,
    models: tuple[str, ...] = ("front", "whole"),
    settings: tuple[str, ...] = ("begin", "uniform"),
    shards: int = 1,
    names: tuple[str, ...] = (NAME,),
    corpus: Path | None = None,
    resume: Path | None = None,
    **changed,
) -> dict:
    """Search every shard; return the files by evaluate_retriever's argument names."""
    every = files if isinstance(files, list) else [files]
    found: dict = {"hits": [], "infos": []}
    for shard in range(shards):
        hits = [folder / "search" / str(shard) / f"{setting}.npz" for setting in settings]
        info = folder / "search" / str(shard) / "info.json"
        search_corpus.main(
            corpus=corpus or every[0]["corpus"],
            queries=[one["queries"] for one in every],
            excluded=[one["excluded"] for one in every],
            checkpoints=[folder / model for model in models],
            hits=hits,
            info=info,
            retriever="bert",
            settings=list(settings),
            benchmarks=list(names),
            shard=shard,
            shards=shards,
            evaluation=SEARCH | changed,
            resume_dir=str(resume) if resume else None,
        )
        found["hits"] += hits
        found["infos"].append(info)
    return found


def outputs(folder: Path, names: tuple[str, ...] | list[str]) -> dict:
    return {
        kind: [folder / name / file for name in names]
        for kind, file in (("runs", "a.run"), ("measures", "m.json"), ("scores", "s.csv"))
    }


def evaluate(
    files: dict,
    folder: Path,
    found: dict,
    settings: tuple[str, ...] = ("begin", "uniform"),
    benchmark: str = NAME,
    groups: dict | None = None,
    **changed,
) -> None:
    evaluate_retriever.main(
        **files,
        **found,
        **outputs(folder, settings),
        retriever="bert",
        label="BERT",
        settings=list(settings),
        benchmark=benchmark,
        groups=GROUPS if groups is None else groups,
        evaluation=EVALUATION | changed,
        seed=42,
    )


def merged(
    found: dict,
    setting: str = "begin",
    benchmark: str = NAME,
    n_queries: int = 3 * N_DOCUMENTS,
    depth: int = 20,
) -> Hits:
    """Return a benchmark's hits over all shards of a search."""
    paths = whole_searches(
        [path for path in found["hits"] if path.stem == setting], "bert", [setting]
    )[setting]
    return merge_hits([read_hits(path, benchmark, n_queries) for path in paths], depth)


def assert_same(one: Hits, other: Hits) -> None:
    assert np.array_equal(one.indices, other.indices)
    assert np.array_equal(one.scores, other.scores)
