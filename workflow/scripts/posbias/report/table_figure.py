"""The PSI table as a printed page: rules, right-aligned numbers, intervals in small grey."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posbias.report import style
from posbias.report.page import HEAVY, LIGHT, blank_page, put, rule
from posbias.report.printed import Cell, PrintedRow
from posbias.report.records import SETTING_LABELS

# Right edges of the number columns and left edges of the text columns, in inches.
LABEL_LEFT, LABEL_WIDTH = style.MARGIN, 1.24
NDCG_RIGHT = (1.62, 1.98, 2.34, 2.70)
PSI_RIGHT = (3.20, 3.72, 4.24, 4.76)
NDCG_WIDTH, PSI_WIDTH = 0.28, 0.44
REDUCTION_RIGHT = 5.70
VERDICT_LEFT = 5.80
ROW, LINE, HEAD = 0.285, 0.115, 0.17  # inches: a row, its second line, a line of the heading
TOP, GAP = 0.29, 0.045  # inches: above the first rule, above a later one
INTERVAL = 6.0  # points


def _number(page: Axes, x: float, y: float, cell: Cell, align: str = "right") -> None:
    put(page, x, y, cell.text, align, fontweight="bold" if cell.bold else "normal")
    if cell.interval:
        put(page, x, y + LINE, cell.interval, align, fontsize=INTERVAL, color=style.GREY)


def _heading(page: Axes, y: float) -> float:
    """Draw the two heading lines and their rules; return the y below them."""
    right = style.PAGE_WIDTH - style.MARGIN
    rule(page, y, style.MARGIN, right, HEAVY)
    upper, lower = y + HEAD, y + 2 * HEAD + 0.03
    for name, edges, width in (("nDCG@10", NDCG_RIGHT, NDCG_WIDTH), ("PSI", PSI_RIGHT, PSI_WIDTH)):
        left = edges[0] - width
        put(page, (left + edges[-1]) / 2, upper, name, "center")
        rule(page, upper + 0.055, left, edges[-1], LIGHT)
        for edge, label in zip(edges, SETTING_LABELS.values(), strict=True):
            put(page, edge, lower, label, "right")
    put(page, LABEL_LEFT, lower, "Retriever", "left")
    put(page, REDUCTION_RIGHT, upper, "PSI reduction,", "right")
    put(page, REDUCTION_RIGHT, lower, "worst to MU, %", "right")
    put(page, VERDICT_LEFT, upper, "Direction", "left")
    put(page, VERDICT_LEFT, lower, "as trained?", "left")
    rule(page, lower + 0.07, style.MARGIN, right, LIGHT)
    return lower + 0.07


def _row(page: Axes, y: float, row: PrintedRow) -> None:
    for below, line in enumerate(style.wrap(row.label, LABEL_WIDTH, style.BODY)):
        put(page, LABEL_LEFT, y + below * LINE, line, "left")
    if row.reference:
        _number(page, (NDCG_RIGHT[0] - NDCG_WIDTH + NDCG_RIGHT[-1]) / 2, y, row.ndcg[0], "center")
        _number(page, (PSI_RIGHT[0] - PSI_WIDTH + PSI_RIGHT[-1]) / 2, y, row.psi[0], "center")
    else:
        for edge, cell in zip(NDCG_RIGHT + PSI_RIGHT, row.ndcg + row.psi, strict=True):
            _number(page, edge, y, cell)
    put(page, REDUCTION_RIGHT, y, row.reduction, "right")
    for below, line in enumerate(row.verdict):
        put(page, VERDICT_LEFT, y + below * LINE, line, "left")


def draw_psi_table(
    rows: Sequence[PrintedRow], title: str, notes: Sequence[str], footer: str
) -> Figure:
    """Return a page 7 in wide with the table, its notes and its footer (Table 3).

    Call within `style.print_style()`.
    """
    right = style.PAGE_WIDTH - style.MARGIN
    wrapped = style.wrap(" ".join(notes), right - style.MARGIN, style.SMALL)
    step = 1.3 * style.SMALL / 72
    below = style.footer_height(footer)
    groups = len({row.reference for row in rows})
    table = TOP + 2 * HEAD + 0.1 + len(rows) * ROW + groups * GAP
    height = table + len(wrapped) * step + 0.15 + below
    figure, page = blank_page(height)
    put(page, LABEL_LEFT, 0.19, title, "left", fontweight="bold")
    y = _heading(page, TOP)
    in_references = False
    for row in rows:
        if row.reference and not in_references:
            in_references = True
            rule(page, y + GAP, style.MARGIN, right, LIGHT)
            y += GAP
        _row(page, y + 0.15, row)
        y += ROW
    rule(page, y + GAP, style.MARGIN, right, HEAVY)
    style.draw_lines(figure, wrapped, below + 0.07, style.SMALL, "black")
    style.draw_footer(figure, footer)
    return figure
