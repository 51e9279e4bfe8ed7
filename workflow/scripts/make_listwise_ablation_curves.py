"""Make the figure of what augmentation and IPS do to the curves over slots: PDF, CSV, sources."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.listwise_ablation_curves import ablation_curves, draw_ablation_curves
from posbias.report.listwise_records import read_listwise
from posbias.report.outputs import about_listwise, write_outputs

TITLE = "Augmentation and IPS: nDCG@10 by the slot of the relevant passage"
VARIES = "queries are resampled; seeds are averaged, data is fixed"

log = logging.getLogger("ablation_curves")


def main(measures: Path, pdf: Path, csv: Path, meta: Path, provenance: dict[str, Any]) -> None:
    """Make the curves over slots of the ablation, in four panels (listwise study, Fig. 6).

    Args:
        measures: measures.json of the listwise study
        pdf: the figure
        csv: its numbers, unrounded, one row per panel, model and slot
        meta: where the figure comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    record = read_listwise(measures)
    frame = ablation_curves(record)
    about = about_listwise(TITLE, VARIES, record, provenance, measures)
    draw = partial(draw_ablation_curves, record, frame, TITLE)
    write_outputs(about, frame, draw, pdf, csv, meta)
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
