"""The listwise study's Figure 5: single shuffled orders, and PermSC over ever more of them."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posbias.errors import DataError
from posbias.report import style
from posbias.report.listwise_records import (
    AGAIN,
    Record,
    collection_label,
    label_of,
    permutation_sets,
    role_keys,
)
from posbias.report.panels import Words, level_grid, new_page, slot_axis
from posbias.report.printed import count_range

SINGLE, BORDA, KEMENY = "single", "borda", "kemeny"
SERIES = {SINGLE: "one order", BORDA: "PermSC, Borda", KEMENY: "PermSC, Kemeny"}
COLOURS = (style.COLOURS[1], style.COLOURS[2])
MARKERS = ("s", "o")
MOST_COLUMNS = 3
PANEL_HEIGHT = 2.2  # inches


def _series_rows(found: Mapping[str, Any], series: str) -> list[dict[str, Any]]:
    counted = "order" if series == SINGLE else "m"
    return [
        {"series": series, "orders": at[counted]}
        | {name: at.get(name) for name in ("mean", "low", "high")}
        for at in found.get(series) or []
    ]


def permutation_frame(record: Record) -> pd.DataFrame:
    """Return one row for each collection, depth, model, series and number of orders, not rounded.

    series: `single`, `orders` is then the number of the shuffled order; `borda` and `kemeny`,
    `orders` is how many are aggregated. Raises DataError if neither model was measured.
    """
    rows = []
    for collection, found in permutation_sets(record):
        label = collection_label(record, collection)
        named = {"collection": collection, "collection_label": label}
        named |= {name: found.get(name) for name in ("depth", "n")}
        for key in role_keys(record):
            system = (found.get("systems") or {}).get(key) or {}
            for series in SERIES:
                model = {"system": key, "label": label_of(record, key)}
                rows += [named | model | row for row in _series_rows(system, series)]
    if not rows:
        raise DataError(f"neither model has answers to shuffled orders; {AGAIN}")
    return pd.DataFrame(rows).astype(dict.fromkeys(("mean", "low", "high"), "float64"))


def _look(role: int, series: str) -> dict[str, Any]:
    look = {"color": COLOURS[role], "marker": MARKERS[role], "linewidth": 1.1, "markersize": 3.4}
    if series == SINGLE:
        return look | {"linestyle": "none", "markerfacecolor": "white", "markeredgewidth": 0.8}
    if series == BORDA:
        return look | {"linestyle": "-", "markeredgewidth": 0.3}
    return look | {"linestyle": (0, (4, 1.6)), "marker": "^" if role else "v"}


def _draw_last_interval(panel: Axes, last: pd.Series, role: int) -> None:
    """Draw the interval of an aggregate of all orders as a bar to the right of the line."""
    panel.errorbar(
        last["orders"] + 0.6 + 0.5 * role,
        last["mean"],
        yerr=[[last["mean"] - last["low"]], [last["high"] - last["mean"]]],
        color=COLOURS[role],
        marker=MARKERS[role],
        markersize=2.4,
        elinewidth=0.9,
        capsize=1.5,
    )


def _draw_panel(panel: Axes, rows: pd.DataFrame, roles: tuple[str, str]) -> dict[str, Artist]:
    samples = {}
    for (key, series), points in rows.groupby(["system", "series"], sort=False):
        role = roles.index(key)
        (line,) = panel.plot(points["orders"], points["mean"], **_look(role, series))
        samples[f"{points['label'].iloc[0]}, {SERIES[series]}"] = line
        if series == BORDA:
            _draw_last_interval(panel, points.iloc[-1], role)
    return samples


def _notes(frame: pd.DataFrame) -> list[str]:
    sizes = frame["n"].dropna()
    notes = [
        "Open marks: each shuffled order alone, by its number.",
        "Lines: PermSC, the aggregate of so many of them. Bars: intervals of the last Borda means.",
    ]
    if (frame["series"] == KEMENY).any():
        notes.append("Kemeny, the optimal aggregate, for lists of one window only.")
    if len(sizes):
        notes.insert(0, f"{count_range(sizes.tolist())} queries.")
    return notes


def _panel_title(row: pd.Series) -> str:
    depth = "" if pd.isna(row["depth"]) else f", top-{int(row['depth'])}"
    return f"{row['collection_label']}{depth}"


def draw_permutations(record: Record, frame: pd.DataFrame, title: str, footer: str) -> Figure:
    """Return a panel for each collection and number of candidates, both models in each (Fig. 5).

    Call within `style.print_style()`.
    """
    roles = role_keys(record)
    pairs = frame.drop_duplicates(["system", "series"])
    names = [
        f"{label_of(record, key)}, {SERIES[series]}"
        for key in roles
        for series in SERIES
        if ((pairs["system"] == key) & (pairs["series"] == series)).any()
    ]
    panels = [rows for _, rows in frame.groupby(["depth", "collection"], sort=False, dropna=False)]
    columns = min(MOST_COLUMNS, frame["collection"].nunique())
    lines = -(-len(panels) // columns)
    page = new_page(
        Words(title, _notes(frame), footer, names),
        lines,
        columns,
        PANEL_HEIGHT,
        titles=True,
        share_y=False,
        left=0.66,
        between=0.44,
    )
    samples: dict[str, Artist] = {}
    for axes, rows in zip(page.panels.flat, panels, strict=False):
        samples |= _draw_panel(axes, rows, roles)
        axes.set_title(_panel_title(rows.iloc[0]))
        most = int(rows["orders"].max())
        slot_axis(axes, most, "Order, or number of orders")
        axes.set_xlim(0.4, most + 1.6)
        level_grid(axes)
    for axes in page.panels.flat[len(panels) :]:
        axes.set_visible(False)
    for axes in page.panels[:, 0]:
        axes.set_ylabel(record["measure"])
    page.draw_legend([samples[name] for name in names])
    return page.figure
