"""Make the figure of where evidence starts in standard benchmarks: PDF, CSV, and its sources."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.evidence_places import draw_places, places_frame, read_places
from posbias.report.outputs import About, write_outputs

TITLE = "Where the evidence starts in the documents of standard benchmarks"
VARIES = "counts of all evidence that has a place"

log = logging.getLogger("places")


def main(places: list[Path], pdf: Path, csv: Path, meta: Path, provenance: dict[str, Any]) -> None:
    """Make the histograms of the relative start of the evidence (paper, Figure 9).

    Args:
        places: one JSON per benchmark, in the order of the panels, at most six
        pdf: the figure
        csv: its numbers, one row per benchmark and bin
        meta: where the figure comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    records = read_places(places)
    frame = places_frame(records)
    about = About(TITLE, VARIES, None, provenance, tuple(places))
    write_outputs(
        about, frame, lambda footer: draw_places(records, frame, TITLE, footer), pdf, csv, meta
    )
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
