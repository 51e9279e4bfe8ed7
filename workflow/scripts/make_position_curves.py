"""Make the figure of nDCG@10 by evidence position: PDF, CSV, and where its numbers come from."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.files import whole_file
from posbias.report import style
from posbias.report.position_curves import curve_frame, draw_position_curves
from posbias.report.provenance import footer_text, write_figure_meta
from posbias.report.records import common_interval, read_measures

TITLE = "nDCG@10 by position of the evidence, for each training setting"
VARIES = "queries are resampled; training seed, data and models are fixed"

log = logging.getLogger("curves")


def main(
    measures: list[Path], pdf: Path, csv: Path, meta: Path, provenance: dict[str, Any]
) -> None:
    """Make the curves of nDCG@10 over evidence positions (paper, Figure 1).

    Args:
        measures: one measures.json per retriever and setting, and per reference system
        pdf: the figure
        csv: its numbers, unrounded, one row per point
        meta: where the figure comes from, as JSON
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
    """
    records = read_measures(measures)
    interval = common_interval(records)
    footer = footer_text(provenance, interval)
    frame = curve_frame(records, provenance.get("retrievers"))
    with whole_file(csv) as part:
        frame.to_csv(part, index=False, lineterminator="\n")
    with style.print_style():
        style.save_pdf(draw_position_curves(frame, TITLE, footer), pdf, TITLE)
    write_figure_meta(meta, TITLE, provenance, interval, VARIES, measures)
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
