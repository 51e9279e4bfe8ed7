"""Make the table of evidence that retrievers do not see: PDF, CSV, LaTeX, and its sources."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.outputs import About
from posbias.report.table_outputs import write_table
from posbias.report.truncation import read_truncation, truncation_table

TITLE = "Evidence beyond the longest input of each retriever"
VARIES = "counts of all training pairs"

log = logging.getLogger("truncation")


def main(
    truncation: list[Path], pdf: Path, csv: Path, tex: Path, meta: Path, provenance: dict[str, Any]
) -> None:
    """Make the table of evidence cut off by bin, position and retriever (not in the paper).

    Args:
        truncation: one CSV per retriever
        pdf: the table as a printed page
        csv: its numbers, one row per retriever, bin and position
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    frame = read_truncation(truncation)
    about = About(TITLE, VARIES, None, provenance, tuple(truncation))
    write_table(about, frame, truncation_table(frame), pdf, csv, tex, meta, "tab:truncation")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
