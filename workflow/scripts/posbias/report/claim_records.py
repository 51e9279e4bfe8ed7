"""What every verdict on a claim looks like, whichever study it is from."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

HELD, NOT_HELD, NOT_MEASURABLE = "held", "not held", "not measurable"


def claim_record(identifier: str, claim: str, source: str, **fields: Any) -> dict[str, Any]:
    """Return a verdict's record, not measurable unless `fields` say otherwise.

    retriever: whom the claim is about, None where it is about no single retriever. value and
    threshold have the claim's own unit. interval: {"low", "high"} of the value where it is known,
    or the intervals {"separate", "compared"} of the numbers that the value was made of.
    """
    record = {
        "id": identifier,
        "claim": claim,
        "source": source,
        "retriever": None,
        "status": NOT_MEASURABLE,
        "value": None,
        "threshold": None,
        "interval": None,
        "explanation": "",
    }
    return record | fields


def status_of(held: bool) -> str:
    """Return the status of a claim that could be measured."""
    return HELD if held else NOT_HELD


def compared(bounds: Mapping[str, list[float | None]], separate: bool) -> dict[str, Any] | None:
    """Return the intervals compared and whether they separate; None if a bound is unknown."""
    if any(bound is None for pair in bounds.values() for bound in pair):
        return None
    return {"separate": separate, "compared": dict(bounds)}


def separation(interval: Mapping[str, Any] | None) -> str:
    """Say in words what `compared` returned."""
    if interval is None:
        return "no intervals"
    return "intervals separate" if interval["separate"] else "intervals overlap"


def counts_text(claims: Iterable[Mapping[str, Any]]) -> str:
    """Return how many claims have each status, as "3 held, 1 not held, 0 not measurable"."""
    counts = Counter(claim["status"] for claim in claims)
    return ", ".join(f"{counts[status]} {status}" for status in (HELD, NOT_HELD, NOT_MEASURABLE))
