"""The retained pool by length bin and position, and what is drawn from it (paper, Tables 1, 8)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError
from posbias.report.csv_tables import read_table
from posbias.report.objects import Each, read_object
from posbias.report.printed import Cell
from posbias.report.records import SETTING_LABELS
from posbias.report.tables import Column, Grid, Section

COLUMNS = ("bin", *POSITIONS, "total")
DRAWN = {"per_bin": dict.fromkeys(POSITIONS, int), "total": int}
BUDGET = {
    "budget_per_bin": int,
    "pool_per_cell": Each(int, least=1),
    "settings": dict.fromkeys(SETTING_LABELS, DRAWN),
}
TOTAL = "total"
REMEDY = "delete it and run the step that makes it again"


def read_cells(path: Path) -> pd.DataFrame:
    """Read the retained queries per bin (rows, the last one the total) and position.

    Raises DataError naming the file for what is no such table, if there is no bin, or the totals
    are not the sums.
    """
    cells = read_table(path, COLUMNS[:1], COLUMNS[1:], remedy=REMEDY)[list(COLUMNS)]
    counts = cells.set_index("bin")
    if cells["bin"].tolist()[-1:] != [TOTAL]:
        raise DataError(f"{path}: the last row is not the total; {REMEDY}.")
    if len(cells) < 2:
        raise DataError(f"{path}: no row but the total; {REMEDY}.")
    sums = counts.drop(index=TOTAL).sum()
    if (counts.loc[TOTAL] != sums).any() or (
        counts[list(POSITIONS)].sum(axis=1) != counts[TOTAL]
    ).any():
        raise DataError(f"{path}: the totals are not the sums of the cells; {REMEDY}.")
    return cells


def read_budget(path: Path) -> dict[str, Any]:
    """Read the budget of the balanced settings; raises DataError naming what the file lacks."""
    return read_object(path, BUDGET, REMEDY)


def _per_position(counts: Mapping[str, int]) -> int | str:
    """Return how many queries each position gives: one number, or all where they differ."""
    found = [counts[position] for position in POSITIONS]
    return found[0] if len(set(found)) == 1 else "/".join(map(str, found))


def pool_frame(cells: pd.DataFrame, budget: Mapping[str, Any]) -> pd.DataFrame:
    """Return the cells with the queries drawn of each bin, and the totals in the last row.

    Columns `concentrated`, for one position in MB, MM or ME, and `uniform`, for each position in
    MU (both in queries; Tables 1 and 8). Raises DataError if the budget is of another pool.
    """
    counts = cells.set_index("bin").drop(index=TOTAL)
    pool = {f"{name} {p}": int(counts.loc[name, p]) for name in counts.index for p in POSITIONS}
    if pool != budget["pool_per_cell"]:
        raise DataError(
            "the budget was drawn from another pool than that of the table of cells; run the "
            "verification and the balancing step again."
        )
    uniform = budget["settings"]["uniform"]["per_bin"]
    bins = len(counts)
    frame = cells.copy()
    frame["concentrated"] = [budget["budget_per_bin"]] * bins + [bins * budget["budget_per_bin"]]
    whole = _per_position({position: bins * uniform[position] for position in POSITIONS})
    frame["uniform"] = [_per_position(uniform)] * bins + [whole]
    return frame


def _printed(value: int | str) -> str:
    return value if isinstance(value, str) else f"{value:,}"


def pool_table(frame: pd.DataFrame, budget: Mapping[str, Any]) -> Grid:
    """Return the table, a row a length bin; bold: the smallest cell (Tables 1 and 8)."""
    least = int(frame.iloc[:-1][list(POSITIONS)].to_numpy().min())
    rows = []
    for row in frame.to_dict("records"):
        inner = row["bin"] != TOTAL
        cells = [Cell(_printed(row[p]), bold=inner and row[p] == least) for p in POSITIONS]
        more = [Cell(_printed(row[name])) for name in ("total", "concentrated", "uniform")]
        label = row["bin"].replace("-", "–") if inner else "Total"
        rows.append((Cell(label), *cells, *more))
    drawn = budget["settings"]
    totals = ", ".join(
        f"{label} {drawn[name]['total']:,}" for name, label in SETTING_LABELS.items()
    )
    size = budget["budget_per_bin"]
    reason = "the smallest cell" if size == least else f"below the smallest cell, {least:,}"
    return Grid(
        [
            Column("Length\n(characters)", number=False),
            *(Column(name.capitalize()) for name in POSITIONS),
            Column("Total"),
            Column("MB, MM, ME:\nof its position"),
            Column("MU: of\neach position"),
        ],
        [Section("", tuple(rows[:-1])), Section("", tuple(rows[-1:]))],
        [
            "Verified queries by length of the document and third that holds the evidence; bold: "
            "the smallest cell.",
            f"Drawn of each bin: {size:,} queries ({reason}).",
            f"Training pairs: {totals}.",
        ],
    )
