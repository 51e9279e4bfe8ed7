"""The printed report of paper and ours: names, counts, directions, all numbers, notes."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from posbias.report import style
from posbias.report.anchors import NOT_RUN as RAN_NOT
from posbias.report.comparison_cells import DELTA, ITEMS, UNITS
from posbias.report.direction_pages import draw_directions
from posbias.report.direction_rules import (
    AGREES,
    NOT_RUN,
    OPPOSES,
    UNCLEAR,
    UNTESTABLE,
    VERDICTS,
)
from posbias.report.inconsistencies import KINDS
from posbias.report.mapping_pages import draw_mapping
from posbias.report.page import HEAVY, LIGHT, put, rule
from posbias.report.paged import STEP, Book
from posbias.report.paired_grid import KEY_NOTE, OURS, draw_table, tables_of
from posbias.report.paper_vs_ours import Comparison, summary
from posbias.report.signs import DASH
from posbias.report.tolerances import CLASSES, OTHER_SCALE, tolerance_lines

TITLE = "The retriever study's numbers: the paper's and ours"
NOTES = "Notes on the published numbers"
ROW = 0.15  # inches
BARS = {  # verdict: face, hatch
    AGREES: ("#0072b2", ""),
    UNCLEAR: ("#ffffff", "////"),
    OPPOSES: ("#d55e00", "xxxx"),
    UNTESTABLE: ("#bdbdbd", "...."),
    NOT_RUN: ("#e9e9e9", ""),
}
PANELS, PANEL, GAP = 5, 0.92, 0.47  # scatter: panels in a row, inches of one, between them


def summary_heads(same_scale: bool) -> tuple[str, ...]:
    """Return the heads of the summary's columns; of another scale, only those classes it has."""
    return ("numbers", *_classes(same_scale), "claims", "paper's own", "ours hold", *VERDICTS,
            "no interval")  # fmt: skip


def _classes(same_scale: bool) -> tuple[str, ...]:
    return tuple(name for name in CLASSES if name == RAN_NOT or (name == OTHER_SCALE) != same_scale)


def summary_values(row: Mapping[str, Any], same_scale: bool) -> list[int]:
    """Return the counts of one row of the summary in the order of its heads."""
    classes = [row["classes"][name] for name in _classes(same_scale)]
    return [row["cells"], *classes, row["claims"], row["holds"], row["ours_hold"],
            *row["verdicts"].values(), row["bare"]]  # fmt: skip


def _summary_table(book: Book, rows: Sequence[Mapping[str, Any]], same_scale: bool) -> None:
    heads = summary_heads(same_scale)
    right = style.PAGE_WIDTH - style.MARGIN
    widths = [max(style.text_width(word, style.SMALL) for word in head.split()) for head in heads]
    start = 0.72
    spare = (right - start - sum(widths)) / len(widths)
    ends = [start + sum(widths[: at + 1]) + spare * (at + 1) for at in range(len(widths))]
    book.heading("Counts", keep=0.5 + ROW * len(rows))
    top = book.y + 0.04
    rule(book.page, top, style.MARGIN, right, HEAVY)
    small = {"fontsize": style.SMALL}
    for head, x in zip(heads, ends, strict=True):
        for at, word in enumerate(reversed(head.split(" "))):
            put(book.page, x, top + 0.28 - at * 0.11, word, "right", **small)
    base = top + 0.34
    rule(book.page, base, style.MARGIN, right, LIGHT)
    for row in rows:
        base += ROW
        if row["item"] == "all":
            rule(book.page, base - 0.11, style.MARGIN, right, LIGHT)
            base += 0.02
        put(book.page, style.MARGIN, base, row["item"], "left", fontweight="bold", **small)
        for value, x in zip(summary_values(row, same_scale), ends, strict=True):
            put(book.page, x, base, f"{value:,}" if value else DASH, "right", **small)
    rule(book.page, base + 0.05, style.MARGIN, right, HEAVY)
    book.y = base + 0.08
    book.lines(holds_text(rows[-1]))


def holds_text(total: Mapping[str, Any]) -> str:
    """Return what the columns of the claims count, with the sums."""
    return (
        f"The paper's own numbers bear out {total['holds']:,} of {total['claims']:,} claims, ours "
        f"{total['ours_hold']:,} of the {total['tested']:,} that were run and can be tested, both "
        "taken without intervals. Agrees and opposes are with and against the sign of the paper's "
        f"own number; {total['bare']:,} of them rest on a number of ours without an interval."
    )


def _bars(book: Book, rows: Sequence[Mapping[str, Any]]) -> None:
    rows = [row for row in rows if row["claims"]]
    height = 0.16 * len(rows)
    book.heading("Directions by table and figure", keep=height + 0.5)
    axes = book.axes(2.6, book.y + 0.06, 2.5, height)
    for at, row in enumerate(rows):
        left = 0.0
        for verdict, (face, hatch) in BARS.items():
            share = row["verdicts"][verdict] / row["claims"]
            axes.barh(
                at, share, left=left, height=0.66, facecolor=face, hatch=hatch,
                edgecolor="black", linewidth=0.4 if share else 0.0,
            )  # fmt: skip
            left += share
        text = (
            f"holds: paper {row['holds']} of {row['claims']}, "
            f"ours {row['ours_hold']} of {row['tested']}"
        )
        axes.text(1.02, at, text, va="center", fontsize=style.SMALL)
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, 1))
    axes.set_yticks(range(len(rows)), [f"{row['item']}: {_short(row['shows'])}" for row in rows])
    axes.tick_params(labelsize=style.SMALL)
    samples = [Patch(facecolor=f, hatch=h, edgecolor="black", linewidth=0.4)
               for f, h in BARS.values()]  # fmt: skip
    axes.legend(
        samples, list(BARS), ncols=len(BARS), frameon=False, loc="upper center",
        bbox_to_anchor=(0.5, -0.18 / height), borderaxespad=0, fontsize=style.SMALL,
        columnspacing=1.2, title="share of the item's claims", title_fontsize=style.SMALL,
    )  # fmt: skip
    book.space(height + 0.52)


def _short(text: str) -> str:
    """Return a description without what follows its first comma, as the column is narrow."""
    return text.split(",")[0]


def scatter_points(comparison: Comparison) -> dict[str, list[tuple[float, float, str]]]:
    """Return the paper's number, ours and the class of each cell that we have, by item and unit.

    An item whose numbers have several units has a panel for each, and so have differences; counts
    are on log axes.
    """
    points: dict[str, list[tuple[float, float, str]]] = {}
    for cell in comparison.cells:
        if cell.ours is not None:
            unit = UNITS[cell.paper.kind]
            unit = f"Δ of {unit}" if cell.paper.measure == DELTA else unit
            name = f"{cell.paper.item}: {unit}"
            points.setdefault(name, []).append((cell.paper.value, cell.ours.value, cell.verdict))
    return points


def _scatter(book: Book, comparison: Comparison) -> None:
    points = scatter_points(comparison)
    if not points:
        return
    book.heading("Our numbers over the paper's", keep=PANEL + GAP)
    book.lines("Line: equal. Counts are on logarithmic axes; those that are 0 are left out.")
    for at, (name, found) in enumerate(points.items()):
        column = at % PANELS
        if column == 0:
            book.room(PANEL + GAP + 0.3)
            top = book.y + 0.26
            book.space(PANEL + GAP + 0.16)
        left = 0.44 + column * (PANEL + GAP)
        axes = book.axes(left, top, PANEL, PANEL)
        counts = name.endswith(UNITS["count"])
        shown = [(x, y) for x, y, _ in found if not counts or (x > 0 and y > 0)]
        axes.plot(*zip(*shown, strict=True) if shown else ([], []), "o", markersize=2.5,
                  markerfacecolor="none", markeredgecolor=OURS, markeredgewidth=0.6)  # fmt: skip
        if counts and shown:
            axes.set(xscale="log", yscale="log")
        ends = (min(*axes.get_xlim(), *axes.get_ylim()), max(*axes.get_xlim(), *axes.get_ylim()))
        axes.plot(ends, ends, color=style.GREY, linewidth=0.6, zorder=0)
        axes.set(xlim=ends, ylim=ends)
        if not counts:
            axes.locator_params(nbins=2)
        axes.tick_params(labelsize=style.SMALL)
        axes.set_title(name, fontsize=style.SMALL)
        axes.set_xlabel("paper", fontsize=style.SMALL, labelpad=1)
        if column == 0:
            axes.set_ylabel("ours", fontsize=style.SMALL, labelpad=1)


def _notes(book: Book, comparison: Comparison) -> None:
    book.heading(NOTES, keep=0.6)
    for note in comparison.notes:
        if book.room(2 * STEP):
            book.heading(f"{NOTES} (continued)")
        book.lines(f"{note.letter}  {', '.join(note.items)} ({KINDS[note.kind]}): {note.text}", 0.1)
    if comparison.names.values:
        book.heading("Tolerances", keep=0.6)
        for line in tolerance_lines(comparison.bounds):
            book.lines(line, 0.1)


def draw_comparison(comparison: Comparison, footer: str) -> list[Figure]:
    """Return the pages: names, counts and directions by item, claims, scatter, numbers, notes.

    Call within `style.print_style()`.
    """
    rows = summary(comparison)
    book = Book(TITLE, footer)
    book.space(0.06)
    book.lines(comparison.scale_note)
    draw_mapping(book, comparison)
    _summary_table(book, rows, comparison.names.values)
    _bars(book, [row for row in rows if row["item"] in ITEMS])
    draw_directions(book, comparison)
    _scatter(book, comparison)
    book.heading("All numbers", keep=2.2)
    book.lines(KEY_NOTE)
    for item in ITEMS:
        for table in tables_of(comparison, item):
            draw_table(book, table, comparison.notes)
    _notes(book, comparison)
    return book.figures
