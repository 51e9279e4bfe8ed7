"""Make the table of hyper-parameters: PDF, CSV, LaTeX, and where its values come from."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.described import read_described
from posbias.report.outputs import About
from posbias.report.table_outputs import write_table
from posbias.report.training_table import training_frame, training_table

TITLE = "Hyper-parameters of the training, here and in the paper"
VARIES = "values of the configuration"

log = logging.getLogger("training")


def main(
    described: list[Path],
    pdf: Path,
    csv: Path,
    tex: Path,
    meta: Path,
    provenance: dict[str, Any],
    training: dict[str, Any],
    seed: int,
) -> None:
    """Make the table of the training's hyper-parameters (paper, Table 10).

    Args:
        described: one description per retriever, JSON
        pdf: the table as a printed page
        csv: its values as printed, one row per hyper-parameter
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
        training: the training block of the config
        seed: the training's seed
    """
    records = read_described(described, provenance.get("retrievers"))
    frame = training_frame(training, seed, records)
    about = About(TITLE, VARIES, None, provenance, tuple(described))
    write_table(about, frame, training_table(frame), pdf, csv, tex, meta, "tab:training")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
