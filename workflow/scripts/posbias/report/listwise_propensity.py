"""The propensity matrix of a listwise reranker as a heat map over slots and ranks."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from posbias.errors import DataError
from posbias.listwise.propensity import Propensity
from posbias.report.listwise_records import AGAIN, Record, part
from posbias.report.panels import Words, new_page, slot_axis

LEAST_RANGE = 2.0  # the scale runs from 1/2 to 2 at least, so that noise does not look like bias
PANEL_HEIGHT, SIDE = 3.3, 1.75  # inches; SIDE: beside the square of cells
HATCH = "/////"
HATCH_LINES = {"edgecolor": "#404040", "linewidth": 0.0}
TITLES = ("rank in the answer", "slot in the input")
TREATED = ("floored", "capped")
NOTES = (
    "ω of a cell: how often what stood at this slot came out at this rank, over lists in random "
    "order; 1 = as often as without any preference. Logarithmic scale.",
    "Line: between cells below 1, which are hatched, and the others. Cross: no list at all.",
)


def _matrices(record: Record) -> dict[str, Propensity]:
    seeds = part(record, "propensity").get("seeds") or {}
    found = {
        seed: Propensity(np.array(values["counts"]))
        for seed, values in seeds.items()
        if values and values.get("counts")
    }
    if not found:
        raise DataError(f"no seed has counts of a propensity matrix; {AGAIN}")
    return found


def propensity_frame(record: Record) -> pd.DataFrame:
    """Return one row for each seed, slot and rank: lists, count and relative ω, not rounded.

    Raises DataError if there are no counts, or they are no square of whole numbers.
    """
    rows: list[dict[str, Any]] = []
    for seed, matrix in _matrices(record).items():
        relative = matrix.relative
        rows += [
            {
                "seed": seed,
                "slot": slot + 1,
                "rank": rank + 1,
                "lists": matrix.n_lists,
                "count": int(matrix.counts[slot, rank]),
                "relative": relative[slot, rank],
            }
            for slot in range(matrix.k)
            for rank in range(matrix.k)
        ]
    return pd.DataFrame(rows)


def _bounds(relative: np.ndarray) -> tuple[float, float]:
    """Return the ends of a scale that has 1 in its middle, for the cells above 0."""
    known = relative[relative > 0]
    most = max(LEAST_RANGE, known.max(), 1 / known.min())
    return 1 / most, most


def _draw_boundary(panel: Axes, high: np.ndarray) -> None:
    """Draw the edges between cells that are high and cells that are not."""
    k = len(high)
    upright = [
        ((rank + 1.5, slot + 0.5), (rank + 1.5, slot + 1.5))
        for slot, rank in np.argwhere(high[:, 1:] != high[:, : k - 1])
    ]
    level = [
        ((rank + 0.5, slot + 1.5), (rank + 1.5, slot + 1.5))
        for slot, rank in np.argwhere(high[1:] != high[: k - 1])
    ]
    panel.add_collection(LineCollection(upright + level, colors="black", linewidths=0.9))


def _draw_cells(figure: Figure, panel: Axes, relative: np.ndarray) -> None:
    slots = np.arange(1, len(relative) + 1)
    low, high = _bounds(relative)
    cells = panel.pcolormesh(
        slots,
        slots,
        np.ma.masked_equal(relative, 0),
        norm=LogNorm(low, high),
        cmap="PuOr_r",
        edgecolors="face",
        linewidth=0.2,
    )
    below = np.ma.masked_where((relative == 0) | (relative >= 1), relative)
    if below.count():
        panel.pcolor(slots, slots, below, hatch=HATCH, facecolor="none", **HATCH_LINES)
    _draw_boundary(panel, relative >= 1)
    empty = np.argwhere(relative == 0) + 1
    panel.plot(empty[:, 1], empty[:, 0], "x", color="black", markersize=4, markeredgewidth=0.8)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_ticks([1, *range(5, len(relative) + 1, 5)])
    slot_axis(panel, len(relative), TITLES[0].capitalize())
    panel.set_ylabel(TITLES[1].capitalize())
    panel.set_ylim(len(relative) + 0.5, 0.5)
    panel.set_aspect("equal")
    bar = figure.colorbar(cells, ax=panel, fraction=0.046, pad=0.03)
    ticks = [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
             if low <= tick <= high]  # fmt: skip
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.minorticks_off()
    bar.solids.set(rasterized=False, edgecolor="face")
    bar.set_label("ω, 1 = no preference")


def draw_propensity(record: Record, title: str, footer: str) -> Figure:
    """Return the heat map of the first seed (equation 5). Call within `style.print_style()`."""
    matrices = _matrices(record)
    seed, matrix = next(iter(matrices.items()))
    weights = ((record["propensity"].get("weights") or {}).get(seed)) or {}
    shown = f"Seed {seed}: {matrix.n_lists:,} lists of {matrix.k}; cells without a list: "
    shown += str(matrix.zero_cells)
    treated = [f"weights {name}: {weights[name]}" for name in TREATED if name in weights]
    notes = [*NOTES, f"{'; '.join([shown, *treated])}. All seeds are in the CSV."]
    page = new_page(Words(title, notes, footer), 1, 1, PANEL_HEIGHT, left=SIDE, right=SIDE - 0.4)
    _draw_cells(page.figure, page.panels[0, 0], matrix.relative)
    return page.figure
