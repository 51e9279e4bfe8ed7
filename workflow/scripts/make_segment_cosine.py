"""Make the heat maps of documents' cosines with their segments: PDF, CSV, and its sources."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.outputs import About, write_outputs
from posbias.report.segment_cosine import (
    TITLE,
    VARIES,
    common,
    draw_segment_cosine,
    read_segments,
    segment_frame,
)

log = logging.getLogger("segments")


def main(
    measures: list[Path],
    pdf: Path,
    csv: Path,
    meta: Path,
    provenance: dict[str, Any],
    benchmark: str | None = None,
) -> None:
    """Make the heat maps of all retrievers, untrained and under each setting (paper, Figure 7).

    Args:
        measures: one JSON per retriever
        pdf: the figure
        csv: its numbers, unrounded, one row per retriever, setting and segment
        meta: where the figure comes from, as JSON
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
        benchmark: name to print of the collection whose documents were measured
    """
    records = read_segments(measures)
    frame = segment_frame(records, provenance["retrievers"])
    title = f"{TITLE}, {benchmark}" if benchmark else TITLE
    about = About(title, VARIES, common(records, "interval"), provenance, tuple(measures))
    write_outputs(
        about, frame, lambda footer: draw_segment_cosine(frame, title, footer), pdf, csv, meta
    )
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
