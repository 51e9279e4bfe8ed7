"""What a directional claim is made of: numbers, the sign of what they make, and a verdict.

One rule takes the cells of either side, the paper's or ours, to one number that is above the
claim's threshold where the claim holds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from posbias.report.comparison_cells import Cell, Key

AGREES, OPPOSES, UNCLEAR = "agrees", "opposes", "unclear"
UNTESTABLE, NOT_RUN = "not testable", "not run"
VERDICTS = (AGREES, UNCLEAR, OPPOSES, UNTESTABLE, NOT_RUN)
DIGITS = 9  # decimals within which a number is on its threshold
BOUNDS = (0.0, 100.0)  # %: where a share cannot fall or rise further


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
Parts = list[tuple[str, Estimate]]


@dataclass(frozen=True)
class Claim:
    """A direction that the paper claims: which cells it needs and what it makes of them.

    It holds where the number lies above `threshold`. kind: claims of one text, told apart by
    benchmark, model, setting or place (`about`). printed: kind and decimals of the number. parts:
    names and rules of the numbers of which the claim's is the lowest, if it is one of several.
    shares: keys of shares in %, of which ours have no direction where all are at one bound.
    """

    kind: str
    item: str
    text: str
    about: tuple[str, ...]
    needs: tuple[Key, ...]
    rule: Rule
    printed: tuple[str, int] = ("ndcg", 3)
    threshold: float = 0.0
    parts: tuple[tuple[str, Rule], ...] = ()
    shares: tuple[Key, ...] = ()

    @property
    def identifier(self) -> str:
        """A name that no other claim has."""
        return ".".join((self.kind, *self.about))

    def _found(self, cells: Mapping[Key, Cell]) -> list[Estimate] | None:
        found = [cells.get(key) for key in self.needs]
        if any(cell is None for cell in found):
            return None
        return [Estimate(cell.value, cell.low, cell.high) for cell in found]

    def on(self, cells: Mapping[Key, Cell]) -> Estimate | None:
        """Return the claim's number on these cells; None where one of them is missing."""
        found = self._found(cells)
        return None if found is None else self.rule(found)

    def parts_on(self, cells: Mapping[Key, Cell]) -> Parts:
        """Return the numbers that the claim's is the lowest of, by name; none if it is one."""
        found = self._found(cells)
        return [] if found is None else [(name, rule(found)) for name, rule in self.parts]

    def no_test(self, ours: Mapping[Key, Cell]) -> str:
        """Say why our cells cannot test the claim; empty where they can."""
        found = [ours[key] for key in self.shares if key in ours]
        values = {round(cell.value, DIGITS) for cell in found}
        if len(found) < max(2, len(self.shares)) or len(values) > 1 or not values <= set(BOUNDS):
            return ""
        return f"all {len(found)} of our shares are {values.pop():g} %, which leaves no direction"


def minus(first: Estimate, second: Estimate) -> Estimate:
    """Return a difference; its interval is the widest that the two intervals allow."""
    value = first.value - second.value
    if not (first.bounded and second.bounded):
        return Estimate(value)
    return Estimate(value, first.low - second.high, first.high - second.low)


def difference(found: Sequence[Estimate]) -> Estimate:
    """Return the first estimate less the second."""
    return minus(found[0], found[1])


def turned(sign: int, estimate: Estimate) -> Estimate:
    """Return the estimate, or 0 less it where `sign` is below 0."""
    return estimate if sign > 0 else minus(Estimate(0.0, 0.0, 0.0), estimate)


def _extreme(pick: Callable, estimates: Sequence[Estimate]) -> Estimate:
    """Return the extreme of values, and of each end of the intervals where all are known."""
    value = pick(estimate.value for estimate in estimates)
    if not all(estimate.bounded for estimate in estimates):
        return Estimate(value)
    ends = (pick(getattr(estimate, end) for estimate in estimates) for end in ("low", "high"))
    return Estimate(value, *ends)


def highest(estimates: Sequence[Estimate]) -> Estimate:
    """Return the highest value; its interval is from the highest low to the highest high."""
    return _extreme(max, estimates)


def lowest(estimates: Sequence[Estimate]) -> Estimate:
    """Return the lowest value; its interval is from the lowest low to the lowest high."""
    return _extreme(min, estimates)


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
    """Say whether ours has the paper's sign.

    It is unclear where our interval, or our number alone, includes the threshold.
    """
    if ours is None:
        return NOT_RUN
    if ours.bounded and ours.low <= threshold <= ours.high:
        return UNCLEAR
    signs = (sign_of(paper, threshold), sign_of(ours, threshold))
    if signs[0] == signs[1]:
        return AGREES
    return UNCLEAR if signs[1] == "0" else OPPOSES


def _row(
    claim: Claim, theirs: Estimate, paper: Mapping[Key, Cell], ours: Mapping[Key, Cell]
) -> dict[str, Any]:
    mine, reason = claim.on(ours), claim.no_test(ours)
    paper_sign = sign_of(theirs, claim.threshold)
    our_sign = "" if mine is None else sign_of(mine, claim.threshold)
    return {
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
        "our_holds": None if mine is None or reason else our_sign == "+",
        "our_interval": None if mine is None else mine.bounded,
        "verdict": UNTESTABLE if reason else verdict_of(theirs, mine, claim.threshold),
        "reason": reason,
        "words": claim.about,
        "paper_parts": claim.parts_on(paper),
        "our_parts": claim.parts_on(ours),
        "printed_kind": claim.printed[0],
        "printed_digits": claim.printed[1],
    }


def judged(
    claims: Sequence[Claim], paper: Mapping[Key, Cell], ours: Mapping[Key, Cell]
) -> list[dict[str, Any]]:
    """Return one row per claim: the paper's number and sign, ours, and whether they agree.

    Claims whose numbers the paper itself does not have are left out.
    """
    return [
        _row(claim, theirs, paper, ours)
        for claim in claims
        if (theirs := claim.on(paper)) is not None
    ]
