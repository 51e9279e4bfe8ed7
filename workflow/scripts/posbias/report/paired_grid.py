"""Tables of paper and ours: the paper's number above, ours below, a sign for their class."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from posbias.report import style
from posbias.report.anchors import DIFFERS, EQUAL, NEAR
from posbias.report.comparison_cells import (
    FIGURE_1,
    FIGURE_7,
    FIGURE_9,
    ITEMS,
    TABLE_1,
    TABLE_3,
    TABLE_4,
    TABLE_6,
    TABLE_7,
    TABLE_11,
    TABLE_12,
    TABLE_13,
    TABLE_14,
    Cell,
    cell_text,
)
from posbias.report.inconsistencies import Note
from posbias.report.page import HEAVY, LIGHT, put, rule
from posbias.report.paged import STEP, Book
from posbias.report.paper_vs_ours import Compared, Comparison

OURS = "#0072b2"
SIGNS = {EQUAL: "=", NEAR: "≈", DIFFERS: "≠"}
LINE = 0.108  # inches from the paper's number to ours
PAD = 0.035  # inches between rows
WHOLE = 2.0  # inches of a table that is not broken
TOGETHER = 1.5  # inches of a table that stay on one page
NARROWEST = 0.26  # inches of a column
SIGN = 0.12  # inches of what follows a number
KEY_NOTE = (
    "Each cell: the paper's number above, ours below in blue (= equal, ≈ near, ≠ differs; no sign "
    "where the scale is another; a dash: not run). Letters, at a cell, row, column or table: the "
    "notes at the end."
)


@dataclass(frozen=True)
class Shape:
    """Fields of the cells that make the rows of a table, its columns, and the heads above them."""

    rows: tuple[str, ...]
    column: str
    above: str = ""
    split: str = ""  # a field with a table of its own for each value


SHAPES = {
    TABLE_3: Shape(("model",), "setting", "measure", "benchmark"),
    FIGURE_1: Shape(("benchmark", "model", "place"), "setting"),
    TABLE_11: Shape(("model",), "setting", "measure"),
    TABLE_12: Shape(("model", "setting"), "measure"),
    TABLE_4: Shape(("benchmark",), "setting"),
    TABLE_14: Shape(("model",), "setting", "benchmark"),
    TABLE_13: Shape(("model", "setting"), "place"),
    FIGURE_7: Shape(("model", "setting"), "place"),
    TABLE_6: Shape(("place",), "measure"),
    TABLE_7: Shape(("place",), "measure"),
    TABLE_1: Shape(("place",), "measure"),
    FIGURE_9: Shape(("benchmark",), "measure"),
}


@dataclass(frozen=True)
class Table:
    """A table of pairs: (above, column) of each column, labels of each row, cells by both.

    printed: the labels of each row as they are printed, with our names.
    """

    title: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[tuple[str, ...]]
    cells: dict[tuple[tuple[str, ...], tuple[str, str]], Compared]
    printed: dict[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Marks:
    """Letters of notes at the widest place of a table that they fill: all, rows, columns, cells."""

    table: str
    rows: dict[tuple[str, ...], str]
    columns: dict[tuple[str, str], str]
    cells: dict[tuple[tuple[str, ...], tuple[str, str]], str]


def marks_of(table: Table, notes: Sequence[Note]) -> Marks:
    """Return the letters of the notes on a table's cells, each cell's at one place."""
    whole, rows, columns, cells = "", {}, {}, {}
    for note in notes:
        open_ = {at for at, cell in table.cells.items() if note.concerns(cell.paper)}
        if open_ == set(table.cells):
            whole += note.letter
            continue
        for found, lines, part in ((rows, table.rows, 0), (columns, table.columns, 1)):
            for line in lines:
                filled = {at for at in table.cells if at[part] == line}
                if filled <= open_:
                    found[line] = found.get(line, "") + note.letter
                    open_ -= filled
        for at in open_:
            cells[at] = cells.get(at, "") + note.letter
    return Marks(whole, rows, columns, cells)


def _field(cell: Cell, name: str) -> str:
    return getattr(cell, name) if name else ""


def tables_of(comparison: Comparison, item: str) -> list[Table]:
    """Return the tables of an item, each cell of it in exactly one place."""
    shape = SHAPES[item]
    found = comparison.of_item(item)
    tables = []
    for part in dict.fromkeys(_field(cell.paper, shape.split) for cell in found):
        cells = {}
        for cell in found:
            if _field(cell.paper, shape.split) == part:
                row = tuple(_field(cell.paper, name) for name in shape.rows)
                column = (_field(cell.paper, shape.above), _field(cell.paper, shape.column))
                cells[row, column] = cell
        ours = comparison.ours.heading(item, [cell.paper.benchmark for cell in cells.values()])
        title = f"{item}: {ITEMS[item]}" + (f", {part}" if part else "") + ours
        rows = list(dict.fromkeys(row for row, _ in cells))
        columns = list(dict.fromkeys(column for _, column in cells))
        places = {
            row: comparison.ours.place(item, cell.paper.benchmark, cell.paper.place)
            for (row, _), cell in cells.items()
        }
        printed = {
            row: tuple(
                places[row] if name == "place" else label
                for name, label in zip(shape.rows, row, strict=True)
            )
            for row in rows
        }
        tables.append(Table(title, columns, rows, cells, printed))
    return tables


@cache
def _width(text: str) -> float:
    return style.text_width(text, style.SMALL)


@dataclass(frozen=True)
class _Places:
    """Inches: left edges of the labels, and right edges of the columns."""

    labels: Sequence[float]
    columns: Sequence[float]
    right: float


def _places(table: Table) -> _Places:
    labels, x = [], style.MARGIN
    for at in range(len(table.rows[0])):
        labels.append(x)
        x += max(_width(table.printed[row][at]) for row in table.rows) + 0.12
    needed = [NARROWEST] * len(table.columns)
    for (_, column), cell in table.cells.items():
        at = list(table.columns).index(column)
        texts = (cell_text(cell.paper), cell_text(cell.ours))
        needed[at] = max(needed[at], *(_width(text) + SIGN for text in texts))
    needed = [max(n, _width(c[1]) + 0.1) for n, c in zip(needed, table.columns, strict=True)]
    spare = style.PAGE_WIDTH - style.MARGIN - x - sum(needed)
    each = max(0.0, min(0.12, (spare - SIGN) / len(needed)))
    ends = []
    for width in needed:
        x += width + each
        ends.append(x)
    return _Places(labels, ends, x + 0.08)


def _mark(book: Book, x: float, base: float, letters: str) -> None:
    font = {"fontsize": style.SMALL, "color": style.GREY}
    put(book.page, x + 0.01, base - 0.03, letters, "left", **font)


def _head(book: Book, table: Table, places: _Places, marks: Marks) -> None:
    rule(book.page, book.y + 0.04, style.MARGIN, places.right, HEAVY)
    base = book.y + 0.04
    if any(above for above, _ in table.columns):
        base += STEP + 0.02
        for above in dict.fromkeys(above for above, _ in table.columns):
            at = [i for i, column in enumerate(table.columns) if column[0] == above]
            left = places.columns[at[0] - 1] if at[0] else places.columns[0] - 0.3
            middle = (left + places.columns[at[-1]]) / 2 + 0.04
            put(book.page, middle, base, above, "center", fontsize=style.SMALL)
    base += STEP + 0.02
    for column, x in zip(table.columns, places.columns, strict=True):
        put(book.page, x, base, column[1], "right", fontsize=style.SMALL)
        _mark(book, x, base, marks.columns.get(column, ""))
    rule(book.page, base + 0.05, style.MARGIN, places.right, LIGHT)
    book.y = base + 0.06


def _draw_row(
    book: Book, table: Table, row: tuple[str, ...], before: tuple[str, ...], places: _Places,
    marks: Marks,
) -> None:  # fmt: skip
    base = book.y + LINE + PAD / 2
    labels = table.printed[row]
    for at, (text, x) in enumerate(zip(labels, places.labels, strict=True)):
        if row[: at + 1] != before[: at + 1]:
            put(book.page, x, base, text, "left", fontsize=style.SMALL)
    _mark(book, places.labels[-1] + _width(labels[-1]), base, marks.rows.get(row, ""))
    for column, x in zip(table.columns, places.columns, strict=True):
        cell = table.cells.get((row, column))
        if cell is None:
            continue
        put(book.page, x, base, cell_text(cell.paper), "right", fontsize=style.SMALL)
        _mark(book, x, base, marks.cells.get((row, column), ""))
        below = {"fontsize": style.SMALL, "color": OURS}
        put(book.page, x, base + LINE, cell_text(cell.ours), "right", **below)
        put(book.page, x + 0.02, base + LINE, SIGNS.get(cell.verdict, ""), "left", **below)
    book.y += 2 * LINE + PAD


def draw_table(book: Book, table: Table, notes: Sequence[Note]) -> None:
    """Set a table of pairs, its heading again on each further page that it takes."""
    places, marks = _places(table), marks_of(table, notes)
    height = len(table.rows) * (2 * LINE + PAD) + 0.4
    book.heading(
        f"{table.title}{f' [{marks.table}]' * bool(marks.table)}",
        height if height <= WHOLE else TOGETHER,
    )
    _head(book, table, places, marks)
    before: tuple[str, ...] = ()
    for row in table.rows:
        # The settings of one retriever stay together.
        group = [other for other in table.rows if other[0] == row[0]] if len(row) > 1 else [row]
        together = len(group) if row == group[0] else 1
        if book.room(together * (2 * LINE + PAD) + 0.08):
            book.heading(f"{table.title} (continued)")
            _head(book, table, places, marks)
            before = ()
        elif before and len(row) > 1 and row[0] != before[0]:
            rule(book.page, book.y + 0.02, style.MARGIN, places.right, 0.2)
            book.space(0.03)
        _draw_row(book, table, row, before, places, marks)
        before = row
    rule(book.page, book.y + 0.04, style.MARGIN, places.right, HEAVY)
    book.space(0.1)
