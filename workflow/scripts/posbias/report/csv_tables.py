"""CSVs of measures as tables read them, with their faults named by file, line and column."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from posbias.errors import DataError

REMEDY = "delete the file and run the step that makes it again"


def _read(path: Path, remedy: str) -> pd.DataFrame:
    if not Path(path).is_file():
        raise DataError(f"{path}: no such file; check the name, or run the step that makes it.")
    try:
        frame = pd.read_csv(path)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as fault:
        raise DataError(f"{path}: not a CSV ({str(fault).strip()}); {remedy}.") from fault
    if not isinstance(frame.index, pd.RangeIndex):
        raise DataError(f"{path}: its rows have more columns than its header; {remedy}.")
    return frame


def _check(
    frame: pd.DataFrame, column: str, right: pd.Series, wanted: str, place: tuple[Path, str]
) -> None:
    """Raise DataError naming the first row in which a column is not right."""
    path, remedy = place
    if right.all():
        return
    row = int((~right).to_numpy().argmax())
    value: Any = frame[column].iloc[row]
    found = "empty" if pd.isna(value) else f"{str(value)!r}"
    raise DataError(
        f"{path}, line {row + 2}, column {column}: {found}, expected {wanted}; {remedy}."
    )


def read_table(
    path: Path,
    texts: Sequence[str],
    counts: Sequence[str],
    numbers: Sequence[str] = (),
    remedy: str = REMEDY,
) -> pd.DataFrame:
    """Return the rows of a CSV with these columns; others may be there.

    counts are whole numbers, 0 or more; numbers may be empty (NaN). Raises DataError naming file,
    line (1-based, the header is 1), column and remedy for what is missing, empty or of another
    kind, and for a table without a row.
    """
    frame = _read(path, remedy)
    missing = [name for name in (*texts, *counts, *numbers) if name not in frame]
    if missing:
        raise DataError(f"{path}: the column(s) {', '.join(missing)} are missing; {remedy}.")
    if frame.empty:
        raise DataError(f"{path}: holds a header and no row; {remedy}.")
    place = (path, remedy)
    for name in texts:
        _check(frame, name, frame[name].notna(), "a text", place)
    for name in (*counts, *numbers):
        values = pd.to_numeric(frame[name], errors="coerce").astype("float64")
        finite = values.abs() < float("inf")
        if name in numbers:
            _check(frame, name, finite | frame[name].isna(), "a number", place)
            frame[name] = values
        else:
            whole = finite & (values >= 0) & (values % 1 == 0)
            _check(frame, name, whole, "a whole number", place)
            frame[name] = frame[name].astype("int64")
    return frame
