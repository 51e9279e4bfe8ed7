"""The three equal segments of a document (retriever study, section 3.1.1)."""

import itertools
from typing import NamedTuple

from posbias.errors import DataError

POSITIONS = ("begin", "middle", "end")


class Segment(NamedTuple):
    """A half-open range of 0-based code points of one document."""

    doc_id: str
    position: str
    start: int
    end: int


def thirds(n_chars: int) -> tuple[tuple[int, int], ...]:
    """Cut [0, n_chars) into three half-open code-point ranges whose lengths differ by at most one.

    Example: `thirds(7) == ((0, 2), (2, 4), (4, 7))`. Raises DataError below three code points.
    """
    return equal_ranges(n_chars, len(POSITIONS))


def equal_ranges(n_chars: int, parts: int) -> tuple[tuple[int, int], ...]:
    """Cut [0, n_chars) into `parts` half-open ranges whose lengths differ by at most one.

    Raises DataError for less than one part, and for less code points than parts.
    """
    if parts < 1:
        raise DataError(f"a text cannot be cut into {parts} segments; expected 1 or more.")
    if n_chars < parts:
        raise DataError(f"a text of {n_chars} characters cannot be cut into {parts} segments.")
    cuts = [n_chars * k // parts for k in range(parts + 1)]
    return tuple(itertools.pairwise(cuts))


def segments_of(doc_id: str, text: str) -> list[Segment]:
    """Return the begin, middle and end segment of a document."""
    return [
        Segment(doc_id, position, start, end)
        for position, (start, end) in zip(POSITIONS, thirds(len(text)), strict=True)
    ]


def segment_texts(text: str) -> tuple[str, str, str]:
    """Return the text of the three segments; joined without a separator they give `text` back."""
    return tuple(text[start:end] for start, end in thirds(len(text)))
