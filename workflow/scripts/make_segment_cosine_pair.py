"""Make the heat maps of a few retrievers, each on its own scale: PDF, CSV, and its sources."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.errors import DataError
from posbias.report.outputs import About, write_outputs
from posbias.report.segment_cosine import (
    TITLE,
    VARIES,
    common,
    draw_segment_pair,
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
    pair: list[str],
    benchmark: str | None = None,
) -> None:
    """Make the heat maps of a few retrievers, each with a scale of its own (paper, Figure 3).

    Args:
        measures: one JSON per retriever; those that `pair` does not name are passed over
        pdf: the figure
        csv: its numbers, unrounded, one row per retriever, setting and segment
        meta: where the figure comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
        pair: retrievers to show, in order
        benchmark: name to print of the collection whose documents were measured
    """
    found = zip(measures, read_segments(measures), strict=True)
    shown = {path: record for path, record in found if record["retriever"] in pair}
    records = list(shown.values())
    missing = sorted(set(pair) - {record["retriever"] for record in records})
    if missing:
        raise DataError(
            f"no segments of {', '.join(missing)} are measured; add the retriever to "
            "retrievers.selected or take it from analyses.segments.pair."
        )
    frame = segment_frame(records, pair)
    title = f"{TITLE}, {benchmark}" if benchmark else TITLE
    about = About(title, VARIES, common(records, "interval"), provenance, tuple(shown))
    write_outputs(
        about, frame, lambda footer: draw_segment_pair(frame, title, footer), pdf, csv, meta
    )
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
