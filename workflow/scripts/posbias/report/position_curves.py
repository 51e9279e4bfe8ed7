"""nDCG@10 by position of the evidence: one panel a training setting (paper, Figures 1, 2, 8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from posbias.errors import ConfigError
from posbias.report import style
from posbias.report.benchmark_records import (
    by_benchmark,
    check_retrievers,
    references_on,
    trained_on,
)
from posbias.report.curve_lines import draw_reference, draw_retriever
from posbias.report.curve_range import axis_range, queries_note, range_note
from posbias.report.legend import draw_legend, legend_columns
from posbias.report.position_axis import AXES, NAME_BELOW, SHADED, position_axis
from posbias.report.records import SETTING_LABELS, grouping_of, identity

SETTING_TITLES = {
    "begin": "MB (trained on begin)",
    "middle": "MM (trained on middle)",
    "end": "ME (trained on end)",
    "uniform": "MU (trained on all)",
}
SHADE_NOTE = "Shaded: the third(s) that hold the evidence in training."
NOTE = (
    "Upright bars: intervals of the means; lines are set slightly apart so that the bars stay "
    "visible."
)
REFERENCE_NOTE = "Grey lines without marks: systems not trained here."
TOP, BETWEEN = 0.5, 0.2  # inches: above the panels; between rows
PANEL_HEIGHT, TALL, PAGE = 1.55, 2.5, 5.4  # inches: a panel; one of many lines; all such rows
FEW = 4  # retrievers that a panel of PANEL_HEIGHT keeps apart
LEFT, RIGHT, GAP = 0.5, 0.08, 0.14  # inches: beside the panels, from one to the next


@dataclass(frozen=True)
class Names:
    """The lines of a figure in the order of its legend: keys of retrievers and references."""

    trained: Sequence[str]
    references: Sequence[str]
    labels: Sequence[str]


def check_groupings(benchmarks: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise ConfigError for a grouping that cannot be drawn as a curve, or if none is named."""
    for name, entry in benchmarks.items():
        unknown = [grouping for grouping in entry["groupings"] if grouping not in AXES]
        if unknown or not entry["groupings"]:
            raise ConfigError(
                f"figures, {name}: curves are drawn over {', '.join(AXES)}, not over "
                f"{', '.join(unknown) or 'nothing'}; give the benchmark such groups."
            )


def _curve_rows(record: Mapping[str, Any], groupings: Sequence[str]) -> list[dict[str, Any]]:
    return [
        identity(record)
        | {"grouping": grouping, "group_index": index}
        | {field: group[field] for field in ("name", "mean", "low", "high", "n")}
        for grouping in groupings
        for index, group in enumerate(grouping_of(record, grouping)["groups"])
    ]


def curve_frame(
    records: Sequence[dict[str, Any]],
    benchmarks: Mapping[str, Mapping[str, Any]],
    order: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return one row per benchmark, retriever (or reference), setting, grouping and group.

    benchmarks: name to its label and groupings, in order; they may have different retrievers.
    Numbers are not rounded (Figures 1, 2, 8). Raises ConfigError for a grouping that is no axis,
    DataError for a missing setting or grouping, a repeated pair, an unknown retriever.
    """
    check_groupings(benchmarks)
    check_retrievers(records, order)
    rows = []
    for name, part in by_benchmark(records, benchmarks).items():
        groupings = benchmarks[name]["groupings"]
        for settings in trained_on(part, order).values():
            for setting in SETTING_LABELS:
                rows += _curve_rows(settings[setting], groupings)
        for record in references_on(part).values():
            rows += _curve_rows(record, groupings)
    frame = pd.DataFrame(rows).rename(columns={"name": "group"})
    return frame.astype(dict.fromkeys(("mean", "low", "high"), "float64"))


def _names(frame: pd.DataFrame, order: Sequence[str] | None) -> Names:
    """Return who has a line, in `order` or as they come, references last."""
    known = frame["setting"].notna()
    trained, references = (
        dict(zip(rows["retriever"], rows["label"], strict=True))
        for rows in (frame[known], frame[~known])
    )
    keys = sorted(trained, key=list(order or trained).index)
    return Names(keys, list(references), [*(trained[key] for key in keys), *references.values()])


def _draw_panel(panel: Axes, rows: pd.DataFrame, setting: str, grouping: str, names: Names) -> None:
    for key, points in rows[rows["setting"] == setting].groupby("retriever", sort=False):
        draw_retriever(panel, points, names.trained.index(key), len(names.trained))
    for key, points in rows[rows["setting"].isna()].groupby("retriever", sort=False):
        draw_reference(panel, points, names.references.index(key))
    groups = rows.drop_duplicates("group_index").sort_values("group_index")["group"].tolist()
    position_axis(panel, grouping, groups, setting)
    panel.grid(axis="y", color="#dddddd", linewidth=0.4)
    panel.set_axisbelow(True)


def _panel_height(retrievers: int, rows: int) -> float:
    """Return the inches of a panel: more where it holds many lines, as far as the page allows."""
    return PANEL_HEIGHT if retrievers <= FEW else max(PANEL_HEIGHT, min(TALL, PAGE / rows))


def _panels(figure: Figure, bottom: float, tall: float) -> list[Axes]:
    """Return a row of panels, `tall` inches, `bottom` above the lower edge, on one scale."""
    width, height = figure.get_size_inches()
    count = len(SETTING_TITLES)
    each = (width - LEFT - RIGHT - (count - 1) * GAP) / count
    panels: list[Axes] = []
    for index in range(count):
        left = LEFT + index * (each + GAP)
        place = (left / width, bottom / height, each / width, tall / height)
        panels.append(figure.add_axes(place, sharey=panels[0] if panels else None))
        panels[-1].tick_params(labelleft=not index)
    panels[0].set_ylabel("nDCG@10")
    return panels


def _level_axis(panels: Sequence[Axes], points: pd.DataFrame) -> None:
    """Mark the axis that a row shares at round numbers of at most two decimals."""
    panels[0].set_ylim(*axis_range(points))
    panels[0].yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))


def _rows(
    frame: pd.DataFrame, benchmarks: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of panels: the name of the benchmark, and its points over one axis."""
    return [
        (entry["label"], frame[(frame["benchmark"] == name) & (frame["grouping"] == axis)])
        for name, entry in benchmarks.items()
        for axis in entry["groupings"]
    ]


def _note(rows: Sequence[tuple[str, pd.DataFrame]], names: Names) -> str:
    shaded = any(points["grouping"].iloc[0] in SHADED for _, points in rows)
    shade = [SHADE_NOTE] if shaded else []
    grey = [REFERENCE_NOTE] if names.references else []
    return " ".join([*shade, NOTE, queries_note(rows), *grey, *range_note(rows)])


def draw_position_curves(
    frame: pd.DataFrame,
    benchmarks: Mapping[str, Mapping[str, Any]],
    order: Sequence[str] | None,
    title: str,
    footer: str,
) -> Figure:
    """Return the figure: columns MB, MM, ME, MU; a row for each benchmark and grouping.

    A retriever looks the same in every row; the shaded part of the documents is what the setting
    trains on (Figures 1, 2, 8). Call within `style.print_style()`.
    """
    rows = _rows(frame, benchmarks)
    axes = [points["grouping"].iloc[0] for _, points in rows]
    names = _names(frame, order)
    columns = legend_columns(names.labels)
    notes = style.wrap(_note(rows, names), style.PAGE_WIDTH - 2 * style.MARGIN, style.SMALL)
    foot = style.footer_height(footer)
    below = foot + 0.07 + len(notes) * 1.3 * style.SMALL / 72
    legend = 0.16 + 0.16 * -(-len(names.labels) // columns)
    tall = _panel_height(len(names.trained), len(rows))
    steps = [tall + NAME_BELOW[axis] + BETWEEN for axis in axes]
    height = TOP + sum(steps) - BETWEEN + 0.14 + legend + below
    figure = style.new_figure(style.PAGE_WIDTH, height)
    samples: dict[str, Any] = {}
    bottom = height - TOP + BETWEEN
    for number, ((name, points), axis) in enumerate(zip(rows, axes, strict=True)):
        bottom -= tall + BETWEEN
        panels = _panels(figure, bottom, tall)
        for panel, setting in zip(panels, SETTING_TITLES, strict=True):
            _draw_panel(panel, points, setting, axis, names)
            if not number:
                panel.set_title(SETTING_TITLES[setting])
        _level_axis(panels, points)
        handles, labels = panels[0].get_legend_handles_labels()
        samples |= dict(zip(labels, handles, strict=True))
        bottom -= NAME_BELOW[axis]
        figure.text(0.535, bottom / height, f"{name}: {AXES[axis]}", ha="center", va="center")
    figure.text(
        style.MARGIN / style.PAGE_WIDTH, 1 - 0.17 / height, title, fontweight="bold", va="baseline"
    )
    handles = [samples[label] for label in names.labels]
    draw_legend(figure, handles, names.labels, columns, below + 0.06)
    style.draw_lines(figure, notes, foot + 0.07, style.SMALL, "black")
    style.draw_footer(figure, footer)
    return figure
