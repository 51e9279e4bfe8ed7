"""The paper's Table 12 as data: front and back evidence before and after mirroring (appendix E)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from posbias.errors import DataError
from posbias.measures.groups import BACK, FRONT, MID
from posbias.report.objects import read_object
from posbias.report.printed import Cell, count_range, fraction, span
from posbias.report.records import (
    SETTING_LABELS,
    by_retriever,
    grouping_of,
    require_all_settings,
)
from posbias.report.signs import DASH
from posbias.report.tables import Column, Grid, Section

GROUPING = "zones"
ZONES = [FRONT, MID, BACK]
CUT = "queries_whose_evidence_is_cut"  # count of a mirrored collection's summary
REMEDY = (
    "expected the summary of a mirrored collection, which says how often evidence is cut; delete "
    "the file and build that again"
)
MEANS = ("orig_front", "rev_front_to_back", "orig_back", "rev_back_to_front")
DELTAS = ("delta", "delta_low", "delta_high")
HEADINGS = (
    "Front,\noriginal",
    "Front to back,\nmirrored",
    "Back,\noriginal",
    "Back to front,\nmirrored",
    "Difference of\nmirrored",
)


def _zones(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the grouping by zones; raises DataError for other groups, or a record of old."""
    zones = grouping_of(record, GROUPING)
    where = f"{record['retriever']}, setting {record['setting']}"
    names = [group["name"] for group in zones["groups"]]
    if names != ZONES:
        raise DataError(
            f"{where}: its {GROUPING} are {', '.join(names)}, expected {', '.join(ZONES)}; "
            "evaluate again."
        )
    if "first_minus_last" not in zones:
        raise DataError(
            f"{where}: the difference of front and back is missing from these measures; delete "
            "the file and run the evaluation again."
        )
    return zones


def _row(original: Mapping[str, Any], mirrored: Mapping[str, Any]) -> dict[str, Any]:
    before, after = _zones(original), _zones(mirrored)
    front, _, back = before["groups"]
    back_to_front, _, front_to_back = after["groups"]
    return {
        "retriever": mirrored["retriever"],
        "label": mirrored["label"],
        "setting": mirrored["setting"],
        "orig_front": front["mean"],
        "rev_front_to_back": front_to_back["mean"],
        "orig_back": back["mean"],
        "rev_back_to_front": back_to_front["mean"],
        "delta": after["first_minus_last"],
        "delta_low": after["first_minus_last_low"],
        "delta_high": after["first_minus_last_high"],
        "n_front": front_to_back["n"],
        "n_back": back_to_front["n"],
        "orig_n_front": front["n"],
        "orig_n_back": back["n"],
    }


def reversal_frame(
    original: Sequence[dict[str, Any]],
    mirrored: Sequence[dict[str, Any]],
    order: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return one row per retriever and setting: nDCG@10 of both groups in both collections.

    original, mirrored: measures records of one collection and of its mirrored copy; references
    among them are passed over. delta = rev_back_to_front - rev_front_to_back, as its first group
    less its last one stands in the mirrored record: the two groups hold different queries and are
    resampled independently. n_front, n_back: queries by where their evidence comes from, in the
    mirrored copy; orig_n_front, orig_n_back: in the original. Raises DataError for a retriever or
    setting that one of the two lacks.
    """
    before, after = by_retriever(original, order), by_retriever(mirrored, order)
    require_all_settings(before)
    require_all_settings(after)
    if before.keys() != after.keys():
        only = ", ".join(sorted(before.keys() ^ after.keys()))
        raise DataError(
            f"{only}: measured on the original or on the mirrored collection only; "
            "evaluate the same retrievers on both."
        )
    rows = [
        _row(before[key][setting], after[key][setting])
        for key in after
        for setting in SETTING_LABELS
    ]
    if not rows:
        raise DataError("no measures given; the table needs at least one retriever.")
    return pd.DataFrame(rows).astype(dict.fromkeys((*MEANS, *DELTAS), "float64"))


def signed(value: float | None) -> str:
    """Print a difference as the paper does, `+.194` or `−.126`; a dash if there is none."""
    text = fraction(value)
    return f"+{text}" if not pd.isna(value) and value > 0 and float(text) else text


def _sizes(frame: pd.DataFrame, zone: str) -> str:
    """Return how many queries a zone has; two counts where mirroring moves some out or in."""
    mirrored, original = (
        count_range(frame[name].tolist()) for name in (f"n_{zone}", f"orig_n_{zone}")
    )
    return mirrored if mirrored == original else f"{original} ({mirrored} in the mirrored corpus)"


def cut_note(summary: Path) -> str:
    """Return the sentence on evidence that a cut of the mirrored collection goes through.

    summary: what was built, as JSON. Raises DataError for that of another kind of collection.
    """
    record = read_object(summary, {"queries": int, "counts": {CUT: int}}, REMEDY)
    return (
        f"A cut between segments goes through the evidence of {record['counts'][CUT]:,} of "
        f"{record['queries']:,} queries, front, mid and back together."
    )


def reversal_table(frame: pd.DataFrame, segments: int, at_each_end: int, cut: str) -> Grid:
    """Return the table: a section a retriever, a row a setting; differences with their interval.

    segments, at_each_end: equal segments of a document, and how many of them are its front, and
    its back. cut: the sentence on evidence that cuts go through.
    """
    sections = []
    for _, rows in frame.groupby("retriever", sort=False):
        printed = [
            (
                Cell(SETTING_LABELS[row["setting"]]),
                *(Cell(fraction(row[name])) for name in MEANS),
                Cell(
                    signed(row["delta"]),
                    interval=span(row["delta_low"], row["delta_high"]),
                ),
            )
            for row in rows.to_dict("records")
        ]
        sections.append(Section(rows["label"].iloc[0], tuple(printed)))
    notes = [
        "MB, MM, ME, MU: trained with the evidence in the begin, the middle, the end, and in all "
        "three alike.",
        f"nDCG@10 of the queries whose evidence has its middle in the first {at_each_end} of "
        f"{segments} equal segments of the document (front) or in the last {at_each_end} (back).",
        "Mirrored: the segments of every document of the corpus stand in reverse order, so that "
        "front evidence lies at the back.",
        cut,
        "Difference: back to front less front to back; above 0 the front of the mirrored corpus "
        "is found better. Beside it its interval: both groups, which hold different queries, are "
        "resampled independently.",
        f"n = {_sizes(frame, 'front')} queries with front evidence, {_sizes(frame, 'back')} with "
        "back evidence.",
    ]
    if frame[[*MEANS, "delta"]].isna().to_numpy().any():
        notes.append(f"{DASH}: no query.")
    columns = [Column("Trained", number=False), *(Column(heading) for heading in HEADINGS)]
    return Grid(columns, sections, notes)
