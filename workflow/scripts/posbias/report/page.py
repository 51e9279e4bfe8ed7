"""A page to set tables on: places in inches from its upper left corner."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posbias.report import style

HEAVY, LIGHT = 0.9, 0.4  # points: the weight of a rule


def blank_page(height: float) -> tuple[Figure, Axes]:
    """Return a page of PAGE_WIDTH by `height` inches, and its plane with y downwards."""
    figure = style.new_figure(style.PAGE_WIDTH, height)
    page = figure.add_axes((0, 0, 1, 1))
    page.set(xlim=(0, style.PAGE_WIDTH), ylim=(height, 0))
    page.axis("off")
    return figure, page


def rule(page: Axes, y: float, left: float, right: float, weight: float) -> None:
    """Draw a level rule, `weight` points thick."""
    page.plot([left, right], [y, y], color="black", linewidth=weight, solid_capstyle="butt")


def put(page: Axes, x: float, y: float, text: str, align: str, **font: object) -> None:
    """Set a line of text with its base at y; x is its left, right or centre by `align`."""
    page.text(x, y, text, ha=align, va="baseline", **({"fontsize": style.BODY} | font))
