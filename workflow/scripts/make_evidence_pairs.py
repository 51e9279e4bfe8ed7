"""Choose queries and documents whose evidence can be moved, and take each document apart."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.files import write_json, write_jsonl
from posbias.representation.evidence_pairs import sample_pairs

log = logging.getLogger("moving")


def main(
    files: list[Path],
    pairs: Path,
    summary: Path,
    kind: str,
    options: dict[str, Any],
    limit: int | None,
    seed: int,
) -> None:
    """Choose pairs of a query and a document that holds its evidence (paper: section 6).

    Args:
        files: files and folders that the pairs are read from
        pairs: query, rest of the document and evidence passage to write, JSON lines
        summary: how many were found, kept, dropped and why, to write, JSON
        kind: benchmark, msmarco or table
        options: those of the kind
        limit: pairs to keep, chosen by keyed hash; null keeps all
        seed: of the hash
    """
    sample = sample_pairs(kind, files, options, limit, seed)
    write_jsonl(pairs, (pair.record() for pair in sample.pairs))
    lengths = {
        "rest": sum(len(pair.rest) for pair in sample.pairs) / len(sample.pairs),
        "passage": sum(len(pair.passage) for pair in sample.pairs) / len(sample.pairs),
    }
    write_json(
        summary,
        {
            "kind": kind,
            "options": options,
            "read": sample.read,
            "dropped": sample.dropped,
            "found": sample.found,
            "left_out_by_limit": sample.found - len(sample.pairs),
            "pairs": len(sample.pairs),
            "mean_characters": lengths,
            "limit": limit,
            "seed": seed,
        },
    )
    log.info(
        "%d of %d pairs kept; of %d queries read, %d dropped",
        len(sample.pairs), sample.found, sample.read, sum(sample.dropped.values()),
    )  # fmt: skip


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
