"""Make the queries of one listwise collection and their judgements."""

import logging
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

from adapter import start
from posbias.benchmarks.records import BenchmarkDocument, check_documents, check_queries
from posbias.corpus.leads import Passage
from posbias.files import read_jsonl, write_json, write_jsonl
from posbias.listwise.queries import make_queries
from posbias.models.encoder import encode_unit, load_encoder, set_threads
from posbias.retrieval.trec import write_qrels

log = logging.getLogger("queries")


def main(
    passages: Path,
    encoder: Path,
    queries: Path,
    qrels: Path,
    summary: Path,
    kind: str,
    cloze: dict[str, Any],
    limit: int,
    seed: int,
    batch_size: int,
    threads: int,
) -> None:
    """Make paraphrased cloze queries, or take titles as queries for their lead sections.

    Args:
        passages: JSON lines with doc_id, title and text
        encoder: SentenceTransformer folder that says which words are near each other
        queries: JSON lines to write
        qrels: judgements to write, in TREC format: the passage a query was made for
        summary: counts of what was kept and dropped, and why
        kind: cloze or titles
        cloze: options, swap_share and least_texts of the cloze queries
        limit: queries to keep, by keyed hash
        seed: seed of the keyed hashes
        batch_size: words encoded at a time
        threads: CPU threads
    """
    set_threads(threads)
    records = read_jsonl(passages, ("doc_id", "title", "text"))
    offered = [Passage(r["doc_id"], r["title"], r["text"]) for r in records]
    model = load_encoder(encoder)
    dropped: Counter = Counter()
    made = make_queries(
        kind,
        offered,
        lambda words: encode_unit(model, words, batch_size, "words"),
        cloze,
        limit,
        seed,
        dropped,
    )
    documents = [BenchmarkDocument(p.doc_id, p.text) for p in offered]
    check_documents(documents, passages)
    check_queries(made, documents, passages)
    write_jsonl(queries, (query.record() for query in made))
    write_qrels(qrels, {query.query_id: {query.doc_id: 1} for query in made})
    words = [len(query.text.split()) for query in made]
    write_json(
        summary,
        {
            "kind": kind,
            "queries": len(made),
            "words_mean": sum(words) / len(words),
            "positions": dict(sorted(Counter(chain(*(q.positions for q in made))).items())),
            "dropped": dict(sorted(dropped.items())),
        },
    )
    log.info("wrote %d queries to %s", len(made), queries)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
