"""Make the listwise study's Table 3: a PDF page, LaTeX, the numbers as CSV, and its sources."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.listwise_records import read_listwise
from posbias.report.listwise_table3 import table3, table3_frame
from posbias.report.outputs import about_listwise
from posbias.report.table_outputs import write_table

TITLE = "Ablation: augmentation, IPS and the language-model loss"
VARIES = "queries are resampled; seeds are averaged, data is fixed"

log = logging.getLogger("table3")


def main(
    measures: Path, pdf: Path, csv: Path, tex: Path, meta: Path, provenance: dict[str, Any]
) -> None:
    """Make the table of the ablation and of IPS alone (listwise study, Table 3).

    Args:
        measures: measures.json of the listwise study
        pdf: the table as a printed page
        csv: its numbers, unrounded, one row per model, then per augmentation with and without IPS
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    record = read_listwise(measures)
    frame = table3_frame(record)
    grid = table3(record, frame)
    about = about_listwise(TITLE, VARIES, record, provenance, measures)
    write_table(about, frame, grid, pdf, csv, tex, meta, "tab:listwise3")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
