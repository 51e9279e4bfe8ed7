"""Our numbers of the data, as pool, filter, audit and evidence, under the paper's keys."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from posbias.report.comparison_cells import (
    EACH_BIN,
    FAILED,
    FIGURE_9,
    GENERATED,
    KEPT,
    POSITIONS,
    TABLE_1,
    TABLE_7,
    TOTAL,
    Cell,
    filter_cells,
    filter_name,
    pool_cells,
    pool_totals,
)
from posbias.report.figure_rows import Row, read_rows
from posbias.report.name_map import NameMap

AUDIT = {
    "target_yes": "TargetYes",
    "distractor_no": "DistractorNo",
    "exclusive": "Exclusive",
}
FILTER_COLUMNS = ("filter", KEPT, *POSITIONS)
POOL_COLUMNS = ("bin", *POSITIONS, "total", "concentrated", "uniform")
PLACES_COLUMNS = ("benchmark", "n")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def _filter_place(name: str) -> str:
    plain = name.lower()
    if plain.startswith((GENERATED, FAILED)):
        return GENERATED if plain.startswith(GENERATED) else FAILED
    found = NUMBER.search(plain)
    return filter_name(float(found.group())) if found else name


def filter_rows(paths: Sequence[Path]) -> Iterator[Cell]:
    """Yield Table 6 from the filter's counts."""
    yield from filter_cells(
        {
            _filter_place(row.text("filter")): {
                name: row.whole(name) for name in (KEPT, *POSITIONS)
            }
            for row in read_rows(paths, FILTER_COLUMNS)
        }
    )


def _bounds(stratum: str) -> tuple[float, ...]:
    """Return the margins that a stratum's name holds: none for the failed, one for the last."""
    if stratum.lower().startswith(FAILED):
        return ()
    return tuple(float(number) for number in NUMBER.findall(stratum))


def audit_rows(paths: Sequence[Path], paper: Sequence[Cell]) -> Iterator[Cell]:
    """Yield Table 7 in %, the strata found by the margins in their names."""
    strata = {_bounds(cell.place): cell.place for cell in paper if cell.item == TABLE_7}
    for row in read_rows(paths, ("stratum", *AUDIT)):
        place = strata.get(_bounds(row.text("stratum")))
        for name, measure in AUDIT.items():
            value = row.number(name)
            if place is None or value is None:
                continue
            low, high = (row.number(f"{name}_{end}") for end in ("low", "high"))
            yield Cell(
                TABLE_7, "", "", "", measure, place, "share", 1, 100 * value,
                None if low is None else 100 * low, None if high is None else 100 * high,
            )  # fmt: skip


def _budget(row: Row, name: str, positions: int) -> list[int]:
    """Return a bin's budget per position; "5/5/4" where the positions differ."""
    parts = row.text(name).split("/")
    if len(parts) == positions > 1 and all(part.isdigit() for part in parts):
        return [int(part) for part in parts]
    return [row.whole(name)] * positions


def pool_rows(paths: Sequence[Path], paper: Sequence[Cell]) -> Iterator[Cell]:
    """Yield our bins under the paper's, shortest first, where there are as many; and totals."""
    rows = [row for row in read_rows(paths, POOL_COLUMNS) if row.text("bin") != TOTAL]
    if not rows:
        return
    cells = (cell for cell in paper if cell.item == TABLE_1 and cell.measure in POSITIONS)
    bins = [name for name in dict.fromkeys(cell.place for cell in cells) if name != TOTAL]
    counts = [{name: row.whole(name) for name in POSITIONS} for row in rows]
    if len(bins) == len(rows):
        yield from pool_cells(bins, counts, [row.text("bin") for row in rows])
    totals: dict[tuple[str, str], float] = {
        (name, TOTAL): sum(row[name] for row in counts) for name in POSITIONS
    }
    totals[TOTAL, TOTAL] = sum(totals.values())
    for name, positions in (("concentrated", 1), ("uniform", len(POSITIONS))):
        budgets = [_budget(row, name, positions) for row in rows]
        totals[name, TOTAL] = sum(sum(budget) for budget in budgets)
        if len({n for budget in budgets for n in budget}) == 1:
            totals[name, EACH_BIN] = budgets[0][0]
    yield from pool_totals(totals)


def place_rows(paths: Sequence[Path], names: NameMap) -> Iterator[Cell]:
    """Yield how many pieces of evidence were located on each benchmark (Fig. 9)."""
    found: Mapping[str, int] = {
        benchmark: row.whole("n")
        for row in read_rows(paths, PLACES_COLUMNS)
        for benchmark in names.benchmarks_of(row.text("benchmark"))
    }
    for benchmark, n in found.items():
        yield Cell(FIGURE_9, benchmark, "", "", "n", "", "count", 0, n)
