"""A table printed as a page: numbers with intervals beside them, or below."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posbias.report import style
from posbias.report.page import HEAVY, LIGHT, blank_page, put, rule
from posbias.report.printed import Cell
from posbias.report.tables import Column, Grid, Section

ROW, LINE = 0.17, 0.125  # inches: a row, a further line of its first cell
TOP, ABOVE, BELOW = 0.29, 0.13, 0.06  # inches: above the first rule; a text's base from its rules
GAP = 0.1  # inches: the least space between two columns
BESIDE = 0.04  # inches: the space before an interval
LABEL = 1.0  # inches that the first column has at least
UNDER = 0.022  # inches from a number's base down to the rule that underlines it


@dataclass(frozen=True)
class _Place:
    """Where a column stands, in inches: its left edge, the end of its numbers, its right edge."""

    left: float
    number_right: float
    right: float


@dataclass(frozen=True)
class _Layout:
    """Where the columns stand; intervals are beside the numbers or, where room lacks, below."""

    places: list[_Place]
    beside: bool

    def label_lines(self, row: Sequence[Cell]) -> list[str]:
        """Return the lines of a row's label."""
        first = self.places[0]
        return style.wrap(row[0].text, first.right - first.left, style.BODY) or [""]

    def height(self, row: Sequence[Cell]) -> float:
        """Return the inches that a row takes."""
        lines = len(self.label_lines(row))
        if not self.beside and any(cell.interval for cell in row):
            lines = max(lines, 2)
        return ROW + (lines - 1) * LINE


def _widths(cells: Sequence[Cell], heading: str, beside: bool) -> tuple[float, float]:
    """Return the inches that a column needs for its numbers, and to the right of them."""
    numbers = [style.text_width(c.text, style.BODY, "bold" if c.bold else "normal") for c in cells]
    marks = [style.text_width(c.mark, style.SMALL) for c in cells]
    intervals = [style.text_width(c.interval, style.SMALL) for c in cells]
    if not beside:
        numbers, intervals = numbers + intervals, []
    more = max(marks, default=0.0) + (max(intervals) + BESIDE if any(intervals) else 0.0)
    title = max(style.text_width(line, style.BODY) for line in heading.split("\n"))
    return max(max(numbers, default=0.0), title - more), more


def _layout(grid: Grid, beside: bool = True) -> _Layout:
    """Give every column what its cells need, and the first one no more than the others leave."""
    rows = [row for section in grid.sections for row in section.rows]
    widths = [
        _widths([row[index] for row in rows], column.heading, beside)
        for index, column in enumerate(grid.columns)
    ]
    gaps = max(len(widths) - 1, 1)
    others = sum(number + more for number, more in widths[1:])
    room = style.PAGE_WIDTH - 2 * style.MARGIN - others
    wanted = sum(widths[0])
    if beside and room - gaps * GAP < min(wanted, LABEL):
        return _layout(grid, beside=False)
    first = max(min(wanted, room - gaps * GAP), min(wanted, LABEL))
    gap = max((room - first) / gaps, GAP)
    places = [_Place(style.MARGIN, style.MARGIN + first, style.MARGIN + first)]
    for number, more in widths[1:]:
        left = places[-1].right + gap
        places.append(_Place(left, left + number, left + number + more))
    return _Layout(places, beside)


def _draw_heading(page: Axes, y: float, columns: Sequence[Column], layout: _Layout) -> float:
    """Set the headings, their last lines on one base; return the y of the rule below them."""
    lines = max(column.heading.count("\n") + 1 for column in columns)
    base = y + ABOVE + (lines - 1) * LINE
    for column, place in zip(columns, layout.places, strict=True):
        x, align = (place.right, "right") if column.number else (place.left, "left")
        for above, text in enumerate(reversed(column.heading.split("\n"))):
            put(page, x, base - above * LINE, text, align)
    return base + BELOW


def _underline(page: Axes, x: float, y: float, cell: Cell, align: str) -> None:
    """Draw a thin rule below a text set with its base at y, its left or right end at x."""
    width = style.text_width(cell.text, style.BODY, "bold" if cell.bold else "normal")
    left = x - width if align == "right" else x
    rule(page, y + UNDER, left, left + width, LIGHT)


def _draw_cell(
    page: Axes, y: float, cell: Cell, column: Column, place: _Place, beside: bool
) -> None:
    weight = "bold" if cell.bold else "normal"
    if cell.underlined:
        x, align = (place.number_right, "right") if column.number else (place.left, "left")
        _underline(page, x, y, cell, align)
    if not column.number:
        put(page, place.left, y, cell.text, "left", fontweight=weight)
        return
    put(page, place.number_right, y, cell.text, "right", fontweight=weight)
    if cell.mark:
        put(page, place.number_right, y - 0.03, cell.mark, "left", fontsize=style.SMALL)
    if cell.interval:
        x, base = (place.right, y) if beside else (place.number_right, y + LINE)
        put(page, x, base, cell.interval, "right", fontsize=style.SMALL, color=style.GREY)


def _draw_section(
    page: Axes, y: float, section: Section, columns: Sequence[Column], layout: _Layout
) -> float:
    """Draw the rows of a section below a rule at y; return the y of the next rule."""
    base = y + ABOVE
    if section.title:
        put(page, style.MARGIN, base, section.title, "left", fontstyle="italic")
        base += ROW
    for row in section.rows:
        for below, line in enumerate(layout.label_lines(row)):
            put(page, style.MARGIN, base + below * LINE, line, "left")
        for cell, column, place in zip(row[1:], columns[1:], layout.places[1:], strict=True):
            _draw_cell(page, base, cell, column, place, layout.beside)
        base += layout.height(row)
    return base - ROW + BELOW


def _section_height(section: Section, layout: _Layout) -> float:
    rows = sum(layout.height(row) for row in section.rows)
    return ABOVE + BELOW - ROW + rows + (ROW if section.title else 0.0)


def draw_grid(grid: Grid, title: str, footer: str) -> Figure:
    """Return a page 7 in wide with the table, its notes and its footer.

    The first column is a label, wrapped where the others leave it no room; intervals stand below
    the numbers where there is none beside them. Call within `style.print_style()`.
    """
    right = style.PAGE_WIDTH - style.MARGIN
    layout = _layout(grid)
    notes = style.wrap(" ".join(grid.notes), right - style.MARGIN, style.SMALL)
    below = style.footer_height(footer)
    height = TOP + ABOVE + BELOW + max(c.heading.count("\n") for c in grid.columns) * LINE
    height += sum(_section_height(section, layout) for section in grid.sections)
    figure, page = blank_page(height + len(notes) * 1.3 * style.SMALL / 72 + 0.19 + below)
    put(page, style.MARGIN, 0.19, title, "left", fontweight="bold")
    rule(page, TOP, style.MARGIN, right, HEAVY)
    y = _draw_heading(page, TOP, grid.columns, layout)
    for section in grid.sections:
        rule(page, y, style.MARGIN, right, LIGHT)
        y = _draw_section(page, y, section, grid.columns, layout)
    rule(page, y, style.MARGIN, right, HEAVY)
    style.draw_lines(figure, notes, below + 0.07, style.SMALL, "black")
    style.draw_footer(figure, footer)
    return figure
