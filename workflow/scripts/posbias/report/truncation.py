"""How much of the training evidence lies beyond each retriever's longest input."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError
from posbias.report.csv_tables import read_table
from posbias.report.printed import Cell, percent
from posbias.report.signs import DASH
from posbias.report.tables import Column, Grid, Section

TEXTS, COUNTS = ("retriever", "label", "bin", "position"), ("n", "partly", "wholly")
WORTH_A_NOTE = 0.005  # share that is not printed as 0 %


def read_truncation(paths: Sequence[Path]) -> pd.DataFrame:
    """Read the tables of several retrievers, one row per retriever, bin and position.

    Columns n (pairs), partly and wholly (pairs whose evidence is cut in part, in full) and
    `share`, cut at all. Raises DataError naming a file that is no such table.
    """
    if not paths:
        raise DataError("no counts of cut evidence given; the table needs at least one file.")
    joined = pd.concat([read_table(path, TEXTS, COUNTS) for path in paths], ignore_index=True)
    joined["share"] = (joined["partly"] + joined["wholly"]) / joined["n"]
    return joined


def truncation_note(frame: pd.DataFrame) -> str:
    """Return the sentence under Table 3: each retriever's worst bin and position, or none."""
    worst = []
    for _, rows in frame.groupby("retriever", sort=False):
        row = rows.loc[rows["share"].idxmax()]
        if row["share"] >= WORTH_A_NOTE:
            worst.append(
                f"{row['label']} {100 * row['share']:.0f} % of {row['position']} in {row['bin']}"
            )
    told = "; ".join(worst) if worst else "none"
    return (
        "Training pairs whose evidence lies, in part at least, beyond the longest input "
        f"(worst bin, characters): {told}."
    )


def truncation_table(frame: pd.DataFrame) -> Grid:
    """Return the table: a section a retriever, a row a position, a column a bin; in per cent."""
    bins = list(dict.fromkeys(frame["bin"]))
    sections = []
    for _, rows in frame.groupby("retriever", sort=False):
        cells = rows.set_index(["position", "bin"])["share"]
        printed = [
            (Cell(position), *(Cell(percent(cells.get((position, name)))) for name in bins))
            for position in POSITIONS
        ]
        sections.append(Section(rows["label"].iloc[0], tuple(printed)))
    return Grid(
        [Column("Evidence", number=False), *(Column(name) for name in bins)],
        sections,
        [
            "Per cent of the training pairs of a bin (characters) whose evidence lies, in part at "
            "least, beyond the retriever's longest input.",
            f"{DASH}: no pair.",
        ],
    )
