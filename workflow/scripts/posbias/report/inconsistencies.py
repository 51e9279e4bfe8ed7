"""Notes on the published numbers: slips, readings and open choices, at the cells they concern."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from posbias.errors import DataError
from posbias.report.comparison_cells import ITEMS, Cell

KINDS = {"slip": "slip", "reading": "reading", "open": "left open", "rounding": "rounding"}
# Field of a note: the field of a cell that it narrows.
NARROWED = {
    "benchmarks": "benchmark",
    "models": "model",
    "settings": "setting",
    "measures": "measure",
    "places": "place",
}
FIELDS = ("id", "kind", "items", "text")


@dataclass(frozen=True)
class Note:
    """One note: its letter, kind and text, its items, and what narrows it to some cells."""

    letter: str
    kind: str
    text: str
    items: tuple[str, ...]
    narrowed: Mapping[str, Sequence[str]]

    def concerns(self, cell: Cell) -> bool:
        """Say whether the note is about a cell."""
        return cell.item in self.items and all(
            getattr(cell, field) in values for field, values in self.narrowed.items()
        )


def _note(record: Mapping[str, Any]) -> Note:
    missing = [name for name in FIELDS if not record.get(name)]
    unknown = [name for name in record if name not in (*FIELDS, *NARROWED)]
    if missing or unknown:
        raise DataError(
            f"the note {record.get('id')!r} on the published numbers lacks "
            f"{', '.join(missing) or 'nothing'}, has unknown {', '.join(unknown) or 'nothing'}; "
            "mend the file of inconsistencies."
        )
    strange = [item for item in record["items"] if item not in ITEMS]
    if strange or record["kind"] not in KINDS:
        raise DataError(
            f"the note {record['id']!r} on the published numbers: unknown "
            f"{', '.join(strange) or record['kind']}; items are {', '.join(ITEMS)}, "
            f"kinds {', '.join(KINDS)}."
        )
    narrowed = {field: record[name] for name, field in NARROWED.items() if name in record}
    return Note(record["id"], record["kind"], record["text"], tuple(record["items"]), narrowed)


def read_notes(content: Any, paper: Iterable[Cell]) -> list[Note]:
    """Return the notes of a file's content {"notes": [...]}, each about at least one cell.

    Raises DataError naming a note that has another form, repeats an id, or is about no cell.
    """
    if not isinstance(content, Mapping) or not isinstance(content.get("notes"), list):
        raise DataError("the inconsistencies lack their list of notes; take the file as shipped.")
    notes = [_note(record) for record in content["notes"]]
    cells = list(paper)
    letters = [note.letter for note in notes]
    for note in notes:
        if letters.count(note.letter) > 1:
            raise DataError(f"two notes on the published numbers are {note.letter!r}; rename one.")
        if not any(note.concerns(cell) for cell in cells):
            raise DataError(
                f"the note {note.letter!r} on the published numbers is about none of them; "
                "mend what narrows it."
            )
    return notes


def letters_of(notes: Iterable[Note], cell: Cell) -> str:
    """Return the letters of the notes on a cell."""
    return "".join(note.letter for note in notes if note.concerns(cell))
