"""The printed report of paper and ours: counts, scatter, directions, all numbers, notes."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from posbias.report import style
from posbias.report.comparison_cells import ITEMS, UNITS
from posbias.report.direction_pages import draw_directions
from posbias.report.direction_rules import AGREES, NOT_RUN, OPPOSES, UNCLEAR, VERDICTS
from posbias.report.inconsistencies import KINDS
from posbias.report.page import HEAVY, LIGHT, put, rule
from posbias.report.paged import Book
from posbias.report.paired_grid import KEY_NOTE, OURS, draw_table, tables_of
from posbias.report.paper_vs_ours import Comparison, summary
from posbias.report.printed import DASH
from posbias.report.tolerances import CLASSES, tolerance_lines

TITLE = "The retriever study's numbers: the paper's and ours"
ROW = 0.15  # inches
BARS = {  # verdict: face, hatch
    AGREES: ("#0072b2", ""),
    UNCLEAR: ("#ffffff", "////"),
    OPPOSES: ("#d55e00", "xxxx"),
    NOT_RUN: ("#e9e9e9", ""),
}
PANELS, PANEL, GAP = 4, 1.28, 0.44  # scatter: panels in a row, inches of one, between them


def _summary_table(book: Book, rows: Sequence[Mapping[str, Any]]) -> None:
    heads = ("numbers", *CLASSES, "claims", "paper's own", *VERDICTS)
    ends = [2.78, 3.12, 3.4, 3.74, 4.06, 4.44, 4.8, 5.24, 5.64, 6.06, 6.52, 6.86]
    top = book.y + 0.14
    rule(book.page, top, style.MARGIN, style.PAGE_WIDTH - style.MARGIN, HEAVY)
    small = {"fontsize": style.SMALL}
    for head, x in zip(heads, ends, strict=True):
        for at, word in enumerate(reversed(head.split(" "))):
            put(book.page, x, top + 0.28 - at * 0.11, word, "right", **small)
    base = top + 0.36
    rule(book.page, base, style.MARGIN, style.PAGE_WIDTH - style.MARGIN, LIGHT)
    for row in rows:
        base += ROW
        if row["item"] == "all":
            rule(book.page, base - 0.11, style.MARGIN, style.PAGE_WIDTH - style.MARGIN, LIGHT)
            base += 0.02
        put(book.page, style.MARGIN, base, row["item"], "left", fontweight="bold", **small)
        put(book.page, 0.78, base, _short(row["shows"]), "left", **small)
        values = [row["cells"], *row["classes"].values(), row["claims"], row["holds"],
                  *row["verdicts"].values()]  # fmt: skip
        for value, x in zip(values, ends, strict=True):
            put(book.page, x, base, f"{value:,}" if value else DASH, "right", **small)
    rule(book.page, base + 0.05, style.MARGIN, style.PAGE_WIDTH - style.MARGIN, HEAVY)
    book.y = base + 0.08


def _short(text: str) -> str:
    """Return a description without what follows its first comma, as the column is narrow."""
    return text.split(",")[0]


def _bars(book: Book, rows: Sequence[Mapping[str, Any]]) -> None:
    rows = [row for row in rows if row["claims"]]
    height = 0.19 * len(rows)
    book.heading("Directions by table and figure", keep=height + 0.7)
    axes = book.axes(1.0, book.y + 0.06, style.PAGE_WIDTH - 2.6, height)
    for at, row in enumerate(rows):
        left = 0.0
        for verdict, (face, hatch) in BARS.items():
            share = row["verdicts"][verdict] / row["claims"]
            axes.barh(
                at, share, left=left, height=0.66, facecolor=face, hatch=hatch,
                edgecolor="black", linewidth=0.4 if share else 0.0,
            )  # fmt: skip
            left += share
        text = f"paper's own: {row['holds']} of {row['claims']}"
        axes.text(1.02, at, text, va="center", fontsize=style.SMALL)
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, 1), xlabel="share of the item's claims")
    axes.set_yticks(range(len(rows)), [row["item"] for row in rows])
    samples = [Patch(facecolor=f, hatch=h, edgecolor="black", linewidth=0.4)
               for f, h in BARS.values()]  # fmt: skip
    axes.legend(
        samples, list(BARS), ncols=len(BARS), frameon=False, loc="upper center",
        bbox_to_anchor=(0.5, -0.38 / height), borderaxespad=0,
    )  # fmt: skip
    book.space(height + 0.78)


def scatter_points(comparison: Comparison) -> dict[str, list[tuple[float, float, str]]]:
    """Return the paper's number, ours and the class of each cell that we have, by item and unit.

    An item whose numbers have several units has a panel for each; counts are on log axes.
    """
    points: dict[str, list[tuple[float, float, str]]] = {}
    for cell in comparison.cells:
        if cell.ours is not None:
            name = f"{cell.paper.item}: {UNITS[cell.paper.kind]}"
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
        left = 0.45 + column * (PANEL + GAP)
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
            axes.locator_params(nbins=3)
        axes.tick_params(labelsize=style.SMALL)
        axes.set_title(name, fontsize=style.SMALL)
        axes.set_xlabel("paper", fontsize=style.SMALL, labelpad=1)
        if column == 0:
            axes.set_ylabel("ours", fontsize=style.SMALL, labelpad=1)


def _notes(book: Book, comparison: Comparison) -> None:
    book.heading("Notes on the published numbers", keep=0.6)
    for note in comparison.notes:
        book.lines(f"{note.letter}  {', '.join(note.items)} ({KINDS[note.kind]}): {note.text}", 0.1)
    if comparison.names.values:
        book.heading("Tolerances", keep=0.6)
        for line in tolerance_lines(comparison.bounds):
            book.lines(line, 0.1)


def draw_comparison(comparison: Comparison, footer: str) -> list[Figure]:
    """Return the pages: counts and directions by item, scatter, claims, all numbers, notes.

    Call within `style.print_style()`.
    """
    rows = summary(comparison)
    book = Book(TITLE, footer)
    book.space(0.06)
    book.lines(comparison.scale_note)
    _summary_table(book, rows)
    _bars(book, [row for row in rows if row["item"] in ITEMS])
    _scatter(book, comparison)
    draw_directions(book, comparison)
    book.turn()
    book.lines(KEY_NOTE)
    for item in ITEMS:
        for table in tables_of(comparison, item):
            draw_table(book, table, comparison.notes)
    _notes(book, comparison)
    return book.figures
