"""Where an answer stands in its document: the evidence of a query that a model wrote."""

import re
from typing import NamedTuple

EXACT = "in the segment"
ALMOST = "in the segment but for case or spaces"
ELSEWHERE = "elsewhere in the document"
NOWHERE = "nowhere in the document"


class AnswerPlace(NamedTuple):
    """Half-open code points of the document, None outside the segment; kind: one of the above."""

    start: int | None
    end: int | None
    kind: str


def place_of_answer(text: str, start: int, end: int, answer: str) -> AnswerPlace:
    """Look for the first place of an answer in the segment [start, end) of a document.

    Exactly first, then with any case and any spaces between its words. An answer that reaches
    over the segment's border counts as elsewhere. The answer must not be blank.
    """
    at = text.find(answer, start, end)
    if at >= 0:
        return AnswerPlace(at, at + len(answer), EXACT)
    words = re.compile(r"\s+".join(map(re.escape, answer.split())), re.IGNORECASE)
    found = words.search(text[start:end])
    if found:
        return AnswerPlace(start + found.start(), start + found.end(), ALMOST)
    return AnswerPlace(None, None, ELSEWHERE if words.search(text) else NOWHERE)
