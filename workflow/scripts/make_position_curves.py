"""Make a figure of nDCG@10 by evidence position: PDF, CSV, and where its numbers come from."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.outputs import About, write_outputs
from posbias.report.position_curves import curve_frame, draw_position_curves
from posbias.report.records import common_interval, read_measures

VARIES = "queries are resampled; training seed, data and models are fixed"

log = logging.getLogger("curves")


def main(
    measures: list[Path],
    pdf: Path,
    csv: Path,
    meta: Path,
    provenance: dict[str, Any],
    benchmarks: dict[str, dict[str, Any]],
    title: str,
    labels: dict[str, str] | None = None,
) -> None:
    """Make the curves of nDCG@10 over evidence positions (paper, Figures 1, 2 and 8).

    Args:
        measures: one measures.json per benchmark, retriever (or pooling variant) and setting, and
            per benchmark and reference system
        pdf: the figure
        csv: its numbers, unrounded, one row per point
        meta: where the figure comes from, as JSON
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
        benchmarks: label and groupings (characters, thirds, bins) of each benchmark, in order
        title: what the figure shows, as printed above it
        labels: names of retrievers in the legend, where they are not those of the measures
    """
    records = read_measures(measures)
    order = provenance.get("retrievers")
    frame = curve_frame(records, benchmarks, order)
    frame["label"] = [
        (labels or {}).get(name, label)
        for name, label in zip(frame["retriever"], frame["label"], strict=True)
    ]
    about = About(title, VARIES, common_interval(records), provenance, tuple(measures))
    draw = partial(draw_position_curves, frame, benchmarks, order, title)
    write_outputs(about, frame, draw, pdf, csv, meta)
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
