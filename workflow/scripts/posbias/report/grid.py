"""A table of sections, rows and cells, printed as a page: numbers with intervals beside them."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posbias.report import style
from posbias.report.page import HEAVY, LIGHT, blank_page, put, rule
from posbias.report.printed import Cell

ROW, LINE = 0.17, 0.125  # inches: a row, a further line of its first cell
TOP, ABOVE, BELOW = 0.29, 0.13, 0.06  # inches: above the first rule; a text's base from its rules
GAP = 0.1  # inches: the least space between two columns
BESIDE = 0.04  # inches: the space before an interval
LABEL = 1.0  # inches that the first column has at least


@dataclass(frozen=True)
class Column:
    """A column's heading, and whether it holds numbers (set to the right) or text."""

    heading: str
    number: bool = True


@dataclass(frozen=True)
class Section:
    """Rows under one title (empty if none), a cell for each column; the first cell is a label."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Grid:
    """A table: columns, sections, and the sentences under it."""

    columns: Sequence[Column]
    sections: Sequence[Section]
    notes: Sequence[str]


@dataclass(frozen=True)
class _Place:
    """Where a column stands, in inches: its left edge, the end of its numbers, its right edge."""

    left: float
    number_right: float
    right: float


def _widths(cells: Sequence[Cell], heading: str) -> tuple[float, float]:
    """Return the inches that a column needs for its numbers, and beside them."""
    numbers = [style.text_width(c.text, style.BODY, "bold" if c.bold else "normal") for c in cells]
    marks = [style.text_width(c.mark, style.SMALL) for c in cells]
    intervals = [style.text_width(c.interval, style.SMALL) for c in cells]
    beside = max(marks, default=0.0)
    if any(intervals):
        beside += max(intervals) + BESIDE
    title = max(style.text_width(line, style.BODY) for line in heading.split("\n"))
    return max(max(numbers, default=0.0), title - beside), beside


def _places(columns: Sequence[Column], sections: Sequence[Section]) -> list[_Place]:
    """Give every column what its cells need, and the first one no more than the others leave."""
    rows = [row for section in sections for row in section.rows]
    widths = [
        _widths([row[index] for row in rows], column.heading)
        for index, column in enumerate(columns)
    ]
    room = style.PAGE_WIDTH - 2 * style.MARGIN
    gaps = len(columns) - 1
    others = sum(number + beside for number, beside in widths[1:])
    first = max(min(sum(widths[0]), room - others - gaps * GAP), LABEL)
    gap = max((room - others - first) / max(gaps, 1), GAP)
    places = [_Place(style.MARGIN, style.MARGIN + first, style.MARGIN + first)]
    for number, beside in widths[1:]:
        left = places[-1].right + gap
        places.append(_Place(left, left + number, left + number + beside))
    return places


def _draw_heading(page: Axes, y: float, columns: Sequence[Column], places: list[_Place]) -> float:
    """Set the headings, their last lines on one base; return the y of the rule below them."""
    lines = max(column.heading.count("\n") + 1 for column in columns)
    base = y + ABOVE + (lines - 1) * LINE
    for column, place in zip(columns, places, strict=True):
        parts = column.heading.split("\n")
        for above, text in enumerate(reversed(parts)):
            x, align = (place.right, "right") if column.number else (place.left, "left")
            put(page, x, base - above * LINE, text, align)
    return base + BELOW


def _draw_cell(page: Axes, y: float, cell: Cell, column: Column, place: _Place) -> None:
    weight = "bold" if cell.bold else "normal"
    if not column.number:
        put(page, place.left, y, cell.text, "left", fontweight=weight)
        return
    put(page, place.number_right, y, cell.text, "right", fontweight=weight)
    if cell.mark:
        put(page, place.number_right, y - 0.03, cell.mark, "left", fontsize=style.SMALL)
    if cell.interval:
        font = {"fontsize": style.SMALL, "color": style.GREY}
        put(page, place.right, y, cell.interval, "right", **font)


def _label_lines(row: Sequence[Cell], places: list[_Place]) -> list[str]:
    return style.wrap(row[0].text, places[0].right - places[0].left, style.BODY)


def _draw_section(
    page: Axes, y: float, section: Section, columns: Sequence[Column], places: list[_Place]
) -> float:
    """Draw the rows of a section below a rule at y; return the y of the next rule."""
    base = y + ABOVE
    if section.title:
        put(page, style.MARGIN, base, section.title, "left", fontstyle="italic")
        base += ROW
    for row in section.rows:
        lines = _label_lines(row, places)
        for below, line in enumerate(lines):
            put(page, places[0].left, base + below * LINE, line, "left")
        for cell, column, place in zip(row[1:], columns[1:], places[1:], strict=True):
            _draw_cell(page, base, cell, column, place)
        base += ROW + (max(len(lines), 1) - 1) * LINE
    return base - ROW + BELOW


def _section_height(section: Section, places: list[_Place]) -> float:
    more = sum(max(len(_label_lines(row, places)), 1) - 1 for row in section.rows)
    lines = len(section.rows) - 1 + (1 if section.title else 0)
    return ABOVE + BELOW + lines * ROW + more * LINE


def draw_grid(grid: Grid, title: str, footer: str) -> Figure:
    """Return a page 7 in wide with the table, its notes and its footer.

    The first column is a label, wrapped where the others leave it no room. Call within
    `style.print_style()`.
    """
    right = style.PAGE_WIDTH - style.MARGIN
    places = _places(grid.columns, grid.sections)
    notes = style.wrap(" ".join(grid.notes), right - style.MARGIN, style.SMALL)
    below = style.footer_height(footer)
    height = TOP + ABOVE + BELOW + max(c.heading.count("\n") for c in grid.columns) * LINE
    height += sum(_section_height(section, places) for section in grid.sections)
    figure, page = blank_page(height + len(notes) * 1.3 * style.SMALL / 72 + 0.19 + below)
    put(page, style.MARGIN, 0.19, title, "left", fontweight="bold")
    rule(page, TOP, style.MARGIN, right, HEAVY)
    y = _draw_heading(page, TOP, grid.columns, places)
    for section in grid.sections:
        rule(page, y, style.MARGIN, right, LIGHT)
        y = _draw_section(page, y, section, grid.columns, places)
    rule(page, y, style.MARGIN, right, HEAVY)
    style.draw_lines(figure, notes, below + 0.07, style.SMALL, "black")
    style.draw_footer(figure, footer)
    return figure
