"""Make the figure of the relevant passage's slots in training: PDF, CSV, and its sources."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.listwise_records import read_listwise
from posbias.report.listwise_training_positions import draw_training_positions, training_frame
from posbias.report.outputs import about_listwise, write_outputs

TITLE = "Where the relevant passage stands in training lists"
VARIES = "counts of the training lists, without intervals; nothing is resampled"

log = logging.getLogger("training_positions")


def main(measures: Path, pdf: Path, csv: Path, meta: Path, provenance: dict[str, Any]) -> None:
    """Make the distribution of relevant passages over slots (listwise study, Fig. 3(a)).

    Args:
        measures: measures.json of the listwise study
        pdf: the figure
        csv: its numbers, unrounded, one row per augmentation and slot
        meta: where the figure comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    record = read_listwise(measures)
    frame = training_frame(record)
    about = about_listwise(TITLE, VARIES, record, provenance, measures, intervals=False)
    draw = partial(draw_training_positions, record, frame, TITLE)
    write_outputs(about, frame, draw, pdf, csv, meta)
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
