"""Which of the listwise study's claims hold in our measures, and by how much."""

from collections.abc import Sequence
from typing import Any

from posbias.report.claim_records import counts_text
from posbias.report.listwise_ablation_claims import ablation_claims
from posbias.report.listwise_gain_claims import gain_claims
from posbias.report.listwise_order_claims import order_claims
from posbias.report.listwise_records import Record
from posbias.report.listwise_verdicts import KINDS, PAPER, Study, Thresholds

OVERALL = ".all"


def judge_listwise(record: Record, thresholds: Thresholds) -> list[dict[str, Any]]:
    """Return one record per claim and member, and a summary of each kind (RQ1 to RQ4, Table 3).

    The records have the fields of the retriever study's; `retriever` is null in all. A part that
    the measures lack makes its claims not measurable.
    """
    study = Study(record, thresholds)
    return [*order_claims(study), *gain_claims(study), *ablation_claims(study)]


def listwise_claims_text(claims: Sequence[dict[str, Any]]) -> str:
    """Return the verdicts as a plain-text table: counts, then every kind with its members."""
    single = [claim for claim in claims if not claim["id"].endswith(OVERALL)]
    lines = [f"Listwise study ({PAPER}), {len(single)} claims: {counts_text(single)}"]
    for kind in KINDS:
        members = [claim for claim in claims if claim["id"].split(".")[1] == kind]
        if not members:
            continue
        text = members[0]["claim"]
        lines += ["", f"{text[0].upper()}{text[1:]} ({members[0]['source']})"]
        names = [".".join(claim["id"].split(".")[2:]) for claim in members]
        width = max(map(len, names)) + 2 if any(names) else 0
        lines += [
            f"  {claim['status']:<15}{name:<{width}}{claim['explanation']}"
            for claim, name in zip(members, names, strict=True)
        ]
    return "\n".join(lines) + "\n"
