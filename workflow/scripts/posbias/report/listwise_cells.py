"""Printed cells of the listwise study's tables: estimates, differences, significance."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from posbias.report.printed import Cell, fraction, span
from posbias.report.signs import DASH, MINUS
from posbias.report.tables import Section

ABOVE, BELOW = "†", "‡"
POINTS = 1e4  # squared percentage points in one nDCG²


def known(value: Any) -> bool:
    """Say whether there is a number."""
    return value is not None and not pd.isna(value)


def excludes_zero(low: float | None, high: float | None) -> bool:
    """Say whether an interval is known and lies wholly on one side of 0."""
    return known(low) and known(high) and (low > 0 or high < 0)


def _with_plus(text: str, value: float | None) -> str:
    return f"+{text}" if known(value) and value > 0 and float(text) else text


def signed(value: float | None) -> str:
    """Print a difference with its sign, `+.012`; a dash if there is none."""
    return _with_plus(fraction(value), value)


def points(value: float | None, digits: int = 2) -> str:
    """Print a variance of nDCG as squared percentage points; a dash if there is none."""
    if not known(value):
        return DASH
    text = f"{abs(POINTS * value):.{digits}f}"
    return (MINUS if value < 0 and float(text) else "") + text


def signed_points(value: float | None) -> str:
    """Print a difference of variances with its sign, in squared percentage points."""
    return _with_plus(points(value), value)


def estimate_cell(
    row: Mapping[str, Any],
    name: str,
    digits: Callable[..., str] = fraction,
    bold: bool = False,
    mark: str = "",
) -> Cell:
    """Return the cell of the columns name, name_low and name_high of a row.

    The bounds of a signed number have a sign only below 0.
    """
    plain = {signed: fraction, signed_points: points}.get(digits, digits)
    bounds = span(row.get(f"{name}_low"), row.get(f"{name}_high"), plain)
    return Cell(digits(row.get(name)), bold, bounds, mark)


def significance_mark(p: float | None, difference: float | None, alpha: float) -> str:
    """Return † or ‡ for a difference above or below 0 whose p is below alpha; else nothing."""
    if not known(p) or not known(difference) or p >= alpha or difference == 0:
        return ""
    return ABOVE if difference > 0 else BELOW


def dash_note(sections: Iterable[Section]) -> list[str]:
    """Explain a dash, if there is one."""
    cells = (cell for section in sections for row in section.rows for cell in row)
    return [f"{DASH}: not measured."] if any(cell.text == DASH for cell in cells) else []
