"""Make the table of slots that augmentation covers: a PDF page, CSV, and where it comes from."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.grid import draw_grid
from posbias.report.listwise_coverage import coverage_frame, coverage_table
from posbias.report.listwise_records import read_listwise
from posbias.report.outputs import about_listwise, write_outputs

TITLE = "How many slots an item is shown at, by augmentation"
VARIES = "counts of the training lists, without intervals; nothing is resampled"

log = logging.getLogger("coverage")


def main(measures: Path, pdf: Path, csv: Path, meta: Path, provenance: dict[str, Any]) -> None:
    """Make the table of how evenly augmentation shows a list (listwise study, Pos-Aug).

    Args:
        measures: measures.json of the listwise study
        pdf: the table as a printed page
        csv: its numbers, unrounded, one row per augmentation and number of variants
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    record = read_listwise(measures)
    frame = coverage_frame(record)
    about = about_listwise(TITLE, VARIES, record, provenance, measures, intervals=False)
    draw = partial(draw_grid, coverage_table(frame), TITLE)
    write_outputs(about, frame, draw, pdf, csv, meta)
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
