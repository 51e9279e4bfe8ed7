"""The listwise study's Figure 6: what augmentation and IPS do to the curves over slots."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from posbias.errors import DataError
from posbias.report import style
from posbias.report.listwise_records import AGAIN, Record, part
from posbias.report.panels import Words, new_page
from posbias.report.slot_curves import (
    BAND_NOTE,
    VARIANCE_NOTE,
    as_frame,
    curve_rows,
    draw_curve,
    finish_panel,
    slots_note,
    variance_name,
)

# Panel: its title, and the models in it as pairs of augmentation and IPS, all with the LM loss.
PANELS = {
    "a": ("(a) IPS, no augmentation", (("none", False), ("none", True))),
    "b": ("(b) IPS, random orders", (("random", False), ("random", True))),
    "c": ("(c) augmentation, no IPS", (("none", False), ("random", False), ("rotation", False))),
    "d": ("(d) IPS with Pos-Aug", (("none", False), ("rotation", False), ("rotation", True))),
}
LEGEND_NOTE = (
    "A model looks the same in every panel. In the legend: variance over slots (interval)."
)
PANEL_HEIGHT = 1.75  # inches


def _is(model: Mapping[str, Any], augmentation: str, ips: bool) -> bool:
    return (model["augmentation"], bool(model["ips"]), bool(model["lm"])) == (
        augmentation,
        ips,
        True,
    )


def panel_models(record: Record) -> dict[str, list[str]]:
    """Return the measured models of each panel; raises DataError if a panel has none."""
    measured = part(record, "slots")["systems"]
    chosen = {
        panel: [
            key
            for wanted in arms
            for key, model in record["models"].items()
            if _is(model, *wanted) and key in measured
        ]
        for panel, (_, arms) in PANELS.items()
    }
    empty = [panel for panel, models in chosen.items() if not models]
    if empty:
        raise DataError(f"no model of the panel(s) {', '.join(empty)} was measured; {AGAIN}")
    return chosen


def ablation_curves(record: Record) -> pd.DataFrame:
    """Return one row for each panel, model and slot, not rounded; models in panel order.

    Raises DataError where a panel is empty.
    """
    rows = []
    for panel, models in panel_models(record).items():
        for row in curve_rows(record, models):
            model = record["models"][row["system"]]
            arm = {name: model[name] for name in ("augmentation", "ips", "lm")}
            rows.append({"panel": panel, "title": PANELS[panel][0]} | row | arm)
    return as_frame(rows)


def draw_ablation_curves(record: Record, frame: pd.DataFrame, title: str, footer: str) -> Figure:
    """Return four panels over slots, their variances in the legend (Fig. 6).

    Call within `style.print_style()`.
    """
    models = [key for key in record["models"] if key in set(frame["system"])]
    names = [variance_name(frame[frame["system"] == key]) for key in models]
    notes = [slots_note(record), BAND_NOTE, LEGEND_NOTE]
    notes.append(VARIANCE_NOTE.format(measure=record["measure"]))
    page = new_page(Words(title, notes, footer, names), 2, 2, PANEL_HEIGHT, titles=True)
    lines = {}
    for axes, (panel, rows) in zip(page.panels.flat, frame.groupby("panel"), strict=True):
        for key, curve in rows.groupby("system", sort=False):
            look = style.line_style(models.index(key))
            lines[key] = draw_curve(axes, curve, look, band=True)
        axes.set_title(PANELS[panel][0], loc="left")
        finish_panel(axes, int(frame["slot"].max()))
    for axes in page.panels[:, 0]:
        axes.set_ylabel(record["measure"])
    page.draw_legend([lines[key] for key in models])
    return page.figure
