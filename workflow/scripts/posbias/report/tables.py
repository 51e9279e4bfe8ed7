"""A table as data: columns, sections of rows, and the sentences under it."""

from collections.abc import Sequence
from dataclasses import dataclass

from posbias.report.printed import Cell


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
