"""Make the table of front and back evidence before and after mirroring: PDF, CSV, LaTeX, origin."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.outputs import About
from posbias.report.records import common_interval, read_measures
from posbias.report.reversal import cut_note, reversal_frame, reversal_table
from posbias.report.table_outputs import write_table

TITLE = "nDCG@10 of front and back evidence before and after mirroring the corpus"
VARIES = "queries are resampled; training seed, data and models are fixed"

log = logging.getLogger("reversal")


def main(
    original: list[Path],
    mirrored: list[Path],
    summary: Path,
    pdf: Path,
    csv: Path,
    tex: Path,
    meta: Path,
    provenance: dict[str, Any],
    benchmark: str,
    segments: int,
    at_each_end: int,
) -> None:
    """Make the table of the mirror reversal (paper: appendix E, Table 12).

    Args:
        original: one measures.json per retriever and setting, on the collection as it is
        mirrored: the same, on its mirrored copy
        summary: what the mirrored copy is, as JSON
        pdf: the table as a printed page
        csv: its numbers, unrounded, one row per retriever and setting
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
        benchmark: name of the original collection as printed
        segments: equal segments that a document is cut into
        at_each_end: how many of them are its front, and its back
    """
    before, after = read_measures(original), read_measures(mirrored)
    frame = reversal_frame(before, after, provenance.get("retrievers"))
    interval = common_interval([*before, *after])
    about = About(
        f"{TITLE}, {benchmark}", VARIES, interval, provenance, (*original, *mirrored, summary)
    )
    table = reversal_table(frame, segments, at_each_end, cut_note(summary))
    write_table(about, frame, table, pdf, csv, tex, meta, "tab:reversal")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
