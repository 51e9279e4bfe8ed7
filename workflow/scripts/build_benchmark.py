"""Build a test collection: documents, queries with known evidence, judgements."""

import logging
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

from adapter import start
from posbias.assets import find_asset
from posbias.benchmarks.loaders import load
from posbias.benchmarks.records import check_excluded
from posbias.corpus.segments import POSITIONS
from posbias.files import write_json, write_jsonl
from posbias.retrieval.trec import write_qrels

log = logging.getLogger("benchmark")


def main(
    files: list[Path],
    corpus: Path,
    queries: Path,
    qrels: Path,
    excluded: Path,
    summary: Path,
    kind: str,
    options: dict[str, Any],
    seed: int,
    asset: dict[str, str] | None = None,
) -> None:
    """Build a test collection of one kind from its files (paper: section 4.3).

    Args:
        files: files and folders of the data set; for heldout document records and candidates
        corpus: the documents to search, as JSON lines
        queries: the queries and where their evidence lies, as JSON lines
        qrels: the judgements, in TREC format
        excluded: documents that a query's run must not hold, by query, as JSON
        summary: how many documents and queries there are and what was left out, as JSON
        kind: heldout, squad, fineweb, posir, beir, leads or reversed
        options: those of the kind's loader
        seed: of the keyed hashes that choose queries and documents
        asset: package, file and sha256 of a packaged file that goes before the others, or none
    """
    packaged = [find_asset(**asset)] if asset else []
    loaded = load(kind, [*packaged, *files], options, seed)
    check_excluded(loaded.excluded, (q.query_id for q in loaded.queries), loaded.qrels, kind)
    write_qrels(qrels, loaded.qrels)
    written = write_jsonl(
        corpus, ({"doc_id": one.doc_id, "text": one.text} for one in loaded.documents)
    )
    write_jsonl(queries, (query.record() for query in loaded.queries))
    write_json(excluded, loaded.excluded)
    held = Counter(chain.from_iterable(query.positions for query in loaded.queries))
    write_json(
        summary,
        {
            "kind": kind,
            "documents": written,
            "queries": len(loaded.queries),
            "positions": {position: held[position] for position in POSITIONS if held},
            "judgements": sum(map(len, loaded.qrels.values())),
            "excluded": sum(map(len, loaded.excluded.values())),
            "counts": loaded.counts,
            "corpus_note": loaded.corpus_note,
            "options": options,
            "seed": seed,
        },
    )
    log.info("wrote %d queries on %d documents", len(loaded.queries), written)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
