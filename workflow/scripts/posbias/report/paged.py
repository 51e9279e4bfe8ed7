"""Pages of one size filled from top to bottom, in one PDF whose bytes repeat."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from posbias.files import whole_file
from posbias.report import style
from posbias.report.page import blank_page, put

HEIGHT = 9.6  # inches
TOP = 0.19  # inches: the base of the title
STEP = 1.3 * style.SMALL / 72  # inches from one line of small type to the next
BOLD = 1.2  # width of bold letters over that of plain ones, at most
HEADING = 1.3 * style.BODY / 72  # inches from one line of a heading to the next


class Book:
    """Pages of PAGE_WIDTH by HEIGHT inches with one title and footer; y is inches from the top."""

    def __init__(self, title: str, footer: str) -> None:
        """Open the first page."""
        self.title, self.footer = title, footer
        self.figures: list[Figure] = []
        self.bottom = HEIGHT - style.footer_height(footer) - 0.1  # inches; content ends above
        self.turn()

    @property
    def width(self) -> float:
        """Inches between the margins."""
        return style.PAGE_WIDTH - 2 * style.MARGIN

    def turn(self) -> None:
        """Open another page."""
        figure, page = blank_page(HEIGHT)
        self.figures.append(figure)
        self.page: Axes = page
        more = f" (page {len(self.figures)})" if len(self.figures) > 1 else ""
        put(page, style.MARGIN, TOP, self.title + more, "left", fontweight="bold")
        style.draw_footer(figure, self.footer)
        self.y = TOP + 0.12

    @property
    def fresh(self) -> bool:
        """Whether nothing is on the page yet."""
        return self.y <= TOP + 0.12

    def room(self, height: float) -> bool:
        """Turn the page if `height` inches are not left on it; say whether it was turned."""
        if self.y + height <= self.bottom or self.fresh:
            return False
        self.turn()
        return True

    def heading(self, text: str, keep: float = 0.4) -> None:
        """Set a heading, on as many lines as it takes, that stays with the `keep` inches below."""
        lines = style.wrap(text, self.width / BOLD, style.BODY)
        self.room(0.26 + HEADING * (len(lines) - 1) + keep)
        self.y += 0.2 - HEADING
        for line in lines:
            self.y += HEADING
            put(self.page, style.MARGIN, self.y, line, "left", fontweight="bold")
        self.y += 0.06

    def lines(self, text: str, hang: float = 0.0) -> None:
        """Set a sentence in small type over the width; further lines are `hang` inches inwards."""
        for at, line in enumerate(style.wrap(text, self.width - hang, style.SMALL)):
            self.room(STEP)
            self.y += STEP
            x = style.MARGIN + (hang if at else 0.0)
            put(self.page, x, self.y, line, "left", fontsize=style.SMALL)

    def space(self, height: float) -> None:
        """Leave `height` inches free."""
        self.y += height

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return axes on the page, `left` and `top` inches from its upper left corner."""
        return self.figures[-1].add_axes(
            (
                left / style.PAGE_WIDTH,
                1 - (top + height) / HEIGHT,
                width / style.PAGE_WIDTH,
                height / HEIGHT,
            )
        )


def save_pages(figures: Sequence[Figure], path: Path, title: str) -> None:
    """Save pages as one PDF, whole or not at all; equal pages give equal bytes (no date)."""
    metadata = {"Title": title, "Creator": "posbias", "CreationDate": None}
    with whole_file(path) as part, PdfPages(part, metadata=metadata) as pages:
        for figure in figures:
            pages.savefig(figure)
