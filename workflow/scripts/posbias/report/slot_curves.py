"""nDCG@10 against the slot of the relevant passage: the numbers, and how a curve is drawn."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from posbias.errors import DataError
from posbias.report.listwise_cells import points
from posbias.report.listwise_records import (
    AGAIN,
    Record,
    collection_label,
    estimate,
    label_of,
    part,
    stage_label,
)
from posbias.report.panels import level_grid, slot_axis
from posbias.report.printed import span

AXIS = "Slot of the relevant passage in the input"
VARIANCE_NOTE = (
    "Variance: of the mean over the slots, in squared percentage points of {measure}; "
    "it is 0 where the input order does not matter, but noise alone raises it."
)
BAND_NOTE = "Bands: intervals of the means."
NUMBERS = ("mean", "low", "high", "variance", "variance_low", "variance_high")


def curve_rows(record: Record, systems: Iterable[str]) -> list[dict[str, Any]]:
    """Return a row for each system and slot: means, intervals, and the system's variance.

    Raises DataError if the measures hold no slots, or none of a system.
    """
    slots = part(record, "slots")
    rows = []
    for key in systems:
        found = slots["systems"].get(key)
        if not found or not found.get("curve"):
            raise DataError(f"no curve over slots for {label_of(record, key)}; {AGAIN}")
        per_seed = zip(record["seeds"], found.get("variance_per_seed") or [], strict=False)
        constant = {
            **estimate(found.get("variance"), "variance", "value"),
            **{f"variance_seed_{seed}": value for seed, value in per_seed},
            "n": slots.get("n"),
        }
        named = {"system": key, "label": label_of(record, key)}
        rows += [
            named | {name: at.get(name) for name in ("slot", "mean", "low", "high")} | constant
            for at in found["curve"]
        ]
    return rows


def as_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows of `curve_rows` as a frame whose unknown numbers are not-a-number."""
    return pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "float64"))


def variance_name(curve: pd.DataFrame) -> str:
    """Return what the legend says of a curve: label, variance over slots and its interval."""
    first = curve.iloc[0]
    bounds = span(first["variance_low"], first["variance_high"], points)
    return f"{first['label']}: {points(first['variance'])}" + (f" ({bounds})" if bounds else "")


def slots_note(record: Record) -> str:
    """Say on what the curves were measured."""
    slots = record["slots"]
    return (
        f"{collection_label(record, slots['collection'])}: {slots['n']:,} queries, top-"
        f"{slots['window']} of {stage_label(record, slots['first_stage'])} in one window; "
        "mean over queries and seeds."
    )


def draw_curve(panel: Axes, curve: pd.DataFrame, look: Mapping[str, Any], band: bool) -> Artist:
    """Draw one curve, with its band if asked; return the line, for a legend."""
    if band:
        panel.fill_between(
            curve["slot"],
            curve["low"],
            curve["high"],
            color=look["color"],
            alpha=0.16,
            linewidth=0,
        )
    (line,) = panel.plot(
        curve["slot"], curve["mean"], linewidth=1.1, markersize=3.4, markeredgewidth=0.3, **look
    )
    return line


def finish_panel(panel: Axes, slots: int) -> None:
    """Set the axis of slots and the grid."""
    slot_axis(panel, slots, AXIS)
    level_grid(panel)
