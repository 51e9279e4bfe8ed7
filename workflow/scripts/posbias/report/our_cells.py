"""Our numbers under the paper's keys, read from the CSVs that the figures leave behind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from posbias.report.comparison_cells import (
    BASE,
    FIGURE_1,
    FIGURE_7,
    POSITIONS,
    TABLE_3,
    TABLE_4,
    TABLE_11,
    TABLE_12,
    TABLE_13,
    TABLE_14,
    Cell,
    by_key,
)
from posbias.report.figure_rows import Row, read_rows
from posbias.report.name_map import NameMap
from posbias.report.our_data_cells import audit_rows, filter_rows, place_rows, pool_rows
from posbias.report.paper_cells import REVERSAL
from posbias.report.records import SETTING_LABELS

LABELS = {**SETTING_LABELS, "base": BASE}
IDENTITY = ("retriever", "setting")
PSI_COLUMNS = (*IDENTITY, "benchmark", "grouping", "macro_mean", "psi", "psi_low", "psi_high")
CURVE_COLUMNS = (*IDENTITY, "benchmark", "grouping", "group_index", "group", "mean", "low", "high")
STANDARD_COLUMNS = (*IDENTITY, "benchmark", "ndcg", "low", "high")
MOVING_COLUMNS = (*IDENTITY, "position", "mean", "low", "high")
SEGMENT_COLUMNS = (*IDENTITY, "segment", "mean", "low", "high")
REVERSAL_COLUMNS = {  # ours: the paper's name of the column
    "orig_front": "orig_front",
    "rev_front_to_back": "rev_F2B",
    "orig_back": "orig_back",
    "rev_back_to_front": "rev_B2F",
    "delta": "delta_rev",
}


@dataclass(frozen=True)
class Sources:
    """The CSVs of each figure; none of a kind that was not run."""

    psi: Sequence[Path] = ()
    curves: Sequence[Path] = ()
    standard: Sequence[Path] = ()
    moving: Sequence[Path] = ()
    segments: Sequence[Path] = ()
    reversal: Sequence[Path] = ()
    filters: Sequence[Path] = ()
    pool: Sequence[Path] = ()
    audit: Sequence[Path] = ()
    places: Sequence[Path] = ()

    def files(self) -> tuple[Path, ...]:
        """Return all of them."""
        return tuple(Path(path) for paths in vars(self).values() for path in paths)


def printed_labels(sources: Sources) -> dict[str, dict[str, str]]:
    """Return the printed names that the CSVs give our retrievers and benchmarks, by our keys.

    Not every CSV names its benchmark in print. Raises DataError for a CSV of another form.
    """
    found: dict[str, dict[str, str]] = {"retriever": {}, "benchmark": {}}
    trained = (sources.psi, sources.standard, sources.moving, sources.segments, sources.reversal)
    for kind, column, files in (
        ("retriever", "label", trained),
        ("benchmark", "benchmark_label", (sources.standard,)),
        ("benchmark", "label", (sources.places,)),
    ):
        for row in (row for paths in files for row in read_rows(paths, (kind,))):
            if column in row.values and row.text(column):
                found[kind].setdefault(row.text(kind), row.text(column))
    return found


def _trained(rows: Sequence[Row], names: NameMap) -> Iterator[tuple[str, str, Row]]:
    """Yield the paper's model and setting of each row that stands for one of them."""
    for row in rows:
        setting = LABELS.get(row.text("setting"))
        for model in names.models_of(row.text("retriever")):
            if setting is not None:
                yield model, setting, row


def _quality(paths: Sequence[Path], names: NameMap, paper: Sequence[Cell]) -> Iterator[Cell]:
    items = {cell.benchmark: cell.item for cell in paper if cell.item in (TABLE_3, TABLE_11)}
    for model, setting, row in _trained(read_rows(paths, PSI_COLUMNS), names):
        note = f"over {row.text('grouping')}"
        for benchmark in names.benchmarks_of(row.text("benchmark")):
            if benchmark not in items:
                continue
            for kind, measure, name, bounds in (
                ("ndcg", "nDCG@10", "macro_mean", "macro"),
                ("psi", "PSI", "psi", "psi"),
            ):
                value = row.number(name)
                if value is not None:
                    yield Cell(
                        items[benchmark], benchmark, model, setting, measure, "", kind, 3, value,
                        row.number(f"{bounds}_low"), row.number(f"{bounds}_high"), note,
                    )  # fmt: skip


def _points(paths: Sequence[Path], names: NameMap, paper: Sequence[Cell]) -> Iterator[Cell]:
    """Yield the first and last group of our curves for the points that the paper quotes."""
    rows = list(_trained(read_rows(paths, CURVE_COLUMNS), names))
    quoted = [cell for cell in paper if cell.item == FIGURE_1]
    places: dict[str, list[str]] = {}
    for cell in quoted:
        if cell.place not in places.setdefault(cell.benchmark, []):
            places[cell.benchmark].append(cell.place)
    for cell in quoted:
        # Places of the document, or the finer groups that the paper has there.
        grouping = "thirds" if cell.place in POSITIONS else "characters"
        mine = [
            row
            for model, setting, row in rows
            if (model, setting) == (cell.model, cell.setting)
            and row.text("grouping") == grouping
            and cell.benchmark in names.benchmarks_of(row.text("benchmark"))
            and row.number("mean") is not None
        ]
        if not mine:
            continue
        mine.sort(key=lambda row: row.whole("group_index"))
        row = mine[0] if cell.place == places[cell.benchmark][0] else mine[-1]
        yield Cell(
            *cell.key, "ndcg", 3, row.number("mean"), row.number("low"), row.number("high"),
            f"over {grouping}", row.text("group"),
        )  # fmt: skip


def _standard(paths: Sequence[Path], names: NameMap, paper: Sequence[Cell]) -> Iterator[Cell]:
    wanted = {cell.benchmark for cell in paper if cell.item == TABLE_14}
    for model, setting, row in _trained(read_rows(paths, STANDARD_COLUMNS), names):
        value = row.number("ndcg")
        for benchmark in names.benchmarks_of(row.text("benchmark")):
            if benchmark in wanted and value is not None:
                yield Cell(
                    TABLE_14, benchmark, model, setting, "nDCG@10", "", "ndcg", 3, value,
                    row.number("low"), row.number("high"),
                )  # fmt: skip


def _standard_mean(ours: Sequence[Cell], paper: Sequence[Cell]) -> Iterator[Cell]:
    """Yield the means over all the paper's retrievers, where all of them were run."""
    table = {(c.benchmark, c.model, c.setting): c.value for c in ours if c.item == TABLE_14}
    published = [cell for cell in paper if cell.item == TABLE_14]
    benchmarks = list(dict.fromkeys(cell.benchmark for cell in published))
    models = list(dict.fromkeys(cell.model for cell in published))
    for cell in (cell for cell in paper if cell.item == TABLE_4):
        over = [cell.benchmark] if cell.benchmark in benchmarks else benchmarks
        values = [table.get((name, model, cell.setting)) for name in over for model in models]
        if None not in values:
            yield Cell(*cell.key, "ndcg", 3, fmean(values))


def _moving(paths: Sequence[Path], names: NameMap) -> Iterator[Cell]:
    """Yield the cosines, and 1000 times their range, whose interval is not in every CSV."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for model, setting, row in _trained(read_rows(paths, MOVING_COLUMNS), names):
        if row.number("mean") is not None:
            rows.setdefault((model, setting), []).append(row)
    for (model, setting), found in rows.items():
        means = [row.number("mean") for row in found]
        for row, value in zip(found, means, strict=True):
            yield Cell(
                TABLE_13, "", model, setting, "cosine", f"p{row.whole('position')}", "cosine", 4,
                value, row.number("low"), row.number("high"),
            )  # fmt: skip
        ends = [found[0].number(f"range_{end}") for end in ("low", "high")]
        low, high = (None if end is None else 1000 * end for end in ends)
        spread = 1000 * (max(means) - min(means))
        yield Cell(TABLE_13, "", model, setting, "range", "range", "range", 1, spread, low, high)


def _segments(paths: Sequence[Path], names: NameMap) -> Iterator[Cell]:
    for model, setting, row in _trained(read_rows(paths, SEGMENT_COLUMNS), names):
        value = row.number("mean")
        if value is not None:
            yield Cell(
                FIGURE_7, "", model, setting, "cosine", f"p{row.whole('segment')}", "cosine", 3,
                value, row.number("low"), row.number("high"),
            )  # fmt: skip


def _reversal(paths: Sequence[Path], names: NameMap) -> Iterator[Cell]:
    columns = (*IDENTITY, *REVERSAL_COLUMNS, "delta_low", "delta_high")
    for model, setting, row in _trained(read_rows(paths, columns), names):
        for name, theirs in REVERSAL_COLUMNS.items():
            value = row.number(name)
            if value is not None:
                yield Cell(
                    TABLE_12, "PosIR", model, setting, REVERSAL[theirs], "", "ndcg", 3, value,
                    row.number(f"{name}_low"), row.number(f"{name}_high"),
                )  # fmt: skip


def our_cells(sources: Sources, names: NameMap, paper: Sequence[Cell]) -> list[Cell]:
    """Return our numbers under the keys of the paper's, as far as `sources` hold them.

    paper: the published cells, whose rows and columns are looked for. Raises DataError for a CSV
    of another form, or where two files hold one number.
    """
    standard = list(_standard(sources.standard, names, paper))
    cells = [
        *_quality(sources.psi, names, paper),
        *_points(sources.curves, names, paper),
        *_reversal(sources.reversal, names),
        *_standard_mean(standard, paper),
        *standard,
        *_moving(sources.moving, names),
        *_segments(sources.segments, names),
        *filter_rows(sources.filters),
        *audit_rows(sources.audit, paper),
        *pool_rows(sources.pool, paper),
        *place_rows(sources.places, names),
    ]
    published = {cell.key for cell in paper}
    return [cell for key, cell in by_key(dict.fromkeys(cells)).items() if key in published]
