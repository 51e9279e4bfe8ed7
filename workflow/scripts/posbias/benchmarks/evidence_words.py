"""Evidence by words: the sentence of a relevant document that holds most of the query's words.

It stands in where nobody has marked the evidence. A query that repeats the words of its document's
first sentence has its evidence there, as claims about an article's subject often do.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from posbias.benchmarks.evidence_records import Judged, Places
from posbias.benchmarks.option_checks import Check, one_of, whole_number
from posbias.corpus.sentences import sentence_spans
from posbias.errors import ConfigError
from posbias.queries.cloze import content_words

FIRST, SKIP = "first", "skip"
OPTIONS: Mapping[str, Check] = {
    "count_ties": one_of(FIRST, SKIP),
    "min_word_chars": whole_number(1),
    "min_words": whole_number(1),
}


def best_sentences(
    words: set[str], text: str, stopwords: frozenset[str], min_word_chars: int
) -> tuple[int, list[int]]:
    """Return how many of the words the best sentences of a text hold, and where those start."""
    held = [
        (start, len(words.intersection(content_words(text[start:end], stopwords, min_word_chars))))
        for start, end in sentence_spans(text)
    ]
    most = max((count for _, count in held), default=0)
    return most, [start for start, count in held if count == most]


def locate_words(
    judged: Judged,
    files: Sequence[Path],
    count_ties: str = FIRST,
    min_word_chars: int = 3,
    min_words: int = 1,
) -> Places:
    """Place the evidence of each query in each of its relevant documents (Fig. 9; our choice).

    Words are compared in lower case, without English stop words and those below
    `min_word_chars` characters. count_ties: what several sentences with as many words do, "first"
    takes the earliest, which favours the beginning, "skip" leaves the document out; ties are
    counted either way. min_words: words that the best sentence must hold. Raises ConfigError for
    files, which this kind has no use for.
    """
    if files:
        raise ConfigError(
            f"evidence_places: kind words reads no files, but {files[0]} is given; remove it."
        )
    from bm25s.stopwords import STOPWORDS_EN

    stopwords = frozenset(STOPWORDS_EN)
    places = Places()
    for query_id, doc_ids in judged.relevant.items():
        words = set(content_words(judged.queries[query_id], stopwords, min_word_chars))
        for doc_id in doc_ids:
            text = judged.texts[doc_id]
            most, starts = best_sentences(words, text, stopwords, min_word_chars)
            if most < min_words:
                places.dropped["too_few_words_of_the_query_in_any_sentence"] += 1
                continue
            places.told["ties"] += len(starts) > 1
            places.told["documents_of_one_sentence"] += len(sentence_spans(text)) == 1
            if len(starts) > 1 and count_ties == SKIP:
                places.dropped["several_sentences_with_as_many_words"] += 1
            else:
                places.add(starts[0], len(text))
    return places
