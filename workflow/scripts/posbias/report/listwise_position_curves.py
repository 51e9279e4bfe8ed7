"""The listwise study's Figure 4: nDCG@10 by the slot of the relevant passage, main systems."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from posbias.report import style
from posbias.report.listwise_records import Record, is_trained, main_systems, part
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

REFERENCE_DASHES = ((0, (1, 1.5)), (0, (6, 1.5, 1, 1.5)))
REFERENCE_NOTE = "Grey, without marks: a system that sees no order."
LEGEND_NOTE = "In the legend: variance over slots (interval)."
PANEL_HEIGHT = 2.6  # inches


def main_curves(record: Record) -> pd.DataFrame:
    """Return the curves of both roles' models, in every way of use, and of the references.

    One row for each system and slot, not rounded. Raises DataError where one was not measured.
    """
    systems = main_systems(record, part(record, "slots")["systems"])
    return as_frame(curve_rows(record, systems))


def _look(record: Record, key: str, trained: int, references: int) -> dict[str, Any]:
    if is_trained(record, key):
        return style.line_style(trained)
    dashes = REFERENCE_DASHES[references % len(REFERENCE_DASHES)]
    return {"color": "#8c8c8c", "linestyle": dashes, "zorder": 1}


def draw_main_curves(record: Record, frame: pd.DataFrame, title: str, footer: str) -> Figure:
    """Return the curves with bands, their variances in the legend (Fig. 4).

    Call within `style.print_style()`.
    """
    curves = [curve for _, curve in frame.groupby("system", sort=False)]
    names = [variance_name(curve) for curve in curves]
    references = [c for c in curves if not is_trained(record, c["system"].iloc[0])]
    notes = [slots_note(record), BAND_NOTE, LEGEND_NOTE]
    notes.append(VARIANCE_NOTE.format(measure=record["measure"]))
    notes += [REFERENCE_NOTE] if references else []
    page = new_page(Words(title, notes, footer, names), 1, 1, PANEL_HEIGHT)
    panel = page.panels[0, 0]
    lines = []
    for index, curve in enumerate(curves):
        untrained = len([c for c in references if c is not curve and c.index[0] < curve.index[0]])
        look = _look(record, curve["system"].iloc[0], index - untrained, untrained)
        lines.append(draw_curve(panel, curve, look, band=True))
    panel.set_ylabel(record["measure"])
    finish_panel(panel, int(frame["slot"].max()))
    page.draw_legend(lines)
    return page.figure
