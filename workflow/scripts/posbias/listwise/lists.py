"""Lists of candidates as rows of a collection, and the files they come from."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from posbias.benchmarks.records import read_benchmark
from posbias.errors import DataError
from posbias.listwise.collection import Collection
from posbias.listwise.reranking import PLACEHOLDER
from posbias.retrieval.trec import Qrels, Run, make_run


def read_vectors(path: Path, wanted: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Read arrays of vectors by name; raises DataError where one is missing or of other length.

    wanted: how many rows each must have.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    remedy = "delete the file and run the step that makes it again"
    try:
        found = load_file(str(path))
    except (OSError, SafetensorError) as fault:
        raise DataError(f"{path}: cannot be read as vectors ({fault}); {remedy}.") from fault
    for name, rows in wanted.items():
        if name not in found or len(found[name]) != rows:
            held = f"{len(found[name])} rows" if name in found else "nothing"
            raise DataError(f"{path}: {name} should hold {rows} rows, found {held}; {remedy}.")
    return {name: found[name] for name in wanted}


def _placeholder_text(path: Path) -> str:
    from safetensors import safe_open

    with safe_open(str(path), framework="np") as vectors:
        text = (vectors.metadata() or {}).get(PLACEHOLDER)
    if text is None:
        raise DataError(
            f"{path}: does not say which text its placeholder is; delete the file and run the "
            "step that makes it again."
        )
    return text


def read_collection(
    passages: Path,
    queries: Path,
    qrels: Path,
    passage_vectors: Path,
    query_vectors: Path,
    encoders: Sequence[str],
) -> tuple[Collection, Qrels]:
    """Read a collection and its judgements; the last passage is the placeholder without content.

    encoders: whose vectors to take, as the embedding steps name them. Several are put one behind
    the other, so that a cosine of theirs is the mean of the encoders' cosines.
    """
    benchmark = read_benchmark(passages, queries, qrels)
    doc_ids = [document.doc_id for document in benchmark.documents]
    texts = [document.text for document in benchmark.documents]
    empty = {encoder: f"{PLACEHOLDER}_{encoder}" for encoder in encoders}
    wanted = {**dict.fromkeys(encoders, len(doc_ids)), **dict.fromkeys(empty.values(), 1)}
    vectors = read_vectors(passage_vectors, wanted)
    asked = read_vectors(query_vectors, dict.fromkeys(encoders, len(benchmark.queries)))
    unit = 1 / np.sqrt(np.float32(len(encoders)))
    collection = Collection(
        query_ids=[query.query_id for query in benchmark.queries],
        queries=[query.text for query in benchmark.queries],
        doc_ids=[*doc_ids, PLACEHOLDER],
        passages=[*texts, _placeholder_text(passage_vectors)],
        query_vectors=unit * np.hstack([asked[encoder] for encoder in encoders]),
        passage_vectors=unit
        * np.hstack([np.vstack([vectors[e], vectors[empty[e]]]) for e in encoders]),
    )
    return collection, benchmark.qrels


def read_collections(
    passages: Sequence[Path],
    queries: Sequence[Path],
    qrels: Sequence[Path],
    passage_vectors: Sequence[Path],
    query_vectors: Sequence[Path],
    encoders: Sequence[str],
) -> list[tuple[Collection, Qrels]]:
    """Read several collections as `read_collection` does, each from its place in the lists."""
    files = zip(passages, queries, qrels, passage_vectors, query_vectors, strict=True)
    return [read_collection(*of_one, encoders) for of_one in files]


def run_lists(run: Run, collection: Collection, depth: int) -> list[tuple[int, np.ndarray]]:
    """Return (query row, passage rows) of each query of a run, at most `depth` passages each.

    Raises DataError for a query or document that the collection lacks.
    """
    lists = []
    for query_id, ranked in run.items():
        unknown = [d for d in ranked if d not in collection.doc_rows]
        if query_id not in collection.query_rows or unknown:
            what = f"document {unknown[0]!r}" if unknown else "it"
            raise DataError(f"run, query {query_id!r}: the collection lacks {what}.")
        rows = [collection.doc_rows[doc_id] for doc_id in list(ranked)[:depth]]
        lists.append((collection.query_rows[query_id], np.array(rows, dtype=np.int64)))
    return lists


def lists_run(collection: Collection, queries: Sequence[int], orders: Sequence[np.ndarray]) -> Run:
    """Return orders of passages as a run with scores n, n - 1, … 1: only the order is new."""
    return make_run(
        [collection.query_ids[query] for query in queries],
        collection.doc_ids,
        orders,
        [np.arange(len(order), 0, -1, dtype=np.float64) for order in orders],
    )


def relevant_rows(collection: Collection, qrels: Qrels, query: int) -> np.ndarray:
    """Return the rows of the relevant passages of a query row, grade 1 or more."""
    judged = qrels.get(collection.query_ids[query], {})
    rows = [collection.doc_rows[d] for d, grade in judged.items() if grade > 0]
    return np.array(sorted(rows), dtype=np.int64)
