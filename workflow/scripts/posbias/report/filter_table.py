"""How many candidate queries reach each margin of the verification (paper, Table 6)."""

from pathlib import Path

import pandas as pd

from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError
from posbias.report.csv_tables import read_table
from posbias.report.printed import Cell
from posbias.report.signs import DASH, MINUS
from posbias.report.tables import Column, Grid, Section

COLUMNS = ("filter", "kept", "share", *(f"{p}{end}" for p in POSITIONS for end in ("", "_share")))
COUNTS, SHARES = ("kept", *POSITIONS), ("share", *(f"{position}_share" for position in POSITIONS))
REMEDY = "delete it and run the verification again"
LABELS = {"generated": "All generated", "failed (margin < 0)": "Failed: margin < 0"}


def read_filter(path: Path) -> pd.DataFrame:
    """Read the counts of the filter, one row per stratum; shares are per cent.

    Raises DataError naming the file for what is no such table, or if a row's positions are not
    its whole.
    """
    frame = read_table(path, COLUMNS[:1], COUNTS, SHARES, REMEDY)
    for row in frame.to_dict("records"):
        if sum(row[position] for position in POSITIONS) != row["kept"]:
            raise DataError(
                f"{path}, row {row['filter']!r}: the positions do not add up to its {row['kept']} "
                f"queries; {REMEDY}."
            )
    return frame[list(COLUMNS)]


def _label(name: str) -> str:
    return LABELS.get(name, name.capitalize().replace(">=", "≥").replace("-", MINUS))


def _share(value: float) -> str:
    return DASH if pd.isna(value) else f"{value:.2f}"


def filter_table(frame: pd.DataFrame, delta: float) -> Grid:
    """Return the table; bold: the stratum that is kept, whose margin is `delta` (Table 6)."""
    rows = []
    for row in frame.to_dict("records"):
        bold = row["filter"] == f"margin >= {delta:g}"
        cells = [Cell(f"{row['kept']:,}", bold), Cell(_share(row["share"]), bold)]
        for position in POSITIONS:
            share = row[f"{position}_share"] if row["kept"] else float("nan")
            cells += [Cell(f"{row[position]:,}", bold), Cell(_share(share), bold)]
        rows.append((Cell(_label(row["filter"])), *cells))
    positions = [
        column for p in POSITIONS for column in (Column(p.capitalize()), Column("% of\nrow"))
    ]
    return Grid(
        [
            Column("Filter", number=False),
            Column("Queries"),
            Column("% of\ngenerated"),
            *positions,
        ],
        [Section("", tuple(rows))],
        [
            "A query's margin: score of its target segment less the best score of the two others, "
            "the least over the panel.",
            f"Bold: what is kept, margin ≥ {delta:g}.",
        ],
    )
