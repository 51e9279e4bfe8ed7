"""The listwise study's Table 2: baseline and proposed model on four first stages."""

import pandas as pd

from posbias.report.listwise_cells import dash_note, estimate_cell, signed
from posbias.report.listwise_records import (
    Record,
    collection_label,
    estimate,
    label_of,
    part,
    role_keys,
    stage_gain,
    stage_label,
)
from posbias.report.printed import Cell, bold_marks, fraction
from posbias.report.provenance import interval_text
from posbias.report.tables import Column, Grid, Section

SYSTEMS = ("alone", "baseline", "proposed")


def _empty_note(record: Record) -> list[str]:
    found = [
        f"{row['queries']} for {stage_label(record, row['first_stage'])} on "
        f"{record['collections'][row['collection']]['label']}"
        for row in record.get("without_candidates") or []
    ]
    return [f"Queries without any candidate, which count 0: {', '.join(found)}."] if found else []


def table2_frame(record: Record) -> pd.DataFrame:
    """Return one row for each collection and first stage, not rounded (Table 2).

    Columns alone, baseline, proposed and gain, with _low and _high. Raises DataError if the
    measures hold no first_stage_table.
    """
    baseline, proposed = role_keys(record)
    rows = []
    for collection, stages in part(record, "first_stage_table").items():
        for stage, found in stages.items():
            row = {
                "collection": collection,
                "collection_label": collection_label(record, collection),
                "first_stage": stage,
                "label": stage_label(record, stage),
            }
            for name, key in zip(SYSTEMS, ("alone", baseline, proposed), strict=True):
                row |= estimate(found.get(key), name)
            row |= estimate(stage_gain(found, baseline, proposed), "gain", "difference")
            rows.append(row)
    frame = pd.DataFrame(rows)
    return frame.astype(dict.fromkeys(frame.columns[4:], "float64"))


def _sections(frame: pd.DataFrame) -> list[Section]:
    sections = []
    for _, rows in frame.groupby("collection", sort=False):
        printed = []
        for row in rows.to_dict("records"):
            bold = bold_marks([row[name] for name in SYSTEMS], highest=True)
            cells = [
                estimate_cell(row, name, fraction, mark)
                for name, mark in zip(SYSTEMS, bold, strict=True)
            ]
            printed.append((Cell(row["label"]), *cells, estimate_cell(row, "gain", signed)))
        sections.append(Section(rows["collection_label"].iloc[0], tuple(printed)))
    return sections


def table2(record: Record, frame: pd.DataFrame) -> Grid:
    """Return Table 2, a section a collection, from `table2_frame`; bold: the highest of a row."""
    baseline, proposed = (label_of(record, key) for key in role_keys(record))
    paired = frame["gain_low"].notna().any()
    sections = _sections(frame)
    headings = [Column(heading) for heading in ("Alone", baseline, proposed, "Gain")]
    notes = [
        f"{record['measure']} in the order of the first stage; alone: without reranking.",
        f"Gain: {proposed} less {baseline}"
        + (", paired over queries." if paired else "; no test was made of it."),
        f"In small type: intervals, {interval_text(record['interval'])}.",
        "Bold: the row's highest, also when equal in print.",
        *dash_note(sections),
        *_empty_note(record),
    ]
    return Grid([Column("First stage", number=False), *headings], sections, notes)
