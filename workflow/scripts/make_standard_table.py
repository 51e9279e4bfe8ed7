"""Make the table of standard benchmarks: PDF, CSV, LaTeX, and where its numbers come from."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.outputs import About
from posbias.report.records import common_interval, read_measures
from posbias.report.standard_table import standard_frame, standard_table
from posbias.report.table_outputs import write_table

TITLE = "nDCG@10 on standard benchmarks, by training setting"
VARIES = "queries are resampled; training seed, data and models are fixed"

log = logging.getLogger("standard")


def main(
    measures: list[Path],
    pdf: Path,
    csv: Path,
    tex: Path,
    meta: Path,
    provenance: dict[str, Any],
    benchmarks: dict[str, str],
) -> None:
    """Make the table of nDCG@10 on standard benchmarks (paper, Table 14).

    Args:
        measures: one measures.json per benchmark, retriever and setting, and per benchmark and
            reference system
        pdf: the table as a printed page
        csv: its numbers, unrounded, one row per benchmark, retriever and setting
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
        benchmarks: label of each benchmark, in order
    """
    records = read_measures(measures)
    interval = common_interval(records)
    frame = standard_frame(records, benchmarks, provenance.get("retrievers"))
    about = About(TITLE, VARIES, interval, provenance, tuple(measures))
    write_table(about, frame, standard_table(frame, interval), pdf, csv, tex, meta, "tab:standard")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
