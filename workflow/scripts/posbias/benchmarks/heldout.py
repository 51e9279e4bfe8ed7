"""A test collection from held-out documents and the query candidates made for them."""

from collections.abc import Iterable

from posbias.benchmarks.records import Benchmark, BenchmarkDocument, BenchmarkQuery
from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError
from posbias.keyed import keyed_order


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
    doc_ids = {document.doc_id for document in corpus}
    at: dict[str, list[dict]] = {position: [] for position in POSITIONS}
    for candidate in candidates:
        if candidate["position"] not in at:
            raise DataError(
                f"candidate {candidate['query_id']!r} has the position {candidate['position']!r}; "
                f"expected one of {', '.join(POSITIONS)}."
            )
        if candidate["doc_id"] in doc_ids:
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
                position=position,
                answer_start=candidate["answer_start"],
                answer_end=candidate["answer_end"],
            )
            for candidate in ordered[:queries_per_position]
        ]
    qrels = {query.query_id: {query.doc_id: 1} for query in queries}
    return Benchmark(corpus, queries, qrels)
