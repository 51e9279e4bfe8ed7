"""Which of our benchmarks, groups and retrievers stand for the paper's, as it is printed."""

from collections.abc import Sequence

from posbias.report import style
from posbias.report.page import HEAVY, LIGHT, put, rule
from posbias.report.paged import STEP, Book
from posbias.report.paper_vs_ours import Comparison

BENCHMARK_HEADS = (
    "paper's benchmark", "its position groups", "our benchmark", "our position groups",
)  # fmt: skip
GAP = 0.14  # inches between columns


def _columns(rows: Sequence[Sequence[str]], left: float, most: float) -> list[float]:
    """Return where the columns start, in inches; the last one takes what is left of `most`."""
    starts = [left]
    for at in range(len(rows[0]) - 1):
        widest = max(style.text_width(row[at], style.SMALL) for row in rows)
        starts.append(min(starts[-1] + widest + GAP, most))
    return starts


def _table(book: Book, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    right = style.PAGE_WIDTH - style.MARGIN
    starts = _columns([heads, *rows], style.MARGIN, right - 1.0)
    small = {"fontsize": style.SMALL}
    rule(book.page, book.y + 0.04, style.MARGIN, right, HEAVY)
    book.y += STEP + 0.05
    for head, x in zip(heads, starts, strict=True):
        put(book.page, x, book.y, head, "left", color=style.GREY, **small)
    rule(book.page, book.y + 0.04, style.MARGIN, right, LIGHT)
    book.space(0.04)
    for row in rows:
        last = style.wrap(row[-1], right - starts[-1], style.SMALL)
        for text, x in zip(row[:-1], starts, strict=False):
            put(book.page, x, book.y + STEP, text, "left", **small)
        for at, line in enumerate(last):
            put(book.page, starts[-1], book.y + (at + 1) * STEP, line, "left", **small)
        book.space(STEP * max(1, len(last)))
    rule(book.page, book.y + 0.05, style.MARGIN, right, HEAVY)
    book.space(0.06)


def draw_mapping(book: Book, comparison: Comparison) -> None:
    """Set what of ours stands for what of the paper's: benchmarks, retrievers, and sentences."""
    book.heading("What stands for what", keep=1.0)
    _table(book, BENCHMARK_HEADS, comparison.ours.benchmark_rows())
    pairs = "; ".join(f"{name}: {ours}" for name, ours in comparison.ours.retriever_rows())
    book.lines(f"Retrievers, the paper's: ours. {pairs}.")
    for sentence in comparison.remarks:
        book.lines(sentence)
