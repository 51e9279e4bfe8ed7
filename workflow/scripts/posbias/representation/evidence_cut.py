"""A document taken apart: the evidence of a query, and the rest."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from posbias.benchmarks.records import check_text
from posbias.errors import DataError

FIELDS = ("query_id", "query", "doc_id", "rest", "passage")


class Parts(NamedTuple):
    """A document taken apart; rest[:home] + passage + rest[home:] is the document."""

    rest: str
    passage: str
    home: int


@dataclass(frozen=True, slots=True)
class EvidencePair:
    """A query and its document in two parts: rest + passage hold each of its characters once.

    rest: the document without the evidence; passage: the evidence, with the blanks that set it
    off at one side; home: where in the rest the passage stood, in code points from 0.
    """

    query_id: str
    query: str
    doc_id: str
    rest: str
    passage: str
    home: int

    def record(self) -> dict[str, Any]:
        """Return the fields for a JSON line."""
        return asdict(self)


def cut_evidence(text: str, start: int, end: int) -> Parts | None:
    """Return the parts of a document whose evidence is text[start:end], None if one lacks.

    start, end: half-open 0-based code points. The blanks after the evidence, or if there are none
    those before it, go with it, so that the words beside it do not grow together in the rest
    where blanks stand at both sides; where they do not, `home` tells where the rest was joined. A
    part that is blank is none. Raises DataError for a span outside the text.
    """
    if not 0 <= start <= end <= len(text):
        raise DataError(f"[{start}, {end}) is not a range of a text of {len(text)} code points.")
    span = text[start:end]
    end = start + len(span.rstrip())
    start = end - len(span.strip())
    if start == end:
        return None
    before, after = text[:start], text[end:]
    kept_before, kept_after = before, after.lstrip()
    if kept_after == after:
        kept_before = before.rstrip()
    rest = kept_before + kept_after
    if not rest.strip():
        return None
    passage = text[len(kept_before) : len(text) - len(kept_after)]
    return Parts(rest, passage, len(kept_before))


def squeezed(text: str) -> str:
    """Return a text whose white space is one blank at a time, and none at its ends."""
    return " ".join(text.split())


def find_evidence(document: str, passage: str) -> tuple[str, int, int] | None:
    """Return a document and where in it the passage first stands, None if it does not.

    The passage must stand there word by word; where line breaks and blanks differ, both texts are
    returned and searched with one blank for each run of white space. start, end: half-open
    0-based code points of the document returned. Coelho et al. 2024, section 4.2.
    """
    passage = passage.strip()
    if not passage:
        return None
    start = document.find(passage)
    if start < 0:
        document, passage = squeezed(document), squeezed(passage)
        start = document.find(passage)
    return None if start < 0 else (document, start, start + len(passage))


def checked(pair: EvidencePair, source: object) -> EvidencePair:
    """Return a pair whose texts can be written; raises DataError naming the source otherwise."""
    for name in FIELDS:
        check_text(getattr(pair, name), f"{name} of query {pair.query_id!r}", str(source))
    return pair
