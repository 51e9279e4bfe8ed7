"""A corpus file read a block of documents at a time, from any line on."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from posbias.errors import DataError

AGAIN = "delete the file and run the step that makes it again"


@dataclass(frozen=True, slots=True)
class CorpusLine:
    """One document of a corpus that one benchmark has or several share.

    line: from 0. rows: in a joined corpus the document's index in the corpus of each member that
    has it, by the member's number; None in a corpus of its own, where the line is the index.
    """

    line: int
    doc_id: str
    text: str
    rows: dict[int, int] | None

    def index_of(self, member: int) -> int | None:
        """Return the document's index in a member's own corpus, None if that lacks it."""
        return self.line if self.rows is None else self.rows.get(member)


def count_lines(corpus: Path) -> int:
    """Return the number of lines; raises DataError where there is no file or no line."""
    if not Path(corpus).is_file():
        raise DataError(f"{corpus}: no such file; run the step that makes it.")
    with Path(corpus).open("rb") as lines:
        count = sum(1 for _ in lines)
    if not count:
        raise DataError(f"{corpus}: the corpus is empty.")
    return count


def _corpus_line(raw: bytes, line: int, corpus: Path) -> CorpusLine:
    try:
        record = json.loads(raw)
        joined = "members" in record
        rows = dict(zip(record["members"], record["rows"], strict=True)) if joined else None
        found = CorpusLine(line, record["doc_id"], record["text"], rows)
    except (ValueError, KeyError, TypeError) as fault:
        raise DataError(
            f"{corpus}, line {line + 1}: not a document ({type(fault).__name__}: {fault}); {AGAIN}."
        ) from fault
    if not isinstance(found.doc_id, str) or not isinstance(found.text, str):
        raise DataError(f"{corpus}, line {line + 1}: doc_id and text must be texts; {AGAIN}.")
    return found


def corpus_blocks(corpus: Path, lines: range, size: int) -> Iterator[list[CorpusLine]]:
    """Yield the documents on these lines, from 0, in blocks of `size`; only a block is in memory.

    Lines before the range are skipped unread. Raises DataError naming file, line (from 1) and
    fault, also where the file ends early.
    """
    with Path(corpus).open("rb") as file:
        wanted = islice(file, lines.start, lines.stop)
        for first in range(lines.start, lines.stop, size):
            block = [
                _corpus_line(raw, line, corpus)
                for line, raw in enumerate(islice(wanted, size), start=first)
            ]
            if len(block) < min(size, lines.stop - first):
                raise DataError(
                    f"{corpus}: ends after {first + len(block)} lines, expected {lines.stop}; "
                    f"{AGAIN}."
                )
            yield block
