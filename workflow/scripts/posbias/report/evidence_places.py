"""The paper's Figure 9: where evidence starts in the documents of standard benchmarks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from posbias.errors import DataError
from posbias.files import read_json
from posbias.report import style
from posbias.report.panels import Page, Words, level_grid, new_page
from posbias.report.printed import fraction, percent

BINS = 20  # our choice: the paper states no width
EDGES = tuple(number / BINS for number in range(BINS + 1))
MOST = 6  # benchmarks on a page
PANEL_HEIGHT = 1.45  # inches
LEFT, BETWEEN = 0.7, 0.8  # inches: room for the counts beside the panels
BAR = "#a9cfe6"
MEAN = {"color": "#d40000", "linewidth": 1.5, "linestyle": (0, (5, 1.8))}
THIRDS = {"color": "#5a5a5a", "linewidth": 1.1, "linestyle": (0, (1, 1.6))}
NAMES = ("mean", "borders of the thirds (1/3, 2/3)")
BY_WORDS = "words"  # the kind whose evidence nobody marked
TIES = {
    "first": "A tie goes to the earliest sentence, which favours the beginning.",
    "skip": "Documents whose best sentences tie are left out.",
}
TITLE_NOTE = (
    "A query that carries its document's title, as one of title and description does, favours the "
    "beginning too: the first sentence often repeats the title."
)
FIELDS = ("benchmark", "label", "unit", "starts", "counts")
COUNTED = ("considered", "located", "dropped")


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _ties(record: Mapping[str, Any]) -> Any:
    """Return what a tie of sentences did; records leave out the options that are the default."""
    return record.get("options", {}).get("count_ties", "first")


def _check(record: Any, path: Path) -> None:
    if not isinstance(record, Mapping) or any(field not in record for field in FIELDS):
        raise DataError(f"{path}: expected an object of {', '.join(FIELDS)}; locate it again.")
    starts, counts = record["starts"], record["counts"]
    if not isinstance(starts, list) or not starts or not all(map(_is_share, starts)):
        raise DataError(f"{path}: starts must be one number or more in [0, 1]; locate it again.")
    if not isinstance(counts, Mapping) or any(field not in counts for field in COUNTED):
        raise DataError(f"{path}: counts lack one of {', '.join(COUNTED)}; locate it again.")
    if record.get("kind") == BY_WORDS and _ties(record) not in TIES:
        raise DataError(f"{path}: options.count_ties is not one of {', '.join(TIES)}.")


def read_places(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Read the places of 1 to 6 benchmarks, in the order given (Fig. 9).

    Raises DataError naming the file: another shape, a start outside [0, 1], a benchmark twice; and
    for none or too many of them.
    """
    if not 1 <= len(paths) <= MOST:
        raise DataError(f"evidence_places: {len(paths)} benchmarks; the figure shows 1 to {MOST}.")
    records: dict[str, dict[str, Any]] = {}
    for path in paths:
        record = read_json(path)
        _check(record, path)
        if record["benchmark"] in records:
            raise DataError(f"{path}: benchmark {record['benchmark']!r} is given twice.")
        records[record["benchmark"]] = record
    return list(records.values())


def places_frame(records: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row for each benchmark and bin: n, mean start, borders and count (Fig. 9).

    Bins are half-open; the last one holds a start of 1 as well.
    """
    rows = []
    for record in records:
        starts = np.asarray(record["starts"], dtype=float)
        counts, _ = np.histogram(starts, bins=EDGES)
        rows += [
            {
                "benchmark": record["benchmark"],
                "label": record["label"],
                "n": len(starts),
                "mean": float(starts.mean()),
                "bin_low": low,
                "bin_high": high,
                "count": int(count),
            }
            for low, high, count in zip(EDGES[:-1], EDGES[1:], counts, strict=True)
        ]
    return pd.DataFrame(rows)


def _reasons(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} ({n:,})" for name, n in counts.items() if n)


def thirds_text(starts: Sequence[float]) -> str:
    """Return how many starts lie in each third of the document, a border in the third above it."""
    first = sum(start < 1 / 3 for start in starts)
    second = sum(1 / 3 <= start < 2 / 3 for start in starts)
    return (
        f"{first:,} ({percent(first / len(starts))} %) begin in the first third, {second:,} in the "
        f"second, {len(starts) - first - second:,} in the last"
    )


def _words_notes(record: Mapping[str, Any]) -> list[str]:
    """Return what favours the beginning where the sentence with most words is the evidence."""
    if record.get("kind") != BY_WORDS:
        return []
    return [TIES[_ties(record)], TITLE_NOTE]


def places_notes(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the sentences under the figure: what a start is, in which third how many lie.

    And what was left out and why, and what in the way of finding evidence favours the beginning.
    """
    notes = [
        "The start of each piece of evidence as a share of its document's characters, in "
        f"{BINS} bins of equal width."
    ]
    for record in records:
        counts = record["counts"]
        dropped, told = _reasons(counts["dropped"]), _reasons(counts.get("told", {}))
        text = f"{record['label']}: {record['unit']}, {counts['located']:,} of "
        text += f"{counts['considered']:,} placed; {thirds_text(record['starts'])}"
        text += f"; left out: {dropped}" if dropped else ""
        notes.append(text + (f"; counted: {told}." if told else "."))
        notes += _words_notes(record)
    return notes


def _title(panel: Axes, rows: pd.DataFrame, width: float) -> None:
    row = rows.iloc[0]
    text = f"{row['label']} (n = {row['n']:,}, mean {fraction(row['mean'])})"
    fits = style.text_width(text, style.BODY) <= width
    panel.set_title(text, fontsize=style.BODY if fits else style.SMALL)


def _draw_panel(panel: Axes, rows: pd.DataFrame) -> list[Artist]:
    panel.bar(
        rows["bin_low"],
        rows["count"],
        width=rows["bin_high"] - rows["bin_low"],
        align="edge",
        color=BAR,
        edgecolor="white",
        linewidth=0.4,
        zorder=2,
    )
    for border in (1 / 3, 2 / 3):
        thirds = panel.axvline(border, zorder=3, **THIRDS)
    mean = panel.axvline(rows["mean"].iloc[0], zorder=4, **MEAN)
    panel.set_xlim(0, 1)
    panel.set_ylim(bottom=0)
    panel.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    level_grid(panel)
    return [mean, thirds]


def _shape(count: int) -> tuple[int, int]:
    columns = min(count, 2)
    return -(-count // columns), columns


def draw_places(
    records: Sequence[Mapping[str, Any]], frame: pd.DataFrame, title: str, footer: str
) -> Figure:
    """Return the figure: a histogram for each benchmark, two side by side (Fig. 9).

    Call within `style.print_style()`.
    """
    rows, columns = _shape(len(records))
    words = Words(title, places_notes(records), footer, NAMES)
    page: Page = new_page(
        words, rows, columns, PANEL_HEIGHT, titles=True, share_y=False, left=LEFT, between=BETWEEN
    )
    width = (style.PAGE_WIDTH - LEFT - 0.1 - (columns - 1) * BETWEEN) / columns
    panels = list(page.panels.flat)
    samples: list[Artist] = []
    for panel, (_, of_one) in zip(panels, frame.groupby("benchmark", sort=False), strict=False):
        samples = _draw_panel(panel, of_one)
        _title(panel, of_one, width)
        panel.set_xlabel("Relative start position")
        panel.set_ylabel("Count")
    for panel in panels[len(records) :]:
        panel.set_visible(False)
    page.draw_legend(samples)
    return page.figure
