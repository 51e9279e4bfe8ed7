"""nDCG@10 on standard benchmarks, by training setting (paper, Tables 4 and 14)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from posbias.errors import DataError
from posbias.report.benchmark_records import (
    by_benchmark,
    check_retrievers,
    references_on,
    trained_on,
)
from posbias.report.printed import Cell, bold_marks, count_range, fraction, span
from posbias.report.provenance import interval_text
from posbias.report.records import SETTING_LABELS
from posbias.report.tables import Column, Grid, Section

NUMBERS = ("ndcg", "low", "high")
SETTINGS_NOTE = (
    "MB, MM, ME, MU: trained with the evidence in the begin, the middle, the end, and in all "
    "three alike."
)
ALONE_NOTE = "Not trained here: reference systems, with one value each."


def _row(record: Mapping[str, Any], benchmark: str, label: str) -> dict[str, Any]:
    return {
        "retriever": record["retriever"],
        "label": record["label"],
        "setting": record["setting"],
        "benchmark": benchmark,
        "benchmark_label": label,
        "n": record["counts"]["judged"],
        "ndcg": record["micro_mean"],
        "low": record.get("micro_low"),
        "high": record.get("micro_high"),
    }


def standard_frame(
    records: Sequence[dict[str, Any]],
    benchmarks: Mapping[str, str],
    order: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return one row per benchmark, retriever and setting, and per reference (Table 14).

    benchmarks: name to label, in order. `ndcg` is the mean over n queries with its interval (low,
    high; none where the measures have none), not rounded. Raises DataError for a missing setting,
    a repeated pair, an unknown retriever, or a benchmark without measures.
    """
    check_retrievers(records, order)
    rows = []
    for name, part in by_benchmark(records, benchmarks).items():
        label = benchmarks[name]
        for settings in trained_on(part, order).values():
            rows += [_row(settings[setting], name, label) for setting in SETTING_LABELS]
        rows += [_row(record, name, label) for record in references_on(part).values()]
    if not rows:
        raise DataError("no measures given; the table needs at least one benchmark.")
    return pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "float64"))


def second_marks(values: Sequence[float | None]) -> list[bool]:
    """Mark the second highest of the known values, as printed: the best below the bold ones."""
    rest = [
        None if best else value
        for value, best in zip(values, bold_marks(values, highest=True), strict=True)
    ]
    return bold_marks(rest, highest=True)


def ranked_cells(values: Sequence[float], bounds: Sequence[tuple[float, float]]) -> list[Cell]:
    """Return the numbers that compete with each other: the highest bold, the next underlined."""
    best, second = bold_marks(values, highest=True), second_marks(values)
    return [
        Cell(fraction(value), bold, span(*bound), underlined=under)
        for value, bold, bound, under in zip(values, best, bounds, second, strict=True)
    ]


def _section(rows: pd.DataFrame, alone: bool) -> Section:
    printed = []
    trained = rows[rows["setting"].notna()]
    for _, part in trained.groupby("retriever", sort=False):
        found = part.set_index("setting").loc[list(SETTING_LABELS)]
        bounds = list(zip(found["low"], found["high"], strict=True))
        cells = ranked_cells(found["ndcg"].tolist(), bounds)
        printed.append((Cell(part["label"].iloc[0]), *cells, *([Cell("")] if alone else [])))
    for row in rows[rows["setting"].isna()].to_dict("records"):
        value = Cell(fraction(row["ndcg"]), interval=span(row["low"], row["high"]))
        printed.append((Cell(row["label"]), *(Cell("") for _ in SETTING_LABELS), value))
    return Section(rows["benchmark_label"].iloc[0], tuple(printed))


def standard_table(frame: pd.DataFrame, interval: Mapping[str, Any]) -> Grid:
    """Return the table: a section a benchmark, a row a retriever, a column a setting (Table 14).

    References stand below the retrievers, in a column of their own, as no setting is theirs.
    """
    alone = bool(frame["setting"].isna().any())
    headings = [*SETTING_LABELS.values(), *(["not trained\nhere"] if alone else [])]
    sizes = [
        f"{rows['benchmark_label'].iloc[0]} {count_range(rows['n'].tolist())}"
        for _, rows in frame.groupby("benchmark", sort=False)
    ]
    notes = [
        "nDCG@10, mean over queries.",
        SETTINGS_NOTE,
        "Bold: the row's highest; underlined: its second highest; both also when equal in print.",
        f"Queries: {', '.join(sizes)}.",
    ]
    if frame["low"].notna().any():
        notes.append(f"In small type: intervals, {interval_text(interval)}.")
    if alone:
        notes.append(ALONE_NOTE)
    return Grid(
        [Column("Retriever", number=False), *(Column(heading) for heading in headings)],
        [_section(rows, alone) for _, rows in frame.groupby("benchmark", sort=False)],
        notes,
    )
