"""The report of paper and ours as one HTML file that needs nothing beside it."""

from collections.abc import Mapping
from typing import Any

from posbias.report.comparison_cells import ITEMS, cell_text, number_text
from posbias.report.comparison_pages import (
    TITLE,
    holds_text,
    scatter_points,
    summary_heads,
    summary_values,
)
from posbias.report.direction_pages import (
    DIRECTION_NOTE,
    FAILS,
    direction_groups,
    direction_texts,
    reasons_of,
)
from posbias.report.direction_rules import VERDICTS
from posbias.report.inconsistencies import KINDS
from posbias.report.mapping_pages import BENCHMARK_HEADS
from posbias.report.page_templates import html_page
from posbias.report.paper_vs_ours import Compared, Comparison, summary
from posbias.report.signs import DASH
from posbias.report.tolerances import CLASSES, tolerance_lines

SIDE = 150  # units of a scatter's square
TEMPLATE = "paper_vs_ours.html.j2"


def _scatters(comparison: Comparison) -> list[dict[str, Any]]:
    """Return for each scatter its name, ends, and points within the square, y downwards."""
    scatters = []
    for name, points in scatter_points(comparison).items():
        values = [value for x, y, _ in points for value in (x, y)]
        low, high = min(values), max(values)
        width = (high - low) or 1.0
        scatters.append(
            {
                "name": name,
                "low": f"{low:.3g}",
                "high": f"{high:.3g}",
                "points": [
                    (f"{SIDE * (x - low) / width:.1f}", f"{SIDE * (1 - (y - low) / width):.1f}")
                    for x, y, _ in points
                ],
            }
        )
    return scatters


def _cell(comparison: Comparison, cell: Compared) -> dict[str, Any]:
    paper, ours = cell.paper, cell.ours
    place = comparison.ours.place(paper.item, paper.benchmark, paper.place)
    benchmark = comparison.names.benchmark(paper.benchmark)
    bounds = ""
    if ours is not None and ours.low is not None and ours.high is not None:
        low, high = (number_text(end, paper.kind, paper.digits) for end in (ours.low, ours.high))
        bounds = f"{low} to {high}"
    return {
        "item": paper.item,
        "words": [
            paper.benchmark + (f" (ours: {benchmark})" if benchmark else ""),
            paper.model,
            paper.setting,
            paper.measure,
            place,
        ],
        "unit": paper.unit,
        "paper": cell_text(paper),
        "paper_value": repr(float(paper.value)),
        "ours": cell_text(ours),
        "ours_value": "" if ours is None else repr(float(ours.value)),
        "bounds": bounds,
        "verdict": cell.verdict,
        "note": "" if ours is None else ours.note,
        "letters": cell.letters,
    }


def _direction(comparison: Comparison, row: Mapping[str, Any]) -> dict[str, Any]:
    sides = [[line.removesuffix(FAILS) for line in side] for side in direction_texts(row)]
    return {
        **row,
        "with_ours": comparison.ours.about(row["item"], row["words"]),
        "theirs": "; ".join(sides[0]),
        "ours": "; ".join(sides[1]),
    }


def comparison_html(comparison: Comparison, footer: str) -> str:
    """Return the page: styles, pictures and its few lines of script are all within it."""
    rows = summary(comparison)
    same_scale = comparison.names.values
    return html_page(
        TEMPLATE,
        title=TITLE,
        footer=footer,
        scale_note=comparison.scale_note,
        same_scale=same_scale,
        benchmark_heads=BENCHMARK_HEADS,
        benchmarks=comparison.ours.benchmark_rows(),
        retrievers=comparison.ours.retriever_rows(),
        remarks=comparison.remarks,
        heads=summary_heads(same_scale),
        holds_text=holds_text(rows[-1]),
        classes=CLASSES,
        verdicts=VERDICTS,
        items=ITEMS,
        dash=DASH,
        summary=[(row, summary_values(row, same_scale)) for row in rows],
        bars=[row for row in rows if row["claims"] and row["item"] in ITEMS],
        side=SIDE,
        scatters=_scatters(comparison),
        direction_note=DIRECTION_NOTE,
        directions={
            text: ([_direction(comparison, row) for row in found], reasons_of(found))
            for text, found in direction_groups(comparison).items()
        },
        cells=[_cell(comparison, cell) for cell in comparison.cells],
        notes=[
            {"letter": n.letter, "items": ", ".join(n.items), "kind": KINDS[n.kind], "text": n.text}
            for n in comparison.notes
        ],
        tolerances=tolerance_lines(comparison.bounds),
    )
