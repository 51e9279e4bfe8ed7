"""The record of a query candidate, whoever generated it (retriever study, section 3.1.2)."""

from dataclasses import asdict, dataclass

CANDIDATE_FIELDS = (
    "query_id", "doc_id", "position", "bin", "query", "answer", "answer_start", "answer_end",
    "persona", "difficulty", "length", "reasoning", "generator",
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """One query aimed at one segment of one document.

    `answer_start` and `answer_end` are half-open 0-based code points of the document, or None
    where a generator answers in its own words. `persona`, `difficulty`, `length` and `reasoning`
    are filled by generators that have them (section 3.1.2), None otherwise.
    """

    query_id: str
    doc_id: str
    position: str
    bin: str
    query: str
    answer: str
    answer_start: int | None
    answer_end: int | None
    persona: str | None
    difficulty: str | None
    length: str
    reasoning: str | None
    generator: str

    def record(self) -> dict:
        return asdict(self)


def length_class(query: str) -> str:
    """Return the paper's class of a query's length: short (< 10 words), medium (10–20), long."""
    words = len(query.split())
    if words < 10:
        return "short"
    return "medium" if words <= 20 else "long"
