"""Make the PSI table: a PDF page, a LaTeX table, the numbers as CSV, and where they come from."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.files import whole_file, write_text
from posbias.report import style
from posbias.report.latex import latex_table
from posbias.report.printed import printed_rows, table_notes
from posbias.report.provenance import footer_text, scale_text, write_figure_meta
from posbias.report.psi_table import long_frame, wide_frame
from posbias.report.records import common_interval, read_measures
from posbias.report.table_figure import draw_psi_table
from posbias.report.truncation import read_truncation, truncation_note

TITLE = "nDCG@10 and position sensitivity (PSI) by training setting"
VARIES = "queries are resampled; training seed, data and models are fixed"

log = logging.getLogger("table")


def main(
    measures: list[Path],
    truncation: list[Path],
    pdf: Path,
    csv: Path,
    tex: Path,
    meta: Path,
    provenance: dict[str, Any],
    benchmark: str,
    grouping: str,
) -> None:
    """Make the table of nDCG@10 and PSI (paper, Table 3).

    Args:
        measures: one measures.json per retriever and setting, and per reference system
        truncation: evidence beyond the longest input, one CSV per retriever
        pdf: the table as a printed page
        csv: its numbers, unrounded, one row per retriever and setting
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
        benchmark: its name as printed
        grouping: position groups behind PSI and means (thirds, characters or bins)
    """
    title = f"{TITLE}, {benchmark}"
    records = read_measures(measures)
    interval = common_interval(records)
    footer = footer_text(provenance, interval)
    long = long_frame(records, provenance.get("retrievers"), grouping)
    rows = printed_rows(wide_frame(long))
    notes = [*table_notes(long, interval), truncation_note(read_truncation(truncation))]
    caption = [*notes, f"{scale_text(provenance)}."]
    write_text(tex, latex_table(rows, title, caption))
    with whole_file(csv) as part:
        long.to_csv(part, index=False, lineterminator="\n")
    with style.print_style():
        style.save_pdf(draw_psi_table(rows, title, notes, footer), pdf, title)
    write_figure_meta(meta, title, provenance, interval, VARIES, [*measures, *truncation])
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
