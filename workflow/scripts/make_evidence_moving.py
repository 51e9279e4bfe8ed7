"""Make the table of cosines as the evidence moves: PDF, CSV, LaTeX, and its sources."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.evidence_moving import moving_frame, moving_table, read_moving
from posbias.report.outputs import About
from posbias.report.table_outputs import write_table

TITLE = "Cosine of query and document as the evidence moves through the document"
VARIES = "pairs are resampled; training seed, data and models are fixed"

log = logging.getLogger("moving")


def main(
    moving: list[Path], pdf: Path, csv: Path, tex: Path, meta: Path, provenance: dict[str, Any]
) -> None:
    """Make the table of mean cosines by position, retriever and setting (paper, Table 13).

    Args:
        moving: the measures of measure_evidence_moving, one per retriever
        pdf: the table as a printed page
        csv: its numbers with intervals, one row per retriever, setting and position
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
    """
    records = read_moving(moving, provenance.get("retrievers"))
    frame = moving_frame(records)
    about = About(TITLE, VARIES, records[0]["interval"], provenance, tuple(moving))
    grid = moving_table(frame, records)
    write_table(about, frame, grid, pdf, csv, tex, meta, "tab:evidence_moving")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
