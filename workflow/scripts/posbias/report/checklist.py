"""The reproducibility checklist of a run: questions that reviewers ask, answered from its record.

An answer is taken from the record, the configuration in it or the verdicts, and is "not recorded"
where they hold none; sections follow the checklists of machine learning conferences.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

UNKNOWN = "not recorded"

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """Rows of text below a header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """A title, questions with their answers, and tables below them."""

    title: str
    answers: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...] = field(default=())


def said(value: Any, unit: str = "") -> str:
    """Return a value as text with its unit; "not recorded" for None and for empty ones."""
    if value is None or value in ("", [], (), {}):
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}{unit}" if isinstance(value, int) else f"{value:,g}{unit}"
    if isinstance(value, list | tuple):
        return ", ".join(said(inner) for inner in value) + unit
    return f"{value}{unit}"


def at(record: Any, *names: str) -> Any:
    """Return the value below nested names, None if one of them is missing."""
    for name in names:
        if not isinstance(record, Mapping) or name not in record:
            return None
        record = record[name]
    return record


def settings_text(block: Mapping[str, Any] | None) -> str:
    """Return the plain values of a block of the config as `name value` pairs."""
    plain = {k: v for k, v in (block or {}).items() if not isinstance(v, Mapping | list)}
    parts = [f"{name} {'null' if value is None else said(value)}" for name, value in plain.items()]
    return "; ".join(parts) or UNKNOWN


def listed(values: Iterable[str]) -> str:
    """Return values in a row, "not recorded" for none."""
    return ", ".join(values) or UNKNOWN


def _cell(text: str) -> str:
    """Return text that stays in its cell: no line ends, no bars, no mark-up of its own."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _table_lines(table: Table) -> list[str]:
    rows = [table.header, ("---",) * len(table.header), *table.rows]
    return ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]


def unanswered(sections: Sequence[Section]) -> list[str]:
    """Return the questions whose whole answer is "not recorded", as "section: question"."""
    return [
        f"{section.title}: {question}"
        for section in sections
        for question, answer in section.answers
        if answer == UNKNOWN
    ]


def checklist_text(title: str, introduction: str, sections: Sequence[Section]) -> str:
    """Return a checklist in Markdown: sections, then what was not recorded."""
    lines = [f"# {title}", "", introduction]
    for number, section in enumerate(sections, start=1):
        lines += ["", f"## {number}. {section.title}"]
        if section.answers:
            lines += ["", *_table_lines(Table(("question", "answer"), section.answers))]
        for table in section.tables:
            lines += ["", *_table_lines(table)]
    open_questions = unanswered(sections)
    lines += ["", f"## {len(sections) + 1}. Not recorded", ""]
    lines += [f"* {_cell(question)}" for question in open_questions] or [
        "Every question above has an answer."
    ]
    return "\n".join(lines) + "\n"
