"""The wide table as it is printed: digits, bold marks, intervals, and the notes under it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from posbias.report.provenance import interval_text
from posbias.report.psi_table import ALONE
from posbias.report.records import SETTING_LABELS
from posbias.report.signs import DASH, MINUS

GROUPING_NAMES = {
    "thirds": "the begin, middle and end thirds of the document",
    "characters": "the character buckets of the evidence",
    "bins": "the bins of the evidence's relative position",
}


@dataclass(frozen=True)
class Cell:
    """One printed number: bold or underlined or neither, its interval and mark (empty if none)."""

    text: str
    bold: bool = False
    interval: str = ""
    mark: str = ""
    underlined: bool = False


@dataclass(frozen=True)
class PrintedRow:
    """One printed row; a reference has a single nDCG cell and a single PSI cell."""

    label: str
    reference: bool
    ndcg: tuple[Cell, ...]
    psi: tuple[Cell, ...]
    reduction: str
    verdict: tuple[str, ...]


def fraction(value: float | None) -> str:
    """Print a share as the paper does, `.438`; a dash if there is none."""
    if value is None or pd.isna(value):
        return DASH
    text = f"{abs(value):.3f}"
    sign = MINUS if value < 0 and float(text) else ""
    return sign + (text[1:] if text.startswith("0") else text)


def percent(value: float | None) -> str:
    """Print a share of one as a percentage with one decimal, `56.8`; a dash if there is none."""
    if value is None or pd.isna(value):
        return DASH
    text = f"{abs(100 * value):.1f}"
    return (MINUS if value < 0 and float(text) else "") + text


def bold_marks(
    values: Sequence[float | None], highest: bool, digits: Callable[..., str] = fraction
) -> list[bool]:
    """Mark the best of the known values; those that look the same in print share the mark."""
    known = [value for value in values if not pd.isna(value)]
    if not known:
        return [False] * len(values)
    best = digits(max(known) if highest else min(known))
    return [not pd.isna(value) and digits(value) == best for value in values]


def span(low: float | None, high: float | None, digits: Callable[..., str] = fraction) -> str:
    """Print an interval, `.438–.512`, or `−.012 to .004` around zero; nothing if there is none."""
    if pd.isna(low) or pd.isna(high):
        return ""
    return f"{digits(low)}{' to ' if min(low, high) < 0 else DASH}{digits(high)}"


def printed_rows(wide: pd.DataFrame) -> list[PrintedRow]:
    """Return the rows of the table as text, best nDCG@10 and lowest PSI of each row bold."""
    rows = []
    for values in wide.to_dict("records"):
        settings = (ALONE,) if values["reference"] else tuple(SETTING_LABELS)
        ndcg = [values[f"ndcg_{setting}"] for setting in settings]
        psi = [values[f"psi_{setting}"] for setting in settings]
        bounds = [(values[f"psi_low_{name}"], values[f"psi_high_{name}"]) for name in settings]
        contest = not values["reference"]
        ndcg_bold = [contest and mark for mark in bold_marks(ndcg, highest=True)]
        psi_bold = [contest and mark for mark in bold_marks(psi, highest=False)]
        rows.append(
            PrintedRow(
                label=values["label"],
                reference=bool(values["reference"]),
                ndcg=tuple(Cell(fraction(v), b) for v, b in zip(ndcg, ndcg_bold, strict=True)),
                psi=tuple(
                    Cell(fraction(v), b, span(*bound))
                    for v, b, bound in zip(psi, psi_bold, bounds, strict=True)
                ),
                reduction=percent(values["reduction"]),
                verdict=(DASH,) if values["reference"] else tuple(values["verdict"].split("; ")),
            )
        )
    return rows


def count_range(values: Sequence[int]) -> str:
    """Print a count that is the same everywhere once, and else the span of the counts."""
    low, high = int(min(values)), int(max(values))
    return f"{low:,}" if low == high else f"{low:,}{DASH}{high:,}"


def table_notes(long: pd.DataFrame, interval: Mapping[str, Any]) -> list[str]:
    """Return the sentences under the table: settings, n, intervals, bold rule, direction."""
    grouping = long["grouping"].iloc[0]
    prefix = f"{grouping}_"
    sizes = [c for c in long.columns if c.startswith(prefix) and c.endswith("_n")]
    per_group = count_range([int(n) for n in long[sizes].to_numpy().ravel() if not pd.isna(n)])
    notes = [
        "MB, MM, ME, MU: trained with the evidence in the begin, the middle, the end, "
        "and in all three alike.",
        f"nDCG@10: mean over {GROUPING_NAMES.get(grouping, f'the groups {grouping!r}')}, "
        "each group weighing the same; PSI = 1 "
        f"{MINUS} min/max of the group means, 0 = no position bias.",
        f"n = {count_range(long['n'].tolist())} queries in each cell, {per_group} in a group.",
        f"Under each PSI its interval: {interval_text(interval)}.",
        "Bold: the row's highest nDCG@10 and lowest PSI, also when equal in print.",
        "PSI reduction: from the worst of MB, MM, ME to MU. "
        "Direction: yes if MB favours the begin and ME the end; close: its groups' "
        "intervals overlap.",
    ]
    if long["setting"].isna().any():
        notes.append("Below the inner rule: systems not trained here, with one value each.")
    reasons = sorted(set(long.loc[long["psi"].isna(), "psi_note"].dropna()))
    if reasons:
        notes.append(f"{DASH} in place of a PSI: {'; '.join(reasons)}.")
    return notes
