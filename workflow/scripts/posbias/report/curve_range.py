"""What an axis of nDCG@10 shows, and the sentences on what it leaves out (Figures 1, 2, 8)."""

from collections.abc import Sequence

import pandas as pd

from posbias.report.printed import count_range, fraction, span

LEAST_RANGE = 0.06  # nDCG that an axis spans at least, so that two decimals mark it
SPARE = 0.04  # of what is shown, left free above and below
PARTS = {"characters": "range of characters", "thirds": "third", "bins": "bin"}
Rows = Sequence[tuple[str, pd.DataFrame]]  # a row of panels: name of its benchmark, its points


def axis_range(points: pd.DataFrame) -> tuple[float, float]:
    """Return lower and upper end of the axis of a row of panels.

    It holds the retrievers with their intervals, and a little more; references, which would
    squeeze the lines, only as far as they lie below its upper end.
    """
    trained = points[points["setting"].notna()]
    high = trained[["mean", "high"]].max().max()
    low = min(trained[["mean", "low"]].min().min(), points["mean"].min())
    spare = max(SPARE * (high - low), (LEAST_RANGE - (high - low)) / 2)
    return low - spare, high + spare


def _above(points: pd.DataFrame) -> list[str]:
    """Return the references that leave an axis at its upper end, and the range of each."""
    _, end = axis_range(points)
    told = []
    for label, means in points[points["setting"].isna()].groupby("label", sort=False)["mean"]:
        if means.max() > end:
            least, most = (fraction(value) for value in (means.min(), means.max()))
            values = least if least == most else span(means.min(), means.max())
            told.append(f"{'' if means.min() > end else 'in part '}{label} ({values})")
    return told


def _of(rows: Rows, name: str) -> str:
    """Return the words that tell a benchmark from the others of a figure; none if it is alone."""
    return f" of {name}" if len({name for name, _ in rows}) > 1 else ""


def range_note(rows: Rows) -> list[str]:
    """Return the sentence on the references above the axes, with their ranges; none: nothing."""
    told = []
    for name, points in rows:
        above = " and ".join(_above(points))
        over = f" over {points['grouping'].iloc[0]}{_of(rows, name)}" if len(rows) > 1 else ""
        told += [above + over] if above else []
    if not told:
        return []
    return [
        "Axes end a little above the highest retriever (end of its interval); above that end lie "
        f"{'; '.join(told)}."
    ]


def queries_note(rows: Rows) -> str:
    """Return the sentence on how many queries the smallest and the largest group of a row hold."""
    told = []
    for name, points in rows:
        part = PARTS[points["grouping"].iloc[0]]
        told.append(f"{count_range(points['n'].tolist())} in a {part}{_of(rows, name)}")
    return f"Queries: {'; '.join(told)}."
