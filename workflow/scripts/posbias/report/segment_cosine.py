"""Heat maps of the cosine between documents and their segments (paper, Figures 3 and 7)."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from posbias.errors import DataError
from posbias.report import style
from posbias.report.objects import AGAIN, INTERVAL, NUMBER, read_object
from posbias.report.panels import PANEL_TITLE, TICKS, Words, new_page
from posbias.report.printed import count_range, fraction
from posbias.report.records import SETTING_LABELS

ROW_LABELS = {"base": "Base", **SETTING_LABELS}
POINT = {"segment": int, "mean": NUMBER, "low": NUMBER, "high": NUMBER}
REQUIRED = {
    "retriever": str,
    "label": str,
    "count": int,
    "settings": {name: [POINT] for name in ROW_LABELS},
    "counts": {"documents": int, "truncated": dict.fromkeys(ROW_LABELS, int)},
    "interval": INTERVAL,
}
TITLE = "Cosine between a document and its segments, by training setting"
VARIES = "in the CSV; documents are resampled; training seed and models are fixed"
BAR_LABEL = "Mean cosine similarity"
COLOURS = "viridis"
ROW, TALL = 0.18, 0.26  # inches: a row of a heat map; where the bar beside it needs the height
LEFT, RIGHT, BETWEEN = 0.42, 0.82, 0.12  # inches: beside the panels, and from one to the next
BAR_GAP, BAR_WIDTH = 0.1, 0.11  # inches
PANEL_GAP = 0.42  # inches: from one row of panels to the next
CELL = 0.02  # inches: what a cell is wider than its number, at least
STEP = 0.05  # of the scale's ends
NOTES = (
    "Cosine of the embedding of a whole document with that of each of its segments, which are "
    "equally long (characters); no query takes part. Base: as its training for retrieval starts "
    "from it; MB, MM, ME, MU: trained with the evidence in the begin, the middle, the end, and in "
    "all three alike.",
    "Read the slope of a row against that of Base, not its highest cell: in the paper segment 1 is "
    "the highest of both ModernBERTs in every row, ME too.",
)


def read_segments(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Read the measures of several retrievers; raises DataError naming a file that lacks one."""
    return [read_object(path, REQUIRED) for path in paths]


def common(records: Sequence[dict[str, Any]], field: str) -> Any:
    """Return what all records have in a field; raises DataError naming two that differ."""
    if not records:
        raise DataError("no measures of segments given; the figure needs at least one file.")
    first = records[0]
    for record in records[1:]:
        if record[field] != first[field]:
            raise DataError(
                f"{record['retriever']}: its {field} {record[field]} is not {first[field]} as for "
                f"{first['retriever']}; measure all retrievers with the same settings."
            )
    return first[field]


def segment_frame(records: Sequence[dict[str, Any]], order: Sequence[str]) -> pd.DataFrame:
    """Return one row per retriever, setting and segment, retrievers in `order`, not rounded.

    n: documents; truncated: those of which the model does not read all. Raises DataError for a
    retriever that is given twice, that `order` does not name, or that has other segments.
    """
    count = common(records, "count")
    for record in records:
        for setting in ROW_LABELS:
            segments = [point["segment"] for point in record["settings"][setting]]
            if segments != list(range(1, count + 1)):
                raise DataError(
                    f"{record['retriever']}, setting {setting}: measured on the segments "
                    f"{', '.join(map(str, segments))}, expected 1 to {count}; {AGAIN}."
                )
    found = {record["retriever"]: record for record in records}
    if len(found) < len(records):
        raise DataError("a retriever's segments are given twice; pass each file once.")
    unknown = [name for name in found if name not in order]
    if unknown:
        raise DataError(
            f"segments of {', '.join(unknown)}, which the figure's retrievers do not name; remove "
            "the files or add the retriever to the config."
        )
    return pd.DataFrame(
        {
            "retriever": name,
            "label": found[name]["label"],
            "setting": setting,
            **{field: point[field] for field in ("segment", "mean", "low", "high")},
            "n": found[name]["counts"]["documents"],
            "truncated": found[name]["counts"]["truncated"][setting],
        }
        for name in order
        if name in found
        for setting in ROW_LABELS
        for point in found[name]["settings"][setting]
    )


def segment_notes(frame: pd.DataFrame) -> list[str]:
    """Return the sentences below a figure: what is shown, of how many, and what models cut."""
    documents = f"n = {count_range(frame['n'].tolist())} documents in each cell."
    cut = frame[frame["truncated"] > 0].drop_duplicates(["retriever", "setting"])
    worst = [
        f"{rows['label'].iloc[0]} {count_range(rows['truncated'].tolist())}"
        for _, rows in cut.groupby("retriever", sort=False)
    ]
    told = "Documents that exceed a model's longest input, whose last segments it does not read: "
    return [*NOTES, documents, f"{told}{'; '.join(worst) or 'none'}."]


def scale_of(values: pd.Series) -> Normalize:
    """Return a scale of colours from the least to the greatest value, ends rounded outwards."""
    low = math.floor(round(values.min() / STEP, 4))
    high = max(math.ceil(round(values.max() / STEP, 4)), low + 1)
    return Normalize(low * STEP, high * STEP)


def ink_on(colour: Sequence[float]) -> str:
    """Return black or white, whichever stands out more from a colour of red, green, blue in [0, 1].

    By the relative luminance of WCAG 2, in which both have the same contrast at 0.179.
    """
    channels = np.asarray(colour[:3], dtype=float)
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ (0.2126, 0.7152, 0.0722) > 0.179 else "white"


def _draw_map(panel: Axes, rows: pd.DataFrame, scale: Normalize, size: float | None) -> QuadMesh:
    """Draw one retriever's rows; size: of the numbers in the cells, points, None for no numbers."""
    table = rows.pivot(index="setting", columns="segment", values="mean").loc[list(ROW_LABELS)]
    cells = panel.pcolormesh(
        table.columns,
        range(len(table)),
        table.to_numpy(),
        norm=scale,
        cmap=COLOURS,
        edgecolors="white",
        linewidth=0.5,
    )
    for (y, x), value in np.ndenumerate(table.to_numpy()):
        if size is not None:
            ink = ink_on(cells.cmap(scale(value)))
            place = {"ha": "center", "va": "center_baseline"}
            panel.text(table.columns[x], y, fraction(value), fontsize=size, color=ink, **place)
    panel.set_yticks(range(len(table)), list(ROW_LABELS.values()))
    panel.set_xticks(table.columns)
    panel.tick_params(length=0, pad=2)
    panel.set_ylim(len(table) - 0.5, -0.5)
    panel.spines[:].set_visible(False)
    panel.set_title(rows["label"].iloc[0], pad=3)
    return cells


def _draw_bar(figure: Figure, cells: QuadMesh, bottom: float, top: float) -> None:
    """Draw the scale at the right of the page; bottom, top: as shares of its height."""
    left = (style.PAGE_WIDTH - RIGHT + BAR_GAP) / style.PAGE_WIDTH
    axes = figure.add_axes((left, bottom, BAR_WIDTH / style.PAGE_WIDTH, top - bottom))
    bar = figure.colorbar(cells, cax=axes)
    bar.solids.set(rasterized=False, edgecolor="face")
    bar.outline.set_linewidth(0.4)
    bar.set_label(BAR_LABEL)


def _number_size(columns: int, segments: int) -> float | None:
    """Return the largest size at which numbers fit into cells, None if the smallest does not."""
    room = (style.PAGE_WIDTH - LEFT - RIGHT - (columns - 1) * BETWEEN) / columns / segments - CELL
    sizes = (style.BODY, (style.BODY + style.SMALL) / 2, style.SMALL)
    return next((size for size in sizes if style.text_width("1.000", size) <= room), None)


def _draw_maps(
    frame: pd.DataFrame, title: str, footer: str, columns: int, own_scales: bool
) -> Figure:
    retrievers = [rows for _, rows in frame.groupby("retriever", sort=False)]
    lines = -(-len(retrievers) // columns)
    height = len(ROW_LABELS) * (TALL if own_scales or lines == 1 else ROW)
    # The page has room for an axis with a name below each row of panels, of which one is needed.
    given = height + (lines - 1) / lines * (PANEL_GAP - TICKS - PANEL_TITLE)
    words = Words(title, segment_notes(frame), footer)
    page = new_page(words, lines, columns, given, titles=True, left=LEFT, right=RIGHT,
                    between=BETWEEN)  # fmt: skip
    page.figure.subplots_adjust(hspace=PANEL_GAP / height)
    size = _number_size(columns, int(frame["segment"].max()))
    panels = page.panels.ravel()
    shared = scale_of(frame["mean"])
    for panel, rows in zip(panels, retrievers, strict=False):
        cells = _draw_map(panel, rows, scale_of(rows["mean"]) if own_scales else shared, size)
        if own_scales:
            _draw_bar(page.figure, cells, panel.get_position().y0, panel.get_position().y1)
    if not own_scales:
        _draw_bar(page.figure, cells, panels[-1].get_position().y0, panels[0].get_position().y1)
    for panel in panels[len(retrievers) :]:
        panel.remove()
    for panel in panels[max(len(retrievers) - columns, 0) : len(retrievers)]:
        panel.set_xlabel("Segment", labelpad=2)
    return page.figure


def draw_segment_cosine(frame: pd.DataFrame, title: str, footer: str) -> Figure:
    """Return the page of all retrievers on one scale, two beside each other where numbers fit
    (Figure 7). Call within `style.print_style()`."""
    several = frame["retriever"].nunique() > 1
    fits = _number_size(2, int(frame["segment"].max())) is not None
    columns = 2 if several and fits else 1
    return _draw_maps(frame, title, footer, columns, own_scales=False)


def draw_segment_pair(frame: pd.DataFrame, title: str, footer: str) -> Figure:
    """Return the page of a few retrievers, one below the other, each on a scale of its own
    (Figure 3). Call within `style.print_style()`."""
    return _draw_maps(frame, title, footer, 1, own_scales=True)
