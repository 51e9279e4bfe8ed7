"""Make the figure of single shuffled orders and PermSC over several: PDF, CSV, and its sources."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.listwise_permutations import draw_permutations, permutation_frame
from posbias.report.listwise_records import read_listwise
from posbias.report.outputs import about_listwise, write_outputs

TITLE = "nDCG@10 of single shuffled orders, and of PermSC over several"
VARIES = "queries are resampled; the orders, data and models are fixed"

log = logging.getLogger("permutations")


def main(measures: Path, pdf: Path, csv: Path, meta: Path, provenance: dict[str, Any]) -> None:
    """Make the figure of shuffled orders and their aggregates (listwise study, Fig. 5).

    Args:
        measures: measures.json of the listwise study
        pdf: the figure
        csv: its numbers, unrounded, one row per collection, model, series and number of orders
        meta: where the figure comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    record = read_listwise(measures)
    frame = permutation_frame(record)
    about = about_listwise(TITLE, VARIES, record, provenance, measures)
    draw = partial(draw_permutations, record, frame, TITLE)
    write_outputs(about, frame, draw, pdf, csv, meta)
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
