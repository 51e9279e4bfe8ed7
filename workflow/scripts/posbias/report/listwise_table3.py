"""The listwise study's Table 3: augmentation, IPS and language-model loss, one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from posbias.report.listwise_cells import (
    dash_note,
    estimate_cell,
    excludes_zero,
    known,
    points,
    signed,
    signed_points,
)
from posbias.report.listwise_records import (
    Record,
    collection_label,
    estimate,
    ips_measure,
    label_of,
    part,
)
from posbias.report.printed import Cell, bold_marks, fraction
from posbias.report.provenance import interval_text
from posbias.report.signs import DASH
from posbias.report.tables import Column, Grid, Section

MODELS, IPS_ONLY = "models", "ips_only"
AUGMENTATIONS = {"none": "none", "random": "random", "rotation": "Pos-Aug"}
# Column of the frame, how a mean and a difference are printed, whether the highest is the best.
MEASURES = {
    "original": (fraction, signed, True),
    "shuffled": (fraction, signed, True),
    "slot_mean": (fraction, signed, True),
    "slot_variance": (points, signed_points, False),
}
COLUMNS = (
    Column("Model", number=False),
    Column("Augmented", number=False),
    Column("IPS", number=False),
    Column("LM", number=False),
    Column("Original"),
    Column("Shuffled"),
    Column("Mean over\nslots"),
    Column("Variance\nover slots"),
)
MARK = "*"


def table3_frame(record: Record) -> pd.DataFrame:
    """Return the models, then what IPS alone adds under each augmentation, not rounded (Table 3).

    section: `models` or `ips_only`; in the latter the numbers are differences, with IPS less
    without. Raises DataError if the measures hold no ablation.
    """
    rows: list[dict[str, Any]] = []
    for found in part(record, "ablation"):
        row = {"section": MODELS, "model": found["model"]}
        row |= {"label": label_of(record, found["model"])}
        row |= {name: found.get(name) for name in ("augmentation", "ips", "lm")}
        for name in MEASURES:
            middle = "value" if "value" in (found.get(name) or {}) else "mean"
            row |= estimate(found.get(name), name, middle)
        rows.append(row)
    added: dict[str, dict[str, Any]] = {}
    for found in record.get("ips_only") or []:
        kind = found["augmentation"]
        row = added.setdefault(
            kind, {"section": IPS_ONLY, "label": "IPS only", "augmentation": kind}
        )
        name = ips_measure(found["what"])
        if name is not None:
            row |= estimate(found, name, "difference") | {f"{name}_p_holm": found.get("p_holm")}
    frame = pd.DataFrame([*rows, *added.values()])
    numbers = [name for name in frame.columns if name.startswith(tuple(MEASURES))]
    return frame.astype(dict.fromkeys(numbers, "float64"))


def _yes(value: Any) -> Cell:
    return Cell(DASH if not known(value) else "yes" if value else "no")


def _model_rows(rows: Sequence[Mapping[str, Any]]) -> list[tuple[Cell, ...]]:
    columns = [
        [Cell(row["label"]) for row in rows],
        [Cell(AUGMENTATIONS.get(row["augmentation"], row["augmentation"])) for row in rows],
        [_yes(row["ips"]) for row in rows],
        [_yes(row["lm"]) for row in rows],
    ]
    for name, (digits, _, highest) in MEASURES.items():
        bold = bold_marks([row[name] for row in rows], highest, digits)
        columns.append(
            [estimate_cell(row, name, digits, b) for row, b in zip(rows, bold, strict=True)]
        )
    return list(zip(*columns, strict=True))


def _difference_row(row: Mapping[str, Any]) -> tuple[Cell, ...]:
    cells = []
    for name, (_, digits, _) in MEASURES.items():
        low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
        mark = MARK if excludes_zero(low, high) else ""
        cells.append(estimate_cell(row, name, digits, mark=mark))
    kind = AUGMENTATIONS.get(row["augmentation"], row["augmentation"])
    return (Cell(row["label"]), Cell(kind), Cell("added"), Cell("yes"), *cells)


def _sections(frame: pd.DataFrame) -> list[Section]:
    models = frame[frame["section"] == MODELS].to_dict("records")
    added = frame[frame["section"] == IPS_ONLY].to_dict("records")
    sections = [Section("", tuple(_model_rows(models)))]
    if added:
        rows = tuple(_difference_row(row) for row in added)
        sections.append(Section("What IPS alone adds: with less without, paired", rows))
    return sections


def table3(record: Record, frame: pd.DataFrame) -> Grid:
    """Return Table 3 from `table3_frame`: the models, then what IPS alone adds.

    Bold: the best of a column; marked: a difference whose interval lies outside 0.
    """
    collection = (record.get("slots") or {}).get("collection")
    where = f" on {collection_label(record, collection)}" if collection else ""
    sections = _sections(frame)
    notes = [
        f"{record['measure']}{where}: lists in the first stage's order, in random orders, and with "
        "the relevant passage in each slot in turn.",
        "Variance over slots: of the mean, in squared percentage points; lower is better. "
        "LM: the language-model loss beside the ranking loss.",
        f"In small type: intervals, {interval_text(record['interval'])}.",
        "Bold: the best of a column, also when equal in print. "
        f"{MARK}: the interval of the difference lies outside 0.",
        *dash_note(sections),
    ]
    return Grid(COLUMNS, sections, notes)
