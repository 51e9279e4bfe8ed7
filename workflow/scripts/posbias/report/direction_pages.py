"""The directions of the paper and ours, claim by claim, as they are printed."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from posbias.report import style
from posbias.report.comparison_cells import number_text
from posbias.report.direction_rules import (
    AGREES,
    NOT_RUN,
    OPPOSES,
    UNCLEAR,
    UNTESTABLE,
    Estimate,
    Parts,
    sign_of,
)
from posbias.report.page import LIGHT, put, rule
from posbias.report.paged import STEP, Book
from posbias.report.paper_vs_ours import Comparison
from posbias.report.signs import DASH

DIRECTION_NOTE = (
    "Each claim is one number made of the cells named in it, by one rule for the paper's cells and "
    "ours; it holds above its threshold (0, if nothing is said). Agrees: ours lies on the same "
    "side as the paper's own number, whether or not the claim holds there; opposes: on the other. "
    "Unclear: our interval includes the threshold, or our number is on it; where only the two "
    "numbers of a difference have intervals, ours is the widest difference they allow, so that "
    "unclear is said too often rather than too seldom. No interval: the verdict rests on our "
    "number alone, as of peaks and slopes of a row, and of counts. Not testable: ours stand at "
    "their bound everywhere."
)
NO_INTERVAL, FAILS = " (no interval)", " (does not hold)"
MARKS = {AGREES: "✓", UNCLEAR: "~", OPPOSES: "✗", UNTESTABLE: "", NOT_RUN: ""}
ABOUT, THEIRS, OURS, VERDICT = 0.2, 3.42, 4.22, 6.28  # inches: where the columns stand
NUMBER = 0.42  # inches: the paper's number


def _estimate_text(row: Mapping[str, Any], estimate: Estimate) -> str:
    """Return a number as printed, with its sign, and its interval where it has one."""
    kind, digits = row["printed_kind"], row["printed_digits"]
    texts = [
        number_text(value, kind, digits, signed=True)
        for value in (estimate.value, estimate.low, estimate.high)
    ]
    return f"{texts[0]} ({texts[1]} to {texts[2]})" if estimate.bounded else texts[0]


def _side(row: Mapping[str, Any], whole: Estimate, parts: Parts, holds: bool | None) -> list[str]:
    if not parts:
        return [_estimate_text(row, whole) + FAILS * (holds is False)]
    failing = [sign_of(part, row["threshold"]) != "+" for _, part in parts]
    return [
        f"{name} {_estimate_text(row, part)}{FAILS * fails}"
        for (name, part), fails in zip(parts, failing, strict=True)
    ]


def direction_texts(row: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the paper's number and ours as printed, a line each, or one for each of its parts.

    Numbers have their signs and intervals; it is said of those with which the claim does not hold.
    """
    theirs = _side(row, Estimate(row["paper_value"]), row["paper_parts"], row["paper_holds"])
    if row["our_value"] is None:
        return theirs, [DASH]
    mine = Estimate(row["our_value"], row["our_low"], row["our_high"])
    bare = "" if mine.bounded else NO_INTERVAL
    ours = _side(row, mine, row["our_parts"], row["our_holds"])
    return theirs, [_before_doubt(line, bare) for line in ours]


def _before_doubt(line: str, words: str) -> str:
    """Return a line with words after its number."""
    number = line.removesuffix(FAILS)
    return number + words + line[len(number) :]


def direction_groups(comparison: Comparison) -> dict[str, list[Mapping[str, Any]]]:
    """Return the judged claims by their text, headed by item and what both sides' numbers say."""
    texts: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in comparison.directions:
        texts.setdefault((row["item"], row["claim"]), []).append(row)
    return {
        f"{item}: {text} (holds in the paper's own numbers for "
        f"{sum(row['paper_holds'] for row in rows)} of {len(rows)}, in ours for "
        f"{sum(bool(row['our_holds']) for row in rows)} of "
        f"{sum(row['our_holds'] is not None for row in rows)})": rows
        for (item, text), rows in texts.items()
    }


def reasons_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return why claims of a group cannot be tested, each reason once."""
    return list(dict.fromkeys(f"Not testable: {row['reason']}." for row in rows if row["reason"]))


def _lines(book: Book, x: float, base: float, lines: Sequence[str], align: str = "left") -> None:
    for at, line in enumerate(lines):
        put(book.page, x, base + at * STEP, line, align, fontsize=style.SMALL)


def _broken(line: str) -> list[str]:
    """Return a number of ours on as many lines as it takes before the verdict."""
    return style.wrap(line, VERDICT - OURS - 0.08, style.SMALL)


def _about(comparison: Comparison, row: Mapping[str, Any], theirs: Sequence[str]) -> list[str]:
    """Return what a claim is about, broken before the paper's numbers."""
    plain = [line.removesuffix(FAILS) for line in theirs]
    number = max(NUMBER, *(style.text_width(line, style.SMALL) for line in plain))
    width = THEIRS - ABOUT - number - 0.08
    return style.wrap(comparison.ours.about(row["item"], row["words"]), width, style.SMALL)


def _draw_row(
    book: Book, row: Mapping[str, Any], about: Sequence[str], texts: tuple[list[str], list[str]]
) -> None:
    base = book.y + STEP
    theirs, ours = texts
    _lines(book, ABOUT, base, about)
    _lines(book, THEIRS, base, [line.removesuffix(FAILS) for line in theirs], "right")
    doubts = [FAILS if line.endswith(FAILS) else "" for line in theirs]
    _lines(book, THEIRS + 0.01, base, doubts)
    _lines(book, OURS, base, ours)
    weight = "bold" if row["verdict"] == OPPOSES else "normal"
    mark = f"{MARKS[row['verdict']]} {row['verdict']}".strip()
    put(book.page, VERDICT, base, mark, "left", fontweight=weight, fontsize=style.SMALL)
    book.space(STEP * max(len(about), len(theirs), len(ours)))


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
    """Set all claims, those of one text together, its text again on each page that it takes."""
    book.heading("Directions, claim by claim", keep=0.75)
    book.lines(DIRECTION_NOTE)
    book.room(7 * STEP)
    _draw_head(book)
    for text, rows in direction_groups(comparison).items():
        if book.room(5 * STEP):
            _draw_head(book)
        book.space(0.05)
        book.lines(text, ABOUT - style.MARGIN)
        for row in rows:
            theirs, ours = direction_texts(row)
            texts = theirs, list(chain.from_iterable(_broken(line) for line in ours))
            about = _about(comparison, row, texts[0])
            if book.room(STEP * max(len(about), *(len(lines) for lines in texts))):
                _draw_head(book)
                book.lines(f"{text} (continued)", ABOUT - style.MARGIN)
            _draw_row(book, row, about, texts)
        for reason in reasons_of(rows):
            book.lines(reason, ABOUT - style.MARGIN)
