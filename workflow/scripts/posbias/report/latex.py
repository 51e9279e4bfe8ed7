"""Tables as LaTeX with booktabs rules, ready for \\input."""

import re
from collections.abc import Sequence

from jinja2 import Environment

from posbias.report.page_templates import template_environment
from posbias.report.printed import Cell, PrintedRow
from posbias.report.records import SETTING_LABELS
from posbias.report.tables import Grid

SPECIALS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\N{MINUS SIGN}": "$-$",
    "–": "--",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "²": "$^2$",
    "≥": r"$\geq$",
    "τ": r"$\tau$",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
}
SPECIAL = re.compile("|".join(re.escape(mark) for mark in SPECIALS))


def escape(text: str) -> str:
    """Return the text with the characters that LaTeX reads as commands made printable."""
    return SPECIAL.sub(lambda mark: SPECIALS[mark.group()], text)


def _cell(cell: Cell) -> str:
    text = rf"\textbf{{{escape(cell.text)}}}" if cell.bold else escape(cell.text)
    if cell.underlined:
        text = rf"\underline{{{text}}}"
    mark = rf"\textsuperscript{{{escape(cell.mark)}}}" if cell.mark else ""
    if mark and not cell.interval:
        mark = rf"\rlap{{{mark}}}"  # so that numbers without a mark stand right below
    return text + mark


def _environment() -> Environment:
    environment = template_environment(
        autoescape=False,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    environment.filters |= {"tex": escape, "cell": _cell}
    return environment


def latex_table(rows: Sequence[PrintedRow], title: str, notes: Sequence[str]) -> str:
    """Return a `table*` with caption (title and notes) and label `tab:psi` (Table 3)."""
    template = _environment().get_template("psi_table.tex.j2")
    return template.render(
        rows=rows, title=title, notes=notes, settings=list(SETTING_LABELS.values())
    )


def latex_grid(grid: Grid, title: str, more_notes: Sequence[str], label: str) -> str:
    """Return a `table*` with caption (title and notes) and this label, a rule above each section.

    The interval of a cell follows its number in small type.
    """
    template = _environment().get_template("grid_table.tex.j2")
    return template.render(
        columns=grid.columns,
        sections=grid.sections,
        title=title,
        notes=[*grid.notes, *more_notes],
        label=label,
    )
