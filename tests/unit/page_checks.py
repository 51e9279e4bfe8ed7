"""What every printed page must be: legible, its text on the paper and not on other text."""

from collections.abc import Callable

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posbias.report import style

LEAST = 6.5  # points


def texts_on(figure: Figure) -> list:
    """Return the visible texts of a figure, laid out as in print."""
    figure.dpi = 720  # fine enough that widths are those of print
    figure.draw_without_rendering()
    beyond = {id(label) for panel in figure.axes for label in _beyond(panel)}
    found = figure.findobj(matplotlib.text.Text)
    shown = [text for text in found if text.get_visible() and id(text) not in beyond]
    return [text for text in shown if text.get_text().strip()]


def _beyond(panel: Axes) -> list:
    """Return the labels of ticks beyond the ends of an axis, which are not drawn."""
    found = []
    for axis in (panel.xaxis, panel.yaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = [*axis.majorTicks, *axis.minorTicks]
        found += [tick.label1 for tick in ticks if not low <= tick.get_loc() <= high]
    return found


def check_page(draw: Callable[[], Figure]) -> Figure:
    """Draw a page and check its texts; return it."""
    with style.print_style():
        figure = draw()
        texts = texts_on(figure)
        width, height = figure.bbox.width, figure.bbox.height
        boxes = []
        for text in texts:
            box = text.get_window_extent()
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, text
            assert text.get_fontsize() >= LEAST, text
            if not text.get_rotation():
                boxes.append((text.get_text(), box.shrunk(0.98, 0.7)))
    for index, (one, box) in enumerate(boxes):
        for other, beside in boxes[index + 1 :]:
            assert not box.overlaps(beside), (one, other)
    return figure
