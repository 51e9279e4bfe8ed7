"""Make the reproducibility checklist of a run, and the list of licences, from its record."""

import csv
import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.errors import DataError
from posbias.files import read_json, whole_file, write_text
from posbias.report.checklist import Section, checklist_text, unanswered
from posbias.report.checklist_means import (
    code_section,
    cost_section,
    data_section,
    machine_section,
)
from posbias.report.checklist_method import (
    claims_section,
    models_in_loop_section,
    paper_section,
    seeds_section,
    settings_section,
    sizes_section,
)
from posbias.report.licences import COLUMNS
from posbias.report.run_provenance import FORMAT

TITLE = "Reproducibility checklist"
INTRODUCTION = """\
Made by the workflow from the record of the run ({record}) and the verdicts on the papers'
claims ({claims}): no answer is written by hand. "not recorded" marks what neither holds. Times
and memory are those of Snakemake's benchmark files: a job counts with its last run, jobs that ran
side by side are added, and of short jobs less CPU time and memory is seen than they took. Files of
stations that are not of this run do not count; those that an earlier configuration left of a
station that is still do."""

log = logging.getLogger("checklist")


def sections_of(
    record: dict[str, Any], claims: list[dict[str, Any]], paper_config: dict[str, Any]
) -> list[Section]:
    """Return the sections of a checklist in their order."""
    return [
        claims_section(claims),
        code_section(record),
        data_section(record),
        models_in_loop_section(record),
        settings_section(record),
        sizes_section(record),
        seeds_section(record),
        machine_section(record),
        cost_section(record),
        paper_section(record, paper_config),
    ]


def main(
    record: Path, claims: Path, checklist: Path, licences: Path, paper_config: dict[str, Any]
) -> None:
    """Make the reproducibility checklist of a run (not in the papers).

    Args:
        record: what is known of the run, JSON
        claims: the verdicts on the papers' claims, JSON
        checklist: the checklist to write, Markdown
        licences: licences of all data sets and models to write, CSV
        paper_config: the merged configuration of the paper's scale; {} to compare with none
    """
    known = read_json(record)
    if not isinstance(known, dict) or known.get("format") != FORMAT:
        raise DataError(
            f"{record}: no record of a run in format {FORMAT}; delete it and run again, or take a "
            "release made with this version."
        )
    sections = sections_of(known, read_json(claims), paper_config)
    introduction = INTRODUCTION.format(record=record.name, claims=claims.name)
    write_text(checklist, checklist_text(TITLE, introduction, sections))
    with whole_file(licences) as part, part.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(known.get("licences") or [])
    log.info("wrote %s and %s; %d answers are missing", checklist, licences,
             len(unanswered(sections)))  # fmt: skip


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
