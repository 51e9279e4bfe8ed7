"""How many slots an item is shown at under each augmentation, as a table."""

import pandas as pd

from posbias.report.listwise_cells import known
from posbias.report.listwise_records import Record, part
from posbias.report.printed import Cell, percent
from posbias.report.signs import DASH
from posbias.report.tables import Column, Grid, Section

KINDS = {"none": "none", "random": "random orders", "rotation": "rotated groups (Pos-Aug)"}
COLUMNS = (
    Column("Augmentation", number=False),
    Column("Variants"),
    Column("Lists"),
    Column("Orders"),
    Column("Slots,\nleast"),
    Column("Slots,\nmean"),
    Column("Slots,\nmost"),
    Column("Share of\nslots, %"),
    Column("Rarest\ncell"),
    Column("Commonest\ncell"),
)
FIELDS = (
    "kind",
    "variants",
    "lists",
    "orders",
    "slots_least",
    "slots_mean",
    "slots_most",
    "share",
    "rarest",
    "commonest",
)
NOTES = (
    "Slots: at how many of the slots one passage of one list is shown.",
    "Cells: an item, known by its place before augmentation, at a slot; counted over all lists, "
    "in units of an even share (1 = as often as in any other slot).",
)


def coverage_frame(record: Record) -> pd.DataFrame:
    """Return one row for each kind of augmentation and number of variants, not rounded.

    Raises DataError if the measures hold no coverage.
    """
    rows = part(part(record, "training"), "coverage")
    return pd.DataFrame([{name: row.get(name) for name in FIELDS} for row in rows])


def _count(value: float | None) -> str:
    return f"{int(value):,}" if known(value) else DASH


def _decimal(value: float | None) -> str:
    return f"{value:.2f}" if known(value) else DASH


def coverage_table(frame: pd.DataFrame) -> Grid:
    """Return the table, a section for each kind of augmentation."""
    sections = []
    for kind, rows in frame.groupby("kind", sort=False):
        printed = []
        for row in rows.to_dict("records"):
            counts = [Cell(_count(row[name])) for name in FIELDS[1:5]]
            middle = [Cell(_decimal(row["slots_mean"])), Cell(_count(row["slots_most"]))]
            last = [Cell(percent(row["share"])), *(Cell(_decimal(row[n])) for n in FIELDS[8:])]
            printed.append((Cell(KINDS.get(kind, kind)), *counts, *middle, *last))
        sections.append(Section("", tuple(printed)))
    return Grid(COLUMNS, sections, NOTES)
