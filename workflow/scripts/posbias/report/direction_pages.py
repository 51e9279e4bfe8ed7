"""The directions of the paper and ours, claim by claim, as they are printed."""

from collections.abc import Mapping
from typing import Any

from posbias.report import style
from posbias.report.comparison_cells import number_text
from posbias.report.direction_rules import AGREES, NOT_RUN, OPPOSES, UNCLEAR
from posbias.report.page import LIGHT, put, rule
from posbias.report.paged import STEP, Book
from posbias.report.paper_vs_ours import Comparison

DIRECTION_NOTE = (
    "Each claim is one number made of the cells named in it, by one rule for the paper's cells and "
    "ours; it holds above its threshold (0, if nothing is said). Agrees: ours lies on the same "
    "side as the paper's. Unclear: our interval includes the threshold; where only the two numbers "
    "of a difference have intervals, that is the widest difference they allow, so that unclear is "
    "said too often rather than too seldom. Peaks and slopes of a row have no interval."
)
MARKS = {AGREES: "✓", UNCLEAR: "~", OPPOSES: "✗", NOT_RUN: ""}
ABOUT, THEIRS, OURS, VERDICT = 0.2, 3.3, 4.4, 6.1  # inches: where the columns stand


def direction_texts(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the paper's number and ours with its interval, as printed, with signs."""
    kind, digits = row["printed_kind"], row["printed_digits"]

    def text(value: float | None) -> str:
        return number_text(value, kind, digits, signed=True)

    ours = text(row["our_value"])
    if row["our_low"] is not None and row["our_high"] is not None:
        ours += f" ({text(row['our_low'])} to {text(row['our_high'])})"
    return text(row["paper_value"]), ours


def direction_groups(comparison: Comparison) -> dict[str, list[Mapping[str, Any]]]:
    """Return the judged claims by their text, headed by item and what the paper's numbers say."""
    texts: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in comparison.directions:
        texts.setdefault((row["item"], row["claim"]), []).append(row)
    return {
        f"{item}: {text} (the paper's own numbers: {sum(row['paper_holds'] for row in rows)} of "
        f"{len(rows)})": rows
        for (item, text), rows in texts.items()
    }


def _draw_row(book: Book, row: Mapping[str, Any]) -> None:
    book.y += STEP
    theirs, ours = direction_texts(row)
    small = {"fontsize": style.SMALL}
    put(book.page, ABOUT, book.y, row["about"], "left", **small)
    doubt = "" if row["paper_holds"] else " (does not hold)"
    put(book.page, THEIRS, book.y, theirs, "right", **small)
    put(book.page, THEIRS + 0.03, book.y, doubt, "left", **small)
    put(book.page, OURS, book.y, ours, "left", **small)
    weight = "bold" if row["verdict"] == OPPOSES else "normal"
    mark = f"{MARKS[row['verdict']]} {row['verdict']}".strip()
    put(book.page, VERDICT, book.y, mark, "left", fontweight=weight, **small)


def _draw_head(book: Book) -> None:
    book.y += STEP + 0.02
    font = {"fontsize": style.SMALL, "color": style.GREY}
    for text, x, align in (
        ("paper", THEIRS, "right"),
        ("ours (interval)", OURS, "left"),
        ("verdict", VERDICT, "left"),
    ):
        put(book.page, x, book.y, text, align, **font)
    rule(book.page, book.y + 0.04, style.MARGIN, style.PAGE_WIDTH - style.MARGIN, LIGHT)
    book.space(0.05)


def draw_directions(book: Book, comparison: Comparison) -> None:
    """Set all claims on pages of their own, those of one text together."""
    book.turn()
    book.heading("Directions, claim by claim")
    book.lines(DIRECTION_NOTE)
    _draw_head(book)
    for text, rows in direction_groups(comparison).items():
        book.room(5 * STEP)
        book.space(0.05)
        book.lines(text, ABOUT - style.MARGIN)
        for row in rows:
            if book.room(STEP):
                _draw_head(book)
            _draw_row(book, row)
