"""Compare runs of BM25 and public encoders with their published values."""

import logging
from pathlib import Path

from adapter import start
from posbias.files import read_json, write_json
from posbias.report.anchors import compare_with_anchors
from posbias.report.records import read_measures

log = logging.getLogger("anchors")


def main(anchors: Path, measures: list[Path], report: Path) -> None:
    """Hold the evaluation against published values; a difference is reported, never an error.

    Args:
        anchors: published values of systems that need no training, with sources and tolerances
        measures: one measures.json per system and benchmark
        report: counts by class, and one row per published value, as JSON
    """
    records = read_measures(measures) if measures else []
    result = compare_with_anchors(read_json(anchors), records)
    write_json(report, result)
    counts = ", ".join(f"{n} {name}" for name, n in result["counts"].items())
    log.info("this run against published values: %s", counts)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
