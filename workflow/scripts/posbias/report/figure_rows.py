"""Rows of the CSVs that figures leave behind, with their faults named by file and line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from posbias.errors import DataError

AGAIN = "make the figure again with this version"


@dataclass(frozen=True)
class Row:
    """One line of a figure's CSV."""

    path: Path
    line: int
    values: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Return a column as text; empty if there is nothing."""
        value = self.values[name]
        return "" if pd.isna(value) else str(value)

    def number(self, name: str) -> float | None:
        """Return a column as a number; None where it is empty or absent."""
        value = self.values.get(name)
        if value is None or pd.isna(value):
            return None
        try:
            return float(value)
        except (TypeError, ValueError) as fault:
            raise DataError(
                f"{self.path}, line {self.line}: {name} is {value!r}, not a number; {AGAIN}."
            ) from fault

    def whole(self, name: str) -> int:
        """Return a column as a whole number; raises DataError where it is none."""
        value = self.number(name)
        if value is None or value != int(value):
            raise DataError(
                f"{self.path}, line {self.line}: {name} is {value}, not a whole number; {AGAIN}."
            )
        return int(value)


def read_rows(paths: Iterable[Path], columns: Sequence[str]) -> list[Row]:
    """Return the lines of CSVs of one form, in order; further columns may be there.

    Raises DataError naming a file that is missing, empty, or lacks one of the columns.
    """
    rows: list[Row] = []
    for path in paths:
        try:
            frame = pd.read_csv(path)
        except FileNotFoundError as fault:
            raise DataError(f"{path}: no such file; make the figure that it belongs to.") from fault
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as fault:
            raise DataError(f"{path}: not a CSV ({str(fault).strip()}); {AGAIN}.") from fault
        missing = [name for name in columns if name not in frame.columns]
        if missing:
            raise DataError(f"{path}: lacks the column(s) {', '.join(missing)}; {AGAIN}.")
        rows += [Row(Path(path), line, values)
                 for line, values in enumerate(frame.to_dict("records"), start=2)]  # fmt: skip
    return rows
