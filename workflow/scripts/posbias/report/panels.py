"""A page of panels: title above, legend, notes and footer below."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posbias.report import style
from posbias.report.legend import draw_legend, legend_columns

TITLE, PANEL_TITLE, TICKS = 0.27, 0.23, 0.44  # inches: the heading, a panel's title, its x axis
LEGEND_LINE = 0.165  # inches
GRID = {"color": "#dddddd", "linewidth": 0.4}


@dataclass(frozen=True)
class Words:
    """The texts of a page; `notes` are sentences, `names` those of the legend."""

    title: str
    notes: Sequence[str]
    footer: str
    names: Sequence[str] = ()


@dataclass(frozen=True)
class Page:
    """A figure with its panels (rows, columns), and the inches below its legend."""

    figure: Figure
    panels: np.ndarray
    legend_bottom: float
    names: Sequence[str]

    def draw_legend(self, samples: Sequence[Artist]) -> None:
        """Draw the legend, a sample for each name."""
        columns = legend_columns(self.names)
        draw_legend(self.figure, samples, self.names, columns, self.legend_bottom)


def new_page(
    words: Words,
    rows: int,
    columns: int,
    panel_height: float,
    *,
    titles: bool = False,
    share_y: bool = True,
    left: float = 0.6,
    right: float = 0.1,
    between: float = 0.12,
) -> Page:
    """Return a page 7 in wide with empty panels of `panel_height` inches.

    titles: whether the panels have titles; left, right: inches beside the panels; between: inches
    from one panel to the next in a row.
    """
    width = style.PAGE_WIDTH
    wrapped = style.wrap(" ".join(words.notes), width - 2 * style.MARGIN, style.SMALL)
    foot = style.footer_height(words.footer)
    below = foot + 0.07 + len(wrapped) * 1.3 * style.SMALL / 72
    legend = 0.0
    if words.names:
        legend = 0.12 + LEGEND_LINE * -(-len(words.names) // legend_columns(words.names))
    above = PANEL_TITLE if titles else 0.06
    height = TITLE + rows * (above + panel_height + TICKS) + legend + below
    figure = style.new_figure(width, height)
    panels = figure.subplots(rows, columns, sharey=share_y, squeeze=False)
    panel_width = (width - left - right - (columns - 1) * between) / columns
    figure.subplots_adjust(
        left=left / width,
        right=1 - right / width,
        top=1 - (TITLE + above) / height,
        bottom=(below + legend + TICKS) / height,
        hspace=(above + TICKS) / panel_height,
        wspace=between / panel_width,
    )
    figure.text(
        style.MARGIN / width, 1 - 0.17 / height, words.title, fontweight="bold", va="baseline"
    )
    style.draw_lines(figure, wrapped, foot + 0.07, style.SMALL, "black")
    style.draw_footer(figure, words.footer)
    return Page(figure, panels, below + 0.06, words.names)


def slot_axis(panel: Axes, slots: int, label: str) -> None:
    """Mark an axis of slots or ranks from 1: the first, every fifth, and nothing between."""
    panel.set_xticks([1, *range(5, slots + 1, 5)])
    panel.set_xlim(0.5, slots + 0.5)
    panel.set_xlabel(label)


def level_grid(panel: Axes) -> None:
    """Draw thin level lines behind what the panel shows."""
    panel.grid(axis="y", **GRID)
    panel.set_axisbelow(True)
