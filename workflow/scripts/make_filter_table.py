"""Make the table of the filter: PDF, CSV, LaTeX, and where its numbers come from."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.filter_table import filter_table, read_filter
from posbias.report.outputs import About
from posbias.report.table_outputs import write_table

TITLE = "Candidate queries that reach each margin of the verification"
VARIES = "counts of all candidates"

log = logging.getLogger("filter")


def main(
    statistics: Path,
    pdf: Path,
    csv: Path,
    tex: Path,
    meta: Path,
    provenance: dict[str, Any],
    delta: float,
) -> None:
    """Make the table of the verification's filter (paper, Table 6).

    Args:
        statistics: candidates per stratum of margins and position, CSV
        pdf: the table as a printed page
        csv: its numbers, one row per stratum; shares are per cent
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
        delta: the margin that a query needs to be kept
    """
    frame = read_filter(statistics)
    about = About(TITLE, VARIES, None, provenance, (statistics,))
    write_table(about, frame, filter_table(frame, delta), pdf, csv, tex, meta, "tab:filter")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
