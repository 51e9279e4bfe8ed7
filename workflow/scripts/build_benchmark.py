"""Build the test collection: held-out documents, queries with known evidence, judgements."""

import logging
from collections import Counter
from pathlib import Path

from adapter import start
from posbias.benchmarks.heldout import heldout_benchmark
from posbias.benchmarks.records import check_documents, check_queries
from posbias.files import read_jsonl, write_json, write_jsonl
from posbias.retrieval.trec import write_qrels

log = logging.getLogger("benchmark")


def main(
    documents: Path,
    candidates: Path,
    corpus: Path,
    queries: Path,
    qrels: Path,
    summary: Path,
    queries_per_position: int,
    seed: int,
) -> None:
    """Build the test collection from held-out documents (paper: section 4.3).

    Args:
        documents: document records, of which those of the held-out split are taken
        candidates: query candidates for these documents
        corpus: the documents to search, as JSON lines
        queries: the queries and where their evidence lies, as JSON lines
        qrels: the judgements, in TREC format
        summary: how many documents and queries there are, as JSON
        queries_per_position: queries wanted for evidence in each of begin, middle and end
        seed: of the keyed hash that chooses them
    """
    benchmark = heldout_benchmark(
        read_jsonl(documents, required=("doc_id", "text", "split")),
        read_jsonl(
            candidates,
            required=("query_id", "doc_id", "position", "query", "answer_start", "answer_end"),
        ),
        queries_per_position,
        seed,
    )
    check_documents(benchmark.documents, documents)
    check_queries(benchmark.queries, benchmark.documents, candidates)
    write_qrels(qrels, benchmark.qrels)
    write_jsonl(corpus, (document.record() for document in benchmark.documents))
    write_jsonl(queries, (query.record() for query in benchmark.queries))
    write_json(
        summary,
        {
            "documents": len(benchmark.documents),
            "queries": Counter(query.position for query in benchmark.queries),
            "queries_per_position": queries_per_position,
            "seed": seed,
        },
    )
    log.info("wrote %d queries on %d documents", len(benchmark.queries), len(benchmark.documents))


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
