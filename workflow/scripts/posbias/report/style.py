"""How every figure looks in print: fonts, colours, footer, and PDF bytes that repeat."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from posbias.files import whole_file

PAGE_WIDTH = 7.0  # inches: both columns of a two-column page
MARGIN = 0.08  # inches
BODY, SMALL = 8.0, 6.5  # points
GREY = "#5a5a5a"
SHADE = "#e9e9e9"

# Okabe and Ito's palette; its yellow, too faint on white paper, is darkened.
COLOURS = (
    "#000000",
    "#d55e00",
    "#0072b2",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#e69f00",
    "#8a7a00",
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)), (0, (2.5, 1.2)))

SETTINGS = {
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": BODY,
    "axes.titlesize": BODY,
    "axes.labelsize": BODY,
    "xtick.labelsize": BODY,
    "ytick.labelsize": BODY,
    "legend.fontsize": BODY,
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.4,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.usetex": False,
}


@contextmanager
def print_style() -> Iterator[None]:
    """Apply the print settings while figures are drawn and saved, and undo them afterwards."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, drawn off screen."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def line_style(index: int) -> dict[str, object]:
    """Return colour, marker and dashes of the line `index`; no two of the first 360 agree."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)],
    }


@cache
def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Return the width of one line of text in inches, at `size` points."""
    if not text.strip():
        return 0.0
    outline = TextPath((0, 0), text, size=size, prop=FontProperties(weight=weight))
    return outline.vertices[:, 0].max() / 72


def wrap(text: str, width: float, size: float) -> list[str]:
    """Break text at spaces into lines no wider than `width` inches (a longer word stays whole)."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    return lines


def draw_lines(figure: Figure, lines: list[str], bottom: float, size: float, colour: str) -> None:
    """Set lines of text at the left margin, the last one's base `bottom` inches above the edge."""
    width, height = figure.get_size_inches()
    step = 1.3 * size / 72
    for above, line in enumerate(reversed(lines)):
        figure.text(
            MARGIN / width,
            (bottom + above * step) / height,
            line,
            fontsize=size,
            color=colour,
            va="baseline",
        )


def _footer_lines(text: str) -> list[str]:
    return wrap(text, PAGE_WIDTH - 2 * MARGIN, SMALL)


def footer_height(text: str) -> float:
    """Return the inches that the footer takes from the lower edge of the page."""
    return MARGIN + len(_footer_lines(text)) * 1.3 * SMALL / 72


def draw_footer(figure: Figure, text: str) -> None:
    """Set the provenance line(s) in small grey type at the foot of a page of PAGE_WIDTH."""
    draw_lines(figure, _footer_lines(text), MARGIN, SMALL, GREY)


def save_pdf(figure: Figure, path: Path, title: str) -> None:
    """Save one page as PDF, whole or not at all; equal figures give equal bytes (no date)."""
    metadata = {"Title": title, "Creator": "posbias", "CreationDate": None}
    with whole_file(path) as part:
        figure.savefig(part, format="pdf", metadata=metadata)
