"""Make the table of the segment-wise audit: PDF, CSV, LaTeX, and its sources."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.audit import audit_frame, audit_table, read_audit
from posbias.report.outputs import About
from posbias.report.table_outputs import write_table

TITLE = "Segment-wise audit of the query candidates, by consensus margin"
VARIES = "panel and judge fixed"

log = logging.getLogger("audit")


def main(
    audit: Path, pdf: Path, csv: Path, tex: Path, meta: Path, provenance: dict[str, Any]
) -> None:
    """Make the table of what a judge says of the segments, by margin (appendix B.3, Table 7).

    Args:
        audit: summary of the audit
        pdf: the table as a printed page
        csv: its numbers, one row a stratum, as shares of one
        tex: the table in LaTeX
        meta: where the table comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    record = read_audit(audit)
    frame = audit_frame(record)
    about = About(TITLE, VARIES, record["interval"], provenance, (audit,))
    write_table(about, frame, audit_table(frame, record), pdf, csv, tex, meta, "tab:audit")
    log.info("wrote %s, %s, %s and %s", pdf, csv, tex, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
