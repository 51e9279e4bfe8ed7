"""Make the short table of evidence that moves: PDF, CSV, LaTeX, and its sources."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.evidence_moving import moving_frame, read_moving, short_frame, short_table
from posbias.report.outputs import About
from posbias.report.table_outputs import write_table

TITLE = "Cosine as the evidence moves: peak, lowest and range"
VARIES = "pairs are resampled; training seed, data and models are fixed"

log = logging.getLogger("moving")


def main(
    moving: list[Path],
    pdf: Path,
    csv: Path,
    tex: Path,
    meta: Path,
    short: list[str],
    provenance: dict[str, Any],
) -> None:
    """Make the table of peak, lowest position and range of some retrievers (paper, Table 5).

    Args:
        moving: the measures of measure_evidence_moving, one per retriever
        pdf: the table as a printed page
        csv: its numbers, one row per retriever and setting
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        short: keys of the retrievers that it shows, in order; none: all
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
    """
    records = read_moving(moving, provenance.get("retrievers"))
    frame = short_frame(moving_frame(records), short)
    about = About(TITLE, VARIES, records[0]["interval"], provenance, tuple(moving))
    grid = short_table(frame, records)
    write_table(about, frame, grid, pdf, csv, tex, meta, "tab:evidence_moving_short")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
