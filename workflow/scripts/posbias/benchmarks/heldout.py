"""A test collection from held-out documents and the query candidates made for them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from posbias.benchmarks.loaded import Loaded
from posbias.benchmarks.option_checks import Check, whole_number
from posbias.benchmarks.records import (
    Benchmark,
    BenchmarkDocument,
    BenchmarkQuery,
    check_documents,
    check_queries,
    span_midpoint,
)
from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError
from posbias.files import read_jsonl
from posbias.keyed import keyed_order

OPTIONS: dict[str, Check] = {"queries_per_position": whole_number(1)}


def heldout_benchmark(
    documents: Iterable[dict], candidates: Iterable[dict], queries_per_position: int, seed: int
) -> Benchmark:
    """Make a collection of every held-out document and up to `queries_per_position` queries each
    for evidence in the begin, middle and end.

    documents: records with doc_id, text, split; candidates: records of query candidates, of
    which those for other documents are passed over. Queries are chosen by keyed hash of their
    id, in which order they stand within a position; the document that a query was made for is
    its one relevant document. Raises DataError where a position has no query.
    """
    corpus = [
        BenchmarkDocument(document["doc_id"], document["text"])
        for document in documents
        if document["split"] == "heldout"
    ]
    lengths = {document.doc_id: len(document.text) for document in corpus}
    at: dict[str, list[dict]] = {position: [] for position in POSITIONS}
    for candidate in candidates:
        if candidate["position"] not in at:
            raise DataError(
                f"candidate {candidate['query_id']!r} has the position {candidate['position']!r}; "
                f"expected one of {', '.join(POSITIONS)}."
            )
        if candidate["doc_id"] in lengths:
            at[candidate["position"]].append(candidate)
    queries = []
    for position, found in at.items():
        if not found:
            raise DataError(
                f"no query for evidence in the {position} of a held-out document; "
                "make more candidates, or raise documents.heldout_share."
            )
        ordered = keyed_order(found, seed, key=lambda candidate: candidate["query_id"])
        queries += [
            BenchmarkQuery(
                query_id=candidate["query_id"],
                text=candidate["query"],
                doc_id=candidate["doc_id"],
                positions=(position,),
                answer_start=candidate["answer_start"],
                answer_end=candidate["answer_end"],
                midpoint=span_midpoint(
                    candidate["answer_start"], candidate["answer_end"], lengths[candidate["doc_id"]]
                ),
            )
            for candidate in ordered[:queries_per_position]
        ]
    qrels = {query.query_id: {query.doc_id: 1} for query in queries}
    return Benchmark(corpus, queries, qrels)


def load_heldout(files: Sequence[Path], seed: int, queries_per_position: int) -> Loaded:
    """Read document records and query candidates and make the collection of `heldout_benchmark`.

    files: the two, in this order. Raises DataError naming file and record.
    """
    if len(files) != 2:
        raise DataError(
            f"a held-out collection is made of documents and candidates, found {len(files)} files."
        )
    documents, candidates = files
    offered = read_jsonl(
        candidates,
        required=("query_id", "doc_id", "position", "query", "answer_start", "answer_end"),
    )
    benchmark = heldout_benchmark(
        read_jsonl(documents, required=("doc_id", "text", "split")),
        offered,
        queries_per_position,
        seed,
    )
    check_documents(benchmark.documents, documents)
    check_queries(benchmark.queries, benchmark.documents, candidates)
    counts = {
        "candidates": len(offered),
        "candidates_left_out": len(offered) - len(benchmark.queries),
    }
    return Loaded(benchmark.documents, benchmark.queries, benchmark.qrels, counts=counts)
