"""Find where in the relevant documents of a test collection the evidence starts."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.benchmarks.evidence_places import LOCATORS, locate
from posbias.benchmarks.evidence_records import read_judged
from posbias.files import write_json

log = logging.getLogger("evidence")


def main(
    corpus: Path,
    queries: Path,
    qrels: Path,
    files: list[Path],
    places: Path,
    kind: str,
    options: dict[str, Any],
    benchmark: str,
    label: str,
    seed: int,
) -> None:
    """Find where evidence starts, as shares of its documents (paper: section 5, Figure 9).

    Args:
        corpus: documents of a built test collection, as JSON lines
        queries: its queries, as JSON lines
        qrels: its judgements, in TREC format
        files: files and folders that mark the evidence; none for kind words
        places: the starts and what could not be placed, to write, as JSON
        kind: words, texts, scifact, hotpotqa, fever or climate_fever
        options: those of the kind
        benchmark: key of the collection in the config
        label: its name in print
        seed: of the run, for the record; nothing is drawn by chance
    """
    found = locate(kind, read_judged(corpus, queries, qrels), files, options)
    counts = found.counts()
    write_json(
        places,
        {
            "benchmark": benchmark,
            "label": label,
            "unit": LOCATORS[kind].unit,
            "starts": found.starts,
            "counts": counts,
            "kind": kind,
            "options": options,
            "seed": seed,
        },
    )
    log.info("%s: %d of %d starts found", benchmark, counts["located"], counts["considered"])


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
