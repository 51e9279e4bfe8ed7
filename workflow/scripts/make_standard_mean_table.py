"""Make the table of standard benchmarks over all retrievers: PDF, CSV, LaTeX, and its sources."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.outputs import About
from posbias.report.records import read_measures
from posbias.report.standard_mean_table import mean_frame, mean_table
from posbias.report.standard_table import standard_frame
from posbias.report.table_outputs import write_table

TITLE = "nDCG@10 on standard benchmarks, averaged over the retrievers"
VARIES = "means of the retrievers' means, without intervals"

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
    """Make the table of nDCG@10 on standard benchmarks, over all retrievers (paper, Table 4).

    Args:
        measures: one measures.json per benchmark, retriever and setting, and per benchmark and
            reference system
        pdf: the table as a printed page
        csv: its numbers, unrounded, one row per setting (or reference) and benchmark
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
        benchmarks: label of each benchmark, in order
    """
    frame = standard_frame(read_measures(measures), benchmarks, provenance.get("retrievers"))
    means = mean_frame(frame)
    about = About(TITLE, VARIES, None, provenance, tuple(measures))
    write_table(about, means, mean_table(means, frame), pdf, csv, tex, meta, "tab:standard_mean")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
