"""Every published number of the retriever study as cells, from expected/paper."""

from collections.abc import Iterator, Mapping
from typing import Any

from posbias.errors import DataError
from posbias.report.comparison_cells import (
    EACH_BIN,
    FAILED,
    FIGURE_1,
    FIGURE_7,
    FIGURE_9,
    GENERATED,
    KEPT,
    POSITIONS,
    STEPS,
    TABLE_3,
    TABLE_4,
    TABLE_7,
    TABLE_11,
    TABLE_12,
    TABLE_13,
    TABLE_14,
    TOTAL,
    Cell,
    by_key,
    filter_cells,
    filter_name,
    pool_cells,
    pool_totals,
)

SECTIONS = (
    "table1_8_retained_pool", "table6_filter", "table7_audit_pct", "table3", "table11_PosIR",
    "table12_reversal", "table14_BEIR_ndcg10", "table4_BEIR_avg", "table13_evidence_moving",
    "figure7_doc_segment_cosine", "text_points", "figure9_counts",
)  # fmt: skip
REVERSAL = {  # column of Table 12: how it is printed here
    "orig_front": "front",
    "rev_F2B": "front→back",
    "orig_back": "back",
    "rev_B2F": "back→front",
    "delta_rev": "Δ",
}
Published = Mapping[str, Any]


def check_published(published: Any) -> None:
    """Raise DataError unless the published numbers hold exactly the sections that are read."""
    found = set(published) - {"source"} if isinstance(published, Mapping) else set()
    wrong = [f"lack {name}" for name in SECTIONS if name not in found]
    wrong += [f"have an unknown section {name}" for name in sorted(found - set(SECTIONS))]
    if wrong:
        raise DataError(f"the published tables {', '.join(wrong)}; take the file as shipped.")


def _pool(table: Published) -> Iterator[Cell]:
    bins = table["bins"]
    rows = [{name: table[name][at] for name in POSITIONS} for at in range(len(bins))]
    yield from pool_cells(bins, rows)
    totals = {(TOTAL if name == "all" else name, TOTAL): n for name, n in table["totals"].items()}
    yield from pool_totals(
        totals
        | {
            ("concentrated", EACH_BIN): table["concentrated_per_bin"],
            ("concentrated", TOTAL): table["concentrated_total"],
            ("uniform", EACH_BIN): table["uniform_per_bin_per_position"],
            ("uniform", TOTAL): table["uniform_total"],
        }
    )


def _filter(table: Published) -> Iterator[Cell]:
    rows = {GENERATED: {KEPT: table["all_generated"]}, FAILED: {KEPT: table["failed_top_rank"]}}
    for threshold, counts in table["thresholds"].items():
        rows[filter_name(float(threshold))] = {
            KEPT if name == "n" else name: n for name, n in counts.items()
        }
    yield from filter_cells(rows)


def _audit(table: Published) -> Iterator[Cell]:
    for stratum, values in table.items():
        if stratum != "columns":
            for name, value in zip(table["columns"], values, strict=True):
                yield Cell(TABLE_7, "", "", "", name, stratum, "share", 1, value)


def _quality(item: str, benchmark: str, models: Published) -> Iterator[Cell]:
    for model, measures in models.items():
        for kind, name in (("ndcg", "ndcg10"), ("psi", "psi")):
            measure = "PSI" if kind == "psi" else "nDCG@10"
            for setting, value in measures[name].items():
                yield Cell(item, benchmark, model, setting, measure, "", kind, 3, value)


def _reversal(table: Published) -> Iterator[Cell]:
    for model, settings in table.items():
        if model == "columns":
            continue
        for setting, values in settings.items():
            for column, value in zip(table["columns"], values, strict=True):
                measure = REVERSAL[column]
                yield Cell(TABLE_12, "PosIR", model, setting, measure, "", "ndcg", 3, value)


def _standard(table: Published) -> Iterator[Cell]:
    for model, benchmarks in table.items():
        for benchmark, settings in benchmarks.items():
            for setting, value in settings.items():
                yield Cell(TABLE_14, benchmark, model, setting, "nDCG@10", "", "ndcg", 3, value)


def _standard_mean(table: Published) -> Iterator[Cell]:
    for benchmark, settings in table.items():
        for setting, value in settings.items():
            yield Cell(TABLE_4, benchmark, "", setting, "nDCG@10", "", "ndcg", 3, value)


def _moving(table: Published) -> Iterator[Cell]:
    for model, settings in table.items():
        for setting, values in settings.items():
            for place, value in zip(STEPS, values["p1_p10"], strict=True):
                yield Cell(TABLE_13, "", model, setting, "cosine", place, "cosine", 4, value)
            spread = values["range_x1e3"]
            yield Cell(TABLE_13, "", model, setting, "range", "range", "range", 1, spread)


def _segments(table: Published) -> Iterator[Cell]:
    for model, settings in table.items():
        for setting, values in settings.items():
            for place, value in zip(STEPS, values, strict=True):
                yield Cell(FIGURE_7, "", model, setting, "cosine", place, "cosine", 3, value)


def _points(table: Published) -> Iterator[Cell]:
    for name, places in table.items():
        benchmark, model = name.split(" ", 1)
        for place, settings in places.items():
            for setting, value in settings.items():
                yield Cell(FIGURE_1, benchmark, model, setting, "nDCG@10", place, "ndcg", 3, value)


def paper_cells(published: Published) -> list[Cell]:
    """Return every published number as a cell, and the shares that Table 6's counts make.

    Raises DataError where the published tables lack a section, or have one that is not read.
    """
    check_published(published)
    cells: list[Cell] = []
    for benchmark, models in published["table3"].items():
        cells += _quality(TABLE_3, benchmark, models)
    cells += _points(published["text_points"])
    cells += _quality(TABLE_11, "PosIR", published["table11_PosIR"])
    cells += _reversal(published["table12_reversal"])
    cells += _standard_mean(published["table4_BEIR_avg"])
    cells += _standard(published["table14_BEIR_ndcg10"])
    cells += _moving(published["table13_evidence_moving"])
    cells += _segments(published["figure7_doc_segment_cosine"])
    cells += _filter(published["table6_filter"])
    cells += _audit(published["table7_audit_pct"])
    cells += _pool(published["table1_8_retained_pool"])
    cells += [
        Cell(FIGURE_9, benchmark, "", "", "n", "", "count", 0, n)
        for benchmark, n in published["figure9_counts"].items()
    ]
    return list(by_key(cells).values())
