"""Judge the retriever study's claims by our measures: records as JSON, and a table to read."""

import logging
from pathlib import Path

from adapter import start
from posbias.files import write_json, write_text
from posbias.report.claims import claims_text
from posbias.report.claims import judge_claims as judge
from posbias.report.records import read_measures

log = logging.getLogger("claims")


def main(
    measures: list[Path],
    claims: Path,
    text: Path,
    mean_tolerance: float,
    grouping: str = "thirds",
) -> None:
    """Judge direction, PSI and mean (paper: abstract, Table 3, Figure 1).

    Args:
        measures: one measures.json per retriever and setting, in the order to print
        claims: the claim records, as JSON
        text: the same as a plain-text table, counts first
        mean_tolerance: nDCG@10 by which balanced training may trail the best skew
        grouping: position groups behind PSI and means (thirds or characters)
    """
    records = judge(read_measures(measures), mean_tolerance, grouping)
    table = claims_text(records)
    write_json(claims, records)
    write_text(text, table)
    log.info("verdicts:\n%s", table)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
