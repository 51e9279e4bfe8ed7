"""The paper's numbers and ours side by side: cells with their classes, directions, counts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from posbias.errors import ConfigError
from posbias.report.comparison_cells import ITEMS, Cell, Key, by_key
from posbias.report.direction_rules import AGREES, OPPOSES, VERDICTS, Parts, judged
from posbias.report.directions import direction_claims
from posbias.report.inconsistencies import Note, letters_of
from posbias.report.name_map import NameMap
from posbias.report.our_names import OurNames, judge_sentences
from posbias.report.tolerances import CLASSES, Tolerance, cell_class, tolerances

# nDCG@10 by which MU trails the best skew in the paper's own Table 3, at most.
MEAN_TOLERANCE = 0.007
OTHER_SCALE_NOTE = (
    "Our models, texts and benchmarks are not the paper's: its numbers are shown beside ours and "
    "not held against them; only directions are judged."
)
SAME_SCALE_NOTE = (
    "Our models, texts and benchmarks are meant to be the paper's: numbers are held against its "
    "own within the tolerances below, and directions are judged."
)


@dataclass(frozen=True)
class Compared:
    """A published cell, ours or None, how they compare, and the letters of the notes on it."""

    paper: Cell
    ours: Cell | None
    verdict: str
    letters: str


@dataclass(frozen=True)
class Comparison:
    """Everything that the report of paper and ours shows."""

    cells: Sequence[Compared]
    directions: Sequence[Mapping[str, Any]]
    notes: Sequence[Note]
    bounds: Mapping[str, Tolerance]
    names: NameMap
    ours: OurNames
    remarks: Sequence[str] = ()

    @property
    def scale_note(self) -> str:
        """What the two sides have in common, in words."""
        return SAME_SCALE_NOTE if self.names.values else OTHER_SCALE_NOTE

    def of_item(self, item: str) -> list[Compared]:
        """Return the cells of one table or figure."""
        return [cell for cell in self.cells if cell.paper.item == item]

    def directions_of(self, item: str) -> list[Mapping[str, Any]]:
        """Return the judged claims of one table or figure."""
        return [row for row in self.directions if row["item"] == item]


def _mean_tolerance(comparison: Mapping[str, Any]) -> float:
    value = comparison.get("mean_tolerance", MEAN_TOLERANCE)
    if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
        raise ConfigError(
            f"comparison.mean_tolerance: {value!r}; give the nDCG@10 that MU may trail, 0 or more."
        )
    return float(value)


def compare(
    paper: Sequence[Cell],
    ours: Iterable[Cell],
    names: NameMap,
    notes: Sequence[Note],
    comparison: Mapping[str, Any],
) -> Comparison:
    """Hold our cells against the paper's, each of which has its row, and judge the directions.

    comparison: {tolerance, mean_tolerance} of the config, both with defaults, and {judge, panel},
    the kinds of the audit's judge and of the panel's members. Raises ConfigError for faults.
    """
    bounds = tolerances(comparison.get("tolerance"))
    published: dict[Key, Cell] = by_key(paper)
    found = by_key(ours)
    order = list(ITEMS)
    cells = [
        Compared(
            cell,
            found.get(key),
            cell_class(cell, found.get(key), bounds, names.values),
            letters_of(notes, cell),
        )
        for key, cell in sorted(published.items(), key=lambda pair: order.index(pair[1].item))
    ]
    claims = direction_claims(paper, _mean_tolerance(comparison))
    rows = sorted(judged(claims, published, found), key=lambda row: order.index(row["item"]))
    mine = OurNames(names, paper, list(found.values()))
    remarks = [*mine.sentences(), *judge_sentences(comparison)]
    return Comparison(cells, rows, notes, bounds, names, mine, remarks)


def cell_frame(comparison: Comparison) -> pd.DataFrame:
    """Return one row per published number: its key, unit, the paper's, ours, class and notes."""
    return pd.DataFrame(
        [
            {
                "item": cell.paper.item,
                "benchmark": cell.paper.benchmark,
                "model": cell.paper.model,
                "setting": cell.paper.setting,
                "measure": cell.paper.measure,
                "place": cell.paper.place,
                "unit": cell.paper.unit,
                "paper": cell.paper.value,
                "ours": None if cell.ours is None else cell.ours.value,
                "ours_low": None if cell.ours is None else cell.ours.low,
                "ours_high": None if cell.ours is None else cell.ours.high,
                "class": cell.verdict,
                "our_retriever": comparison.names.retrievers.get(cell.paper.model, ""),
                "our_benchmark": comparison.names.benchmarks.get(cell.paper.benchmark, ""),
                "our_benchmark_label": comparison.names.benchmark(cell.paper.benchmark),
                "our_place": "" if cell.ours is None else cell.ours.our_place,
                "our_note": "" if cell.ours is None else cell.ours.note,
                "notes": " ".join(cell.letters),
            }
            for cell in comparison.cells
        ]
    ).astype({"ours": "float64", "ours_low": "float64", "ours_high": "float64"})


def _parts_text(parts: Parts) -> str:
    return "; ".join(f"{name} {part.value:.6g}" for name, part in parts)


def direction_frame(comparison: Comparison) -> pd.DataFrame:
    """Return one row per claim: text, the paper's number and sign, ours, and the verdict.

    parts: the numbers of which the claim's is the lowest, where it is one of several.
    """
    columns = [
        "id", "item", "claim", "about", "threshold", "paper_value", "paper_sign", "paper_holds",
        "our_value", "our_low", "our_high", "our_sign", "our_holds", "verdict",
        "our_interval", "reason", "paper_parts", "our_parts", "with_ours",
    ]  # fmt: skip
    rows = [
        row
        | {side: _parts_text(row[side]) for side in ("paper_parts", "our_parts")}
        | {"with_ours": comparison.ours.about(row["item"], row["words"])}
        for row in comparison.directions
    ]
    frame = pd.DataFrame(rows)[columns]
    return frame.astype({"our_value": "float64", "our_low": "float64", "our_high": "float64"})


def is_bare(row: Mapping[str, Any]) -> bool:
    """Say whether a claim agrees or opposes by a number of ours that has no interval."""
    return row["verdict"] in (AGREES, OPPOSES) and not row["our_interval"]


def summary(comparison: Comparison) -> list[dict[str, Any]]:
    """Return one row per item, then the sum: numbers by class, directions by verdict.

    `holds` counts the claims that the paper's own numbers satisfy, of `claims`, and `ours_hold`
    those that ours satisfy, of the `tested` ones; `bare` are those that agree or oppose by numbers
    without an interval.
    """
    rows = []
    for item in ITEMS:
        cells, claims = comparison.of_item(item), comparison.directions_of(item)
        classes = Counter(cell.verdict for cell in cells)
        verdicts = Counter(row["verdict"] for row in claims)
        rows.append(
            {
                "item": item,
                "shows": ITEMS[item],
                "cells": len(cells),
                "classes": {name: classes[name] for name in CLASSES},
                "claims": len(claims),
                "holds": sum(row["paper_holds"] for row in claims),
                "ours_hold": sum(bool(row["our_holds"]) for row in claims),
                "tested": sum(row["our_holds"] is not None for row in claims),
                "bare": sum(is_bare(row) for row in claims),
                "verdicts": {name: verdicts[name] for name in VERDICTS},
            }
        )
    total = {"item": "all", "shows": ""}
    for field in ("cells", "claims", "holds", "ours_hold", "tested", "bare"):
        total[field] = sum(row[field] for row in rows)
    for field in ("classes", "verdicts"):
        total[field] = {name: sum(row[field][name] for row in rows) for name in rows[0][field]}
    return [*rows, total]
