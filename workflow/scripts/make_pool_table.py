"""Make the table of the retained pool and the budget: PDF, CSV, LaTeX, and its sources."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.outputs import About
from posbias.report.pool_table import pool_frame, pool_table, read_budget, read_cells
from posbias.report.table_outputs import write_table

TITLE = "Verified queries by length and position, and what is drawn of them"
VARIES = "counts of all verified queries"

log = logging.getLogger("pool")


def main(
    cells: Path,
    budget: Path,
    pdf: Path,
    csv: Path,
    tex: Path,
    meta: Path,
    provenance: dict[str, Any],
) -> None:
    """Make the table of the pool and the balanced settings (paper, Tables 1 and 8).

    Args:
        cells: verified queries per length bin and position, CSV
        budget: queries drawn per bin and setting, JSON
        pdf: the table as a printed page
        csv: its numbers, one row per bin, then the totals
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    drawn = read_budget(budget)
    frame = pool_frame(read_cells(cells), drawn)
    about = About(TITLE, VARIES, None, provenance, (cells, budget))
    write_table(about, frame, pool_table(frame, drawn), pdf, csv, tex, meta, "tab:pool")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
