"""Join the corpora of benchmarks that share documents, each document once."""

import logging
from pathlib import Path

from adapter import start
from posbias.benchmarks.joined_corpora import (
    find_union,
    joined_documents,
    member_sizes,
    share_counts,
)
from posbias.files import write_json, write_jsonl

log = logging.getLogger("join")


def main(
    corpora: list[Path],
    joined: Path,
    conflicts: str = "error",
    summary: Path | None = None,
) -> None:
    """Join corpora, so that a document that several hold is encoded once.

    Args:
        corpora: documents of each benchmark, as JSON lines
        joined: every document once, with the numbers of its corpora and its row in each
        conflicts: what an id with two texts is: error, or apart for two documents
        summary: documents of each corpus, joined and shared, as JSON
    """
    union = find_union(corpora, conflicts)
    counts = share_counts(union)
    write_jsonl(joined, (document.record() for document in joined_documents(corpora, union)))
    if summary:
        write_json(summary, {"corpora": member_sizes(union, map(str, corpora)), **counts})
    log.info("joined %d corpora: %s", len(corpora), counts)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
