"""Make the listwise study's Table 1: a PDF page, LaTeX, the numbers as CSV, and its sources."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.listwise_records import read_listwise
from posbias.report.listwise_table1 import table1, table1_frame
from posbias.report.outputs import about_listwise
from posbias.report.table_outputs import write_table

TITLE = "Listwise reranking on each collection, in the first stage's order and in random orders"
VARIES = "queries are resampled; seeds are averaged, data is fixed"

log = logging.getLogger("table1")


def main(
    measures: Path,
    pdf: Path,
    csv: Path,
    tex: Path,
    meta: Path,
    provenance: dict[str, Any],
    alpha: float,
) -> None:
    """Make the table of systems, collections and input orders (listwise study, Table 1).

    Args:
        measures: measures.json of the listwise study
        pdf: the table as a printed page
        csv: its numbers, unrounded, one row per collection and system
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
        alpha: level of the paired tests, after Holm's correction, at which a mark is set
    """
    record = read_listwise(measures)
    frame = table1_frame(record)
    grid = table1(record, frame, alpha)
    about = about_listwise(TITLE, VARIES, record, provenance, measures)
    write_table(about, frame, grid, pdf, csv, tex, meta, "tab:listwise1")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
