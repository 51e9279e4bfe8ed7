"""Make the table of the retrievers: PDF, CSV, LaTeX, and where its numbers come from."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.described import read_described
from posbias.report.outputs import About
from posbias.report.retrievers_table import retrievers_frame, retrievers_table
from posbias.report.table_outputs import write_table

TITLE = "The retrievers"
VARIES = "read from the checkpoints"

log = logging.getLogger("retrievers")


def main(
    described: list[Path], pdf: Path, csv: Path, tex: Path, meta: Path, provenance: dict[str, Any]
) -> None:
    """Make the table of retrievers and checkpoints (paper, Tables 2 and 9).

    Args:
        described: one description per retriever, JSON
        pdf: the table as a printed page
        csv: its numbers, one row per retriever
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed, commit, and the retrievers in order
    """
    frame = retrievers_frame(read_described(described, provenance.get("retrievers")))
    about = About(TITLE, VARIES, None, provenance, tuple(described))
    write_table(about, frame, retrievers_table(frame), pdf, csv, tex, meta, "tab:retrievers")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
