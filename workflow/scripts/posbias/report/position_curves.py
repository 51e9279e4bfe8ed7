"""The paper's Figure 1: nDCG@10 by position of the evidence, one panel per training setting."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posbias.report import style
from posbias.report.legend import draw_legend, legend_columns
from posbias.report.records import (
    SETTING_LABELS,
    SKEWS,
    by_retriever,
    grouping_of,
    identity,
    reference_records,
    require_all_settings,
)

ROWS = {"characters": "Evidence position (characters)", "thirds": "Evidence position (third)"}
SETTING_TITLES = {
    "begin": "MB (trained on begin)",
    "middle": "MM (trained on middle)",
    "end": "ME (trained on end)",
    "uniform": "MU (trained on all)",
}
REFERENCE_DASHES = ((0, (1, 1.5)), (0, (6, 1.5, 1, 1.5)))
NOTE = (
    "Shaded: the third(s) that hold the evidence in training. Upright bars: intervals of the "
    "means; lines are set slightly apart so that the bars stay visible."
)
REFERENCE_NOTE = "Grey lines without marks: systems not trained here."
PANEL_HEIGHT = 1.55  # inches


def _curve_rows(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        identity(record)
        | {"grouping": grouping, "group_index": index}
        | {field: group[field] for field in ("name", "mean", "low", "high", "n")}
        for grouping in ROWS
        if grouping in record["groupings"]
        for index, group in enumerate(grouping_of(record, grouping)["groups"])
    ]


def curve_frame(
    records: Sequence[dict[str, Any]], order: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return one row per retriever (or reference), setting, grouping and position group (Fig. 1).

    Groupings are those of ROWS that the records have. Numbers are not rounded. Raises DataError
    for a missing setting, a repeated pair, or a retriever that `order` does not name.
    """
    retrievers = by_retriever(records, order)
    require_all_settings(retrievers)
    chosen = [settings[name] for settings in retrievers.values() for name in SETTING_LABELS]
    rows = [row for record in chosen for row in _curve_rows(record)]
    rows += [row for record in reference_records(records) for row in _curve_rows(record)]
    frame = pd.DataFrame(rows).rename(columns={"name": "group"})
    return frame.astype(dict.fromkeys(("mean", "low", "high"), "float64"))


def _draw_line(panel: Axes, points: pd.DataFrame, index: int, count: int) -> None:
    shift = 0.14 * ((index + 0.5) / count - 0.5)
    panel.errorbar(
        points["group_index"] + shift,
        points["mean"],
        yerr=[points["mean"] - points["low"], points["high"] - points["mean"]],
        label=points["label"].iloc[0],
        linewidth=1.0,
        elinewidth=0.5,
        markersize=3.8,
        markeredgewidth=0.3,
        markeredgecolor="white",
        **style.line_style(index),
    )


def _draw_panel(panel: Axes, rows: pd.DataFrame, setting: str, grouping: str) -> None:
    trained = rows[rows["setting"] == setting]
    count = trained["retriever"].nunique()
    for index, (_, points) in enumerate(trained.groupby("retriever", sort=False)):
        _draw_line(panel, points, index, count)
    references = rows[rows["setting"].isna()].groupby("retriever", sort=False)
    for index, (_, points) in enumerate(references):
        panel.plot(
            points["group_index"],
            points["mean"],
            label=points["label"].iloc[0],
            color="#8c8c8c",
            linewidth=1.1,
            linestyle=REFERENCE_DASHES[index % len(REFERENCE_DASHES)],
            zorder=1,
        )
    names = rows.drop_duplicates("group_index").sort_values("group_index")["group"].tolist()
    if grouping == "thirds":
        panel.set_xticks(range(len(names)), names)
        for index, name in enumerate(names):
            if name == setting or setting not in SKEWS:
                panel.axvspan(index - 0.5, index + 0.5, color=style.SHADE, linewidth=0, zorder=0)
    else:
        panel.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    panel.set_xlim(-0.45, len(names) - 0.55)
    panel.grid(axis="y", color="#dddddd", linewidth=0.4)
    panel.set_axisbelow(True)


def draw_position_curves(frame: pd.DataFrame, title: str, footer: str) -> Figure:
    """Return the figure: columns MB, MM, ME, MU; rows by characters and by thirds (Fig. 1).

    The shaded thirds are those that the setting trains on. Call within `style.print_style()`.
    """
    lines = {name: text for name, text in ROWS.items() if (frame["grouping"] == name).any()}
    names = frame.drop_duplicates("retriever")["label"].tolist()
    columns = legend_columns(names)
    legend_rows = -(-len(names) // columns)
    note = f"{NOTE} {REFERENCE_NOTE}" if frame["setting"].isna().any() else NOTE
    notes = style.wrap(note, style.PAGE_WIDTH - 2 * style.MARGIN, style.SMALL)
    foot = style.footer_height(footer)
    below = foot + 0.07 + len(notes) * 1.3 * style.SMALL / 72
    heights = {"top": 0.5, "between": 0.84, "ticks": 0.46, "legend": 0.16 + 0.16 * legend_rows}
    heights["between"] *= len(lines) > 1
    height = sum(heights.values()) + len(lines) * PANEL_HEIGHT + below
    figure = style.new_figure(style.PAGE_WIDTH, height)
    panels = figure.subplots(len(lines), len(SETTING_LABELS), sharey="row", squeeze=False)
    bottom = (below + heights["legend"] + heights["ticks"]) / height
    figure.subplots_adjust(
        left=0.5 / style.PAGE_WIDTH,
        right=1 - 0.08 / style.PAGE_WIDTH,
        top=1 - heights["top"] / height,
        bottom=bottom,
        hspace=heights["between"] / PANEL_HEIGHT,
        wspace=0.1,
    )
    for line, (grouping, label) in zip(panels, lines.items(), strict=True):
        rows = frame[frame["grouping"] == grouping]
        for panel, setting in zip(line, SETTING_TITLES, strict=True):
            _draw_panel(panel, rows, setting, grouping)
        line[0].set_ylabel("nDCG@10")
        box = line[0].get_position()
        lowest = box.y0 - (0.64 if grouping == "characters" else 0.32) / height
        figure.text(0.535, lowest, label, ha="center", va="center")
    for panel, setting in zip(panels[0], SETTING_TITLES, strict=True):
        panel.set_title(SETTING_TITLES[setting])
    figure.text(
        style.MARGIN / style.PAGE_WIDTH, 1 - 0.17 / height, title, fontweight="bold", va="baseline"
    )
    handles, labels = panels[0][0].get_legend_handles_labels()
    samples = dict(zip(labels, handles, strict=True))
    draw_legend(figure, [samples[name] for name in names], names, columns, below + 0.06)
    style.draw_lines(figure, notes, foot + 0.07, style.SMALL, "black")
    style.draw_footer(figure, footer)
    return figure
