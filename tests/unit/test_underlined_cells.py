"""Underlined numbers: a rule as wide as the number, in print and in LaTeX; nothing else moves."""

import pytest
from matplotlib.figure import Figure

from page_checks import check_page, texts_on
from posbias.report import style
from posbias.report.grid import draw_grid
from posbias.report.latex import latex_grid
from posbias.report.printed import Cell
from posbias.report.tables import Column, Grid, Section


def grid(*cells: Cell, number: bool = True) -> Grid:
    columns = [Column("Name", number=False), *(Column("Value", number) for _ in cells)]
    return Grid(columns, [Section("", ((Cell("row"), *cells),))], [])


def page(one: Grid) -> Figure:
    with style.print_style():
        return draw_grid(one, "Title", "footer")


def rules(figure: Figure) -> list:
    return list(figure.axes[0].lines)


@pytest.mark.parametrize("number", [True, False])
@pytest.mark.parametrize("bold", [True, False])
def test_the_rule_lies_right_below_its_number(number, bold) -> None:
    cells = (Cell(".438", bold, ".4–.5", underlined=True), Cell(".512"))
    figure = check_page(lambda: draw_grid(grid(*cells, number=number), "Title", "footer"))
    (extra,) = [line for line in rules(figure) if line.get_xdata()[1] - line.get_xdata()[0] < 1]
    (text,) = [text for text in texts_on(figure) if text.get_text() == ".438"]
    box = text.get_window_extent().transformed(figure.axes[0].transData.inverted())
    assert list(extra.get_xdata()) == pytest.approx([box.x0, box.x1], abs=0.03)
    (y,) = set(extra.get_ydata())
    assert 0 < y - text.get_position()[1] < 0.05


def test_a_mark_moves_nothing_else() -> None:
    plain, marked = (page(grid(Cell(".438", underlined=u), Cell(".5"))) for u in (False, True))
    places = [
        [(t.get_text(), t.get_position()) for t in texts_on(figure)] for figure in (plain, marked)
    ]
    assert places[0] == places[1]
    assert len(rules(marked)) == len(rules(plain)) + 1


def test_latex_underlines_what_is_underlined() -> None:
    cells = (
        Cell(".1", underlined=True),
        Cell(".2", bold=True, underlined=True),
        Cell(".3", bold=True),
        Cell("4 %", underlined=True, mark="†"),
    )
    tex = latex_grid(grid(*cells), "Title", [], "tab:x")
    (row,) = [line for line in tex.splitlines() if "row &" in line]
    assert row.strip() == (
        r"row & \underline{.1} & \underline{\textbf{.2}} & \textbf{.3} & "
        r"\underline{4 \%}\rlap{\textsuperscript{$\dagger$}} \\"
    )
