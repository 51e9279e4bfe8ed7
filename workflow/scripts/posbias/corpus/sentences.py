"""Sentence boundaries of encyclopaedic English."""

import re

# An abbreviation before a full stop, or a single initial, does not end a sentence.
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|cf|ca|c|No|Vol|pp|p|ed|eds|e\.g|i\.e|U\.S|U\.K|"
    r"Gen|Col|Capt|Lt|Sgt|Rev|Hon|Inc|Ltd|Co|Fig|approx|fl|b|d|r)|\b[A-Z])\.$"
)
_BOUNDARY = re.compile(r"(?<=[.!?])[\"'”)]?\s+(?=[\"'“(]?[A-Z0-9])")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the half-open code-point ranges of the sentences, without the space between them."""
    spans, start = [], 0
    for boundary in _BOUNDARY.finditer(text):
        head = text[start : boundary.end()].rstrip()
        if _ABBREVIATION.search(head):
            continue
        spans.append((start, start + len(head)))
        start = boundary.end()
    end = len(text.rstrip())
    if end > start:
        spans.append((start, end))
    return spans


def split_sentences(paragraph: str) -> list[str]:
    """Split a paragraph at sentence ends; joined by one space they give a clean paragraph back."""
    return [paragraph[start:end] for start, end in sentence_spans(paragraph)]
