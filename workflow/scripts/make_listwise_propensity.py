"""Make the heat map of the baseline's propensities: PDF, CSV, and where its numbers come from."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.listwise_propensity import draw_propensity, propensity_frame
from posbias.report.listwise_records import read_listwise
from posbias.report.outputs import about_listwise, write_outputs

TITLE = "Propensity ω of the baseline: where a slot of the input comes out"
VARIES = "counts over shuffled lists, without intervals; another seed, another matrix"

log = logging.getLogger("propensity")


def main(measures: Path, pdf: Path, csv: Path, meta: Path, provenance: dict[str, Any]) -> None:
    """Make the heat map of ω over slots and ranks (listwise study, eq. 5).

    Args:
        measures: measures.json of the listwise study
        pdf: the figure
        csv: its numbers, unrounded, one row per seed, slot and rank
        meta: where the figure comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    record = read_listwise(measures)
    frame = propensity_frame(record)
    about = about_listwise(TITLE, VARIES, record, provenance, measures, intervals=False)
    draw = partial(draw_propensity, record, TITLE)
    write_outputs(about, frame, draw, pdf, csv, meta)
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
