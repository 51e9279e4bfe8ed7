"""Judge the claims of both studies by our measures: records as JSON, and a table to read."""

import logging
from pathlib import Path

from adapter import start
from posbias.files import write_json, write_text
from posbias.report.claims import claims_text
from posbias.report.claims import judge_claims as judge_retrievers
from posbias.report.claims_html import claims_html
from posbias.report.listwise_claims import judge_listwise, listwise_claims_text
from posbias.report.listwise_records import read_listwise
from posbias.report.listwise_verdicts import Thresholds
from posbias.report.records import read_measures

log = logging.getLogger("claims")


def main(
    measures: list[Path],
    listwise: list[Path],
    claims: Path,
    text: Path,
    page: Path,
    mean_tolerance: float,
    first_slots: int,
    saturation_tolerance: float,
    alpha: float,
    single_share: float,
    note: str,
    grouping: str = "thirds",
) -> None:
    """Judge direction, PSI and mean of the retrievers, and RQ1 to RQ4 and the ablation.

    Args:
        measures: one measures.json per retriever and setting, in the order to print
        listwise: measures.json of the listwise study; none in a run without it
        claims: the claim records of both studies, as JSON
        text: the same as a plain-text table, counts first
        page: the same as a page for a browser
        mean_tolerance: nDCG@10 by which balanced training may trail the best skew
        first_slots: slots at either end of the input that count as first and as last
        saturation_tolerance: nDCG@10 by which PermSC may trail its best to count as saturated
        alpha: level of the listwise study's paired tests, after Holm's correction
        single_share: share of the single orders that must beat PermSC, 0 to 1
        note: what is to be kept in mind of the scale, for the page
        grouping: position groups behind PSI and means (thirds, characters or bins)
    """
    retrievers = judge_retrievers(read_measures(measures), mean_tolerance, grouping)
    thresholds = Thresholds(first_slots, saturation_tolerance, alpha, single_share)
    rerankers = [
        record for path in listwise for record in judge_listwise(read_listwise(path), thresholds)
    ]
    texts = [claims_text(retrievers), *([listwise_claims_text(rerankers)] if listwise else [])]
    table = "\n".join(texts)
    write_json(claims, retrievers + rerankers)
    write_text(text, table)
    write_text(page, claims_html(retrievers + rerankers, f"{note[:1].upper()}{note[1:]}."))
    log.info("verdicts:\n%s", table)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
