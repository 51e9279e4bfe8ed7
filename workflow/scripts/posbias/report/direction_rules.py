"""What a directional claim is made of: numbers, the sign of what they make, and a verdict.

One rule takes the cells of either side, the paper's or ours, to one number that is above the
claim's threshold where the claim holds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from posbias.report.comparison_cells import Cell, Key

AGREES, OPPOSES, UNCLEAR, NOT_RUN = "agrees", "opposes", "unclear", "not run"
VERDICTS = (AGREES, UNCLEAR, OPPOSES, NOT_RUN)
DIGITS = 9  # decimals within which a number is on its threshold


@dataclass(frozen=True)
class Estimate:
    """A number, and the ends of its interval where it is known."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def bounded(self) -> bool:
        """Whether the interval is known."""
        return self.low is not None and self.high is not None


Rule = Callable[[Sequence[Estimate]], Estimate]


@dataclass(frozen=True)
class Claim:
    """A direction that the paper claims: which cells it needs and what it makes of them.

    It holds where the number lies above `threshold`. kind: claims of one text, told apart by
    benchmark, model, setting or place (`about`). printed: kind and decimals of the number.
    """

    kind: str
    item: str
    text: str
    about: tuple[str, ...]
    needs: tuple[Key, ...]
    rule: Rule
    printed: tuple[str, int] = ("ndcg", 3)
    threshold: float = 0.0

    @property
    def identifier(self) -> str:
        """A name that no other claim has."""
        return ".".join((self.kind, *self.about))

    def on(self, cells: Mapping[Key, Cell]) -> Estimate | None:
        """Return the claim's number on these cells; None where one of them is missing."""
        found = [cells.get(key) for key in self.needs]
        if any(cell is None for cell in found):
            return None
        return self.rule([Estimate(cell.value, cell.low, cell.high) for cell in found])


def minus(first: Estimate, second: Estimate) -> Estimate:
    """Return a difference; its interval is the widest that the two intervals allow."""
    value = first.value - second.value
    if not (first.bounded and second.bounded):
        return Estimate(value)
    return Estimate(value, first.low - second.high, first.high - second.low)


def highest(estimates: Sequence[Estimate]) -> Estimate:
    """Return the estimate with the highest value, with its own interval."""
    return max(estimates, key=lambda estimate: estimate.value)


def lowest(estimates: Sequence[Estimate]) -> Estimate:
    """Return the estimate with the lowest value, with its own interval."""
    return min(estimates, key=lambda estimate: estimate.value)


def magnitude(estimate: Estimate) -> Estimate:
    """Return the estimate without its sign."""
    if not estimate.bounded:
        return Estimate(abs(estimate.value))
    ends = (abs(estimate.low), abs(estimate.high))
    around_zero = estimate.low <= 0 <= estimate.high
    return Estimate(abs(estimate.value), 0.0 if around_zero else min(ends), max(ends))


def without_interval(estimate: Estimate) -> Estimate:
    """Return the value alone: its interval says nothing of differences within one row.

    The numbers of a row of Table 13 or Fig. 7 are means over the same documents, which vary far
    more from document to document than from place to place.
    """
    return Estimate(estimate.value)


def slope(estimates: Sequence[Estimate]) -> Estimate:
    """Return the least-squares slope of the values over 1, 2, 3 …, without an interval."""
    middle = (len(estimates) - 1) / 2
    mean = fmean(estimate.value for estimate in estimates)
    steps = [at - middle for at in range(len(estimates))]
    rise = sum(
        step * (estimate.value - mean) for step, estimate in zip(steps, estimates, strict=True)
    )
    return Estimate(rise / sum(step * step for step in steps))


def sign_of(estimate: Estimate, threshold: float) -> str:
    """Return +, − or 0: where the number lies from its threshold."""
    above = round(estimate.value - threshold, DIGITS)
    return "0" if above == 0 else "+" if above > 0 else "−"


def verdict_of(paper: Estimate, ours: Estimate | None, threshold: float) -> str:
    """Say whether ours has the paper's sign; unclear where our interval includes the threshold."""
    if ours is None:
        return NOT_RUN
    if ours.bounded and ours.low <= threshold <= ours.high:
        return UNCLEAR
    return AGREES if sign_of(ours, threshold) == sign_of(paper, threshold) else OPPOSES


def judged(
    claims: Sequence[Claim], paper: Mapping[Key, Cell], ours: Mapping[Key, Cell]
) -> list[dict[str, Any]]:
    """Return one row per claim: the paper's number and sign, ours, and whether they agree.

    Claims whose numbers the paper itself does not have are left out.
    """
    rows = []
    for claim in claims:
        theirs, mine = claim.on(paper), claim.on(ours)
        if theirs is None:
            continue
        paper_sign = sign_of(theirs, claim.threshold)
        our_sign = "" if mine is None else sign_of(mine, claim.threshold)
        rows.append(
            {
                "id": claim.identifier,
                "item": claim.item,
                "kind": claim.kind,
                "claim": claim.text,
                "about": ", ".join(claim.about),
                "threshold": claim.threshold,
                "paper_value": theirs.value,
                "paper_sign": paper_sign,
                "paper_holds": paper_sign == "+",
                "our_value": None if mine is None else mine.value,
                "our_low": None if mine is None else mine.low,
                "our_high": None if mine is None else mine.high,
                "our_sign": our_sign,
                "our_holds": None if mine is None else our_sign == "+",
                "verdict": verdict_of(theirs, mine, claim.threshold),
                "printed_kind": claim.printed[0],
                "printed_digits": claim.printed[1],
            }
        )
    return rows
