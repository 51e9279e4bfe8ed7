"""The verdicts as one page that works alone in a browser: every claim, and whom it holds for."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from posbias.report.claim_records import HELD, NOT_HELD, NOT_MEASURABLE
from posbias.report.page_templates import html_page

TEMPLATE = "claims.html.j2"
LISTWISE = "listwise"  # how the identifiers of that study begin


def _who(claim: dict[str, Any]) -> str:
    """Return what tells a claim from others of its kind: a retriever, or its identifier's end."""
    parts = claim["id"].split(".")
    if parts[0] == LISTWISE:
        return ", ".join(parts[2:]) or "all"
    return claim["retriever"] or "all"


def claim_groups(claims: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the claims of one wording and place together, in the order of their first one.

    Each group has claim, source, counts by status, and rows of status, who and explanation.
    """
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for claim in claims:
        key = (claim["claim"], claim["source"])
        group = groups.setdefault(key, {"claim": key[0], "source": key[1], "rows": []})
        group["rows"].append(
            {
                "status": claim["status"],
                "who": _who(claim),
                "explanation": claim["explanation"],
            }
        )
    for group in groups.values():
        counts = Counter(row["status"] for row in group["rows"])
        group["counts"] = ", ".join(
            f"{counts[status]} {status}"
            for status in (HELD, NOT_HELD, NOT_MEASURABLE)
            if counts[status]
        )
    return list(groups.values())


def claims_html(claims: Sequence[dict[str, Any]], note: str) -> str:
    """Return the page.

    claims: records of both studies. note: what is to be kept in mind of the scale.
    """
    counts = Counter(claim["status"] for claim in claims)
    return html_page(
        TEMPLATE,
        note=note,
        counts=[(status, counts[status]) for status in (HELD, NOT_HELD, NOT_MEASURABLE)],
        groups=claim_groups(claims),
    )
