"""Set every published number of the retriever study beside ours: PDF, HTML, and CSVs."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.files import read_json, whole_file, write_text
from posbias.report import style
from posbias.report.comparison_html import comparison_html
from posbias.report.comparison_pages import TITLE, draw_comparison
from posbias.report.inconsistencies import read_notes
from posbias.report.name_map import name_map
from posbias.report.our_cells import Sources, our_cells, printed_labels
from posbias.report.paged import save_pages
from posbias.report.paper_cells import paper_cells
from posbias.report.paper_vs_ours import cell_frame, compare, direction_frame, summary
from posbias.report.provenance import footer_text, write_figure_meta

VARIES = "intervals as in the figures that the numbers come from"

log = logging.getLogger("comparison")


def main(
    published: Path,
    inconsistencies: Path,
    psi: list[Path],
    curves: list[Path],
    standard: list[Path],
    moving: list[Path],
    segments: list[Path],
    reversal: list[Path],
    filters: list[Path],
    pool: list[Path],
    audit: list[Path],
    pdf: Path,
    html: Path,
    csv: Path,
    directions: Path,
    meta: Path,
    provenance: dict[str, Any],
    comparison: dict[str, Any],
    places: list[Path] | None = None,
) -> None:
    """Compare this run with the paper; what was not run is said to be so, and is no error.

    Args:
        published: the paper's tables and figures as JSON
        inconsistencies: notes on them: slips, readings, open choices
        psi: CSVs of the PSI tables (Tables 3, 11)
        curves: CSVs of the position curves (Fig. 1)
        standard: CSV of the standard benchmarks (Tables 4, 14)
        moving: CSV of the moved evidence (Tables 5, 13)
        segments: CSV of the segments' cosines (Figs. 3, 7)
        reversal: CSV of the mirrored documents (Table 12)
        filters: CSV of the filter (Table 6)
        pool: CSV of the pool (Tables 1, 8)
        audit: CSV of the audit (Table 7)
        pdf: counts, directions, and all numbers on printed pages
        html: the same as one file
        csv: one row per published number
        directions: one row per claim, CSV
        meta: where the report comes from, as JSON
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
        comparison: compare, tolerance, mean_tolerance, retrievers and benchmarks by the paper's
            names, printed labels of our benchmarks, the audit's judge and the panel by their kinds
        places: CSV of the evidence's places (Fig. 9); none if it was not run
    """
    footer = footer_text(provenance, None, VARIES)
    sources = Sources(
        psi, curves, standard, moving, segments, reversal, filters, pool, audit, places or ()
    )
    paper = paper_cells(read_json(published))
    names = name_map(comparison, paper, printed_labels(sources))
    notes = read_notes(read_json(inconsistencies), paper)
    result = compare(paper, our_cells(sources, names, paper), names, notes, comparison)
    for path, frame in ((csv, cell_frame(result)), (directions, direction_frame(result))):
        with whole_file(path) as part:
            frame.to_csv(part, index=False, lineterminator="\n")
    write_text(html, comparison_html(result, footer))
    with style.print_style():
        save_pages(draw_comparison(result, footer), pdf, TITLE)
    inputs = [published, inconsistencies, *sources.files()]
    write_figure_meta(meta, TITLE, provenance, None, VARIES, inputs)
    total = summary(result)[-1]
    for name in ("classes", "verdicts"):
        log.info("%s", ", ".join(f"{n:,} {word}" for word, n in total[name].items()))


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
