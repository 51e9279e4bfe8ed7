"""Offline queries: some content words of a sentence of the target segment, in another order.

It stands in for the paper's persona-conditioned language-model queries (section 3.1.2) where no
API can be reached. The evidence is known exactly: the query's words come from one stretch of text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from posbias.corpus.segments import segments_of
from posbias.corpus.sentences import sentence_spans
from posbias.errors import ConfigError
from posbias.keyed import keyed_generator
from posbias.queries.candidates import Candidate, length_class

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def content_words(text: str, stopwords: frozenset[str], min_chars: int) -> list[str]:
    """Return the words of a text, lower case, each once, without stop words and short ones."""
    words = (match.group().lower() for match in _WORD.finditer(text))
    return list(dict.fromkeys(w for w in words if len(w) >= min_chars and w not in stopwords))


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Shrink a half-open range until it cuts through no word and touches no space."""
    while start < end and start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        start += 1
    while end > start and end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


@dataclass(frozen=True)
class ClozeGenerator:
    """Make `per_segment` cloze queries for every segment of a document.

    keep_share: share of the content words that stay; min_words, max_words: bounds of the query;
    min_word_chars: shorter words are not content words. Everything depends on
    (seed, document, position, number of the query) alone.
    """

    seed: int
    per_segment: int
    keep_share: float
    min_words: int
    max_words: int
    min_word_chars: int
    stopwords: frozenset[str]
    name: str = "cloze"

    def __post_init__(self) -> None:
        for name in ("per_segment", "min_words", "max_words", "min_word_chars"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ConfigError(f"queries.options.{name} must be a whole number, is {value!r}.")
        share = self.keep_share
        if not isinstance(share, int | float) or not 0 < share <= 1:
            raise ConfigError(f"queries.options.keep_share must be in (0, 1], is {share!r}.")
        if not 1 <= self.min_words <= self.max_words:
            raise ConfigError(
                f"queries.options: 1 <= min_words <= max_words must hold, found "
                f"{self.min_words} and {self.max_words}."
            )

    def evidence_spans(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        """Return the stretches of sentences inside [start, end) that hold enough content words."""
        spans = []
        for sentence_start, sentence_end in sentence_spans(text):
            low, high = max(start, sentence_start), min(end, sentence_end)
            if low < high:
                low, high = whole_words(text, low, high)
                words = content_words(text[low:high], self.stopwords, self.min_word_chars)
                if len(words) >= self.min_words:
                    spans.append((low, high))
        return spans

    def summary(self) -> dict:
        """Return nothing: the counts of candidates say it all."""
        return {}

    def generate(self, documents: Iterable[dict], dropped: Counter) -> Iterator[Candidate]:
        """Yield candidates in the order of documents, positions and numbers.

        A segment without enough content words yields none and is counted in `dropped`, as is a
        query that repeats an earlier one of its segment.
        """
        for document in documents:
            doc_id, text = document["doc_id"], document["text"]
            for segment in segments_of(doc_id, text):
                spans = self.evidence_spans(text, segment.start, segment.end)
                if not spans:
                    dropped[f"{segment.position} segment: too few content words"] += 1
                    continue
                queries = set()
                for number in range(self.per_segment):
                    rng = keyed_generator(self.seed, "cloze", doc_id, segment.position, number)
                    start, end = spans[rng.integers(len(spans))]
                    words = content_words(text[start:end], self.stopwords, self.min_word_chars)
                    n_words = round(self.keep_share * len(words))
                    n_words = min(max(n_words, self.min_words), self.max_words)
                    query = " ".join(words[i] for i in rng.permutation(len(words))[:n_words])
                    if query in queries:
                        dropped[f"{segment.position} query: repeated"] += 1
                        continue
                    queries.add(query)
                    yield Candidate(
                        query_id=f"{doc_id}-{segment.position}-{number}",
                        doc_id=doc_id,
                        position=segment.position,
                        bin=document["bin"],
                        query=query,
                        answer=text[start:end],
                        answer_start=start,
                        answer_end=end,
                        persona=None,
                        difficulty=None,
                        length=length_class(query),
                        reasoning=None,
                        generator=self.name,
                    )
