"""The listwise study's Table 1: each system on each collection, in two orders of the input."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from posbias.report.listwise_cells import (
    ABOVE,
    BELOW,
    dash_note,
    estimate_cell,
    points,
    signed,
    significance_mark,
)
from posbias.report.listwise_records import (
    Record,
    collection_label,
    comparison,
    estimate,
    is_trained,
    label_of,
    part,
    printed_systems,
    role_keys,
    stage_label,
)
from posbias.report.printed import Cell, bold_marks, fraction
from posbias.report.provenance import interval_text
from posbias.report.tables import Column, Grid, Section

ORDERS = ("original", "shuffled")
MEAN = "mean"  # stands for the collection in the rows of the mean over collections
COLUMNS = (
    Column("System", number=False),
    Column("Original\norder"),
    Column("Shuffled\norders"),
    Column("Drop"),
    Column("Variance over\nshuffles"),
    Column("τ-PSI"),
)
# Column of the frame, how it is printed, and whether the highest is the best (None: no contest).
PRINTED = (
    ("original", fraction, True),
    ("shuffled", fraction, True),
    ("drop", signed, None),
    ("variance_over_shuffles", lambda value: points(value, 3), False),
    ("tau_psi", fraction, False),
)


def _row(record: Record, collection: str, system: str) -> dict[str, Any]:
    part_ = record["orders"][collection]
    found = part_["systems"][system]
    row = {
        "collection": collection,
        "collection_label": collection_label(record, collection),
        "n": part_.get("n"),
        "first_stage": part_.get("first_stage"),
        "depth": part_.get("depth"),
        "shuffles": part_.get("shuffles"),
        "system": system,
        "label": found.get("label") or label_of(record, system),
    }
    for name in (*ORDERS, "drop"):
        row |= estimate(found.get(name), name)
    row |= {name: found.get(name) for name in ("variance_over_shuffles", "tau_psi")}
    for order in ORDERS:
        against = comparison(part_.get("comparisons"), order, system, role_keys(record)[1]) or {}
        row[f"{order}_difference"] = against.get("mean_difference")
        row[f"{order}_p_holm"] = against.get("p_holm")
    return row


def _mean_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the means over collections of the systems measured on all of them (Table 1)."""
    collections = {row["collection"] for row in rows}
    means = []
    for system in dict.fromkeys(row["system"] for row in rows):
        own = [row for row in rows if row["system"] == system]
        if len(own) < len(collections) or len(own) < 2:
            continue
        mean = {"collection": MEAN, "collection_label": "Mean of the collections"}
        mean |= {"system": system, "label": own[0]["label"]}
        for name, _, _ in PRINTED:
            values = [row[name] for row in own]
            mean[name] = None if None in values else sum(values) / len(values)
        means.append(mean)
    return means


def table1_frame(record: Record) -> pd.DataFrame:
    """Return one row for each collection and system, then the means over collections (Table 1).

    Numbers are not rounded. `original_difference`, `original_p_holm` and the same of `shuffled`
    compare the system with the proposed model. Raises DataError if the measures hold no orders.
    """
    rows = [
        _row(record, collection, system)
        for collection, found in part(record, "orders").items()
        for system in printed_systems(record, found["systems"])
    ]
    frame = pd.DataFrame([*rows, *_mean_rows(rows)])
    numbers = [
        name
        for name in frame.columns
        if name.startswith((*ORDERS, "drop", "variance_over_shuffles", "tau_psi"))
    ]
    return frame.astype(dict.fromkeys(numbers, "float64"))


def _sections(record: Record, frame: pd.DataFrame, alpha: float) -> list[Section]:
    sections = []
    for _, rows in frame.groupby("collection", sort=False):
        systems = rows.to_dict("records")
        contest = [is_trained(record, row["system"]) for row in systems]
        columns = [[Cell(row["label"]) for row in systems]]
        for name, digits, highest in PRINTED:
            entered = [row[name] if c else None for row, c in zip(systems, contest, strict=True)]
            bold = [False] * len(systems)
            if highest is not None:
                bold = bold_marks(entered, highest, digits)
            columns.append(
                [
                    estimate_cell(row, name, digits, mark_bold, _mark(row, name, alpha))
                    for row, mark_bold in zip(systems, bold, strict=True)
                ]
            )
        title = _section_title(systems[0])
        sections.append(Section(title, tuple(zip(*columns, strict=True))))
    return sections


def _mark(row: Mapping[str, Any], name: str, alpha: float) -> str:
    if name not in ORDERS:
        return ""
    return significance_mark(row[f"{name}_p_holm"], row[f"{name}_difference"], alpha)


def _section_title(row: Mapping[str, Any]) -> str:
    if pd.isna(row.get("n")):
        return row["collection_label"]
    return f"{row['collection_label']} (n = {int(row['n']):,})"


def _flat_note(record: Record) -> list[str]:
    windows = record.get("windows") or {}
    if not windows.get("flat"):
        return []
    counts = f"{windows['flat']:,} of {windows['windows']:,}"
    return [f"Windows whose scores were all equal, an answer that is none: {counts}."]


def table1(record: Record, frame: pd.DataFrame, alpha: float) -> Grid:
    """Return Table 1, a section a collection, from `table1_frame`.

    alpha: the level of the paired tests against the proposed model, after Holm's correction.
    Bold: the best of the models trained here.
    """
    proposed = label_of(record, role_keys(record)[1])
    first = next(iter(record["orders"].values()))
    stage = stage_label(record, first.get("first_stage"))
    depth = f"top-{first['depth']}" if first.get("depth") else "candidates"
    sections = _sections(record, frame, alpha)
    notes = [
        f"{record['measure']} of the {depth} of {stage}, reranked; shuffled: mean over "
        f"{first.get('shuffles')} random orders of the same passages; drop: original less "
        "shuffled.",
        "Variance over shuffles: of the mean, in squared percentage points. τ-PSI: the share of "
        "passage pairs on which the answers to two orders disagree; the part that a system without "
        "any order shows too comes from the windows, which do not see all passages.",
        f"{ABOVE}, {BELOW}: above, below {proposed} in this order, paired t-test over queries, "
        f"p < {alpha:g} after Holm's correction over all tests of a collection (original, "
        "shuffled, drop).",
        f"In small type: intervals, {interval_text(record['interval'])}.",
        "Bold: the best of the models trained here, also when equal in print.",
        *dash_note(sections),
        *_flat_note(record),
    ]
    return Grid(COLUMNS, sections, notes)
