"""Make the figure of nDCG@10 by the slot of the relevant passage: PDF, CSV, and its sources."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.listwise_position_curves import draw_main_curves, main_curves
from posbias.report.listwise_records import read_listwise
from posbias.report.outputs import about_listwise, write_outputs

TITLE = "Listwise reranking: nDCG@10 by the slot of the relevant passage"
VARIES = "queries are resampled; seeds are averaged, data is fixed"

log = logging.getLogger("position_curves")


def main(measures: Path, pdf: Path, csv: Path, meta: Path, provenance: dict[str, Any]) -> None:
    """Make the curves of nDCG@10 over the slots of the input (listwise study, Fig. 4).

    Args:
        measures: measures.json of the listwise study
        pdf: the figure
        csv: its numbers, unrounded, one row per system and slot
        meta: where the figure comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    record = read_listwise(measures)
    frame = main_curves(record)
    about = about_listwise(TITLE, VARIES, record, provenance, measures)
    draw = partial(draw_main_curves, record, frame, TITLE)
    write_outputs(about, frame, draw, pdf, csv, meta)
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
