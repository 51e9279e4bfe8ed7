"""Cloze queries in other words: most words give way to a neighbour in an encoder's vector space.

A cloze query repeats words of its evidence, so that BM25 alone finds nearly all of it and a
reranker could only spoil the list. Words swapped for related ones bring back the gap between
vocabularies that real queries have.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from posbias.keyed import keyed_unit
from posbias.queries.candidates import Candidate, length_class
from posbias.queries.cloze import content_words

NEAREST = 16  # neighbours looked at before a word is said to have none
STEM_TAIL, STEM_LEAST = 3, 4  # characters: what may differ between forms of one word, what may not


def vocabulary(
    texts: Iterable[str], stopwords: frozenset[str], min_chars: int, least: int
) -> list[str]:
    """Return the content words that stand in at least `least` texts, in alphabetical order."""
    counts = Counter(word for text in texts for word in content_words(text, stopwords, min_chars))
    return sorted(word for word, count in counts.items() if count >= least and word.isalpha())


def _stem(word: str) -> str:
    return word[: max(STEM_LEAST, len(word) - STEM_TAIL)]


def same_stem(first: str, second: str) -> bool:
    """Say whether two words are likely forms of one: `anarchism` and `anarchist`."""
    return first.startswith(_stem(second)) or second.startswith(_stem(first))


def nearest_words(words: Sequence[str], vectors: np.ndarray, block: int = 1024) -> dict[str, str]:
    """Return for each word its nearest other word that is no form of the same one.

    vectors: (words, width), of length 1. A word without one among its nearest is left out.
    """
    nearest = {}
    for at in range(0, len(words), block):
        cosines = vectors[at : at + block] @ vectors.T
        k = min(NEAREST, len(words))
        best = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
        for row, (word, candidates) in enumerate(zip(words[at : at + block], best, strict=True)):
            ordered = candidates[np.lexsort((candidates, -cosines[row, candidates]))]
            found = next((words[i] for i in ordered if not same_stem(words[i], word)), None)
            if found is not None:
                nearest[word] = found
    return nearest


def word_neighbours(
    texts: Iterable[str],
    encode: Callable[[list[str]], np.ndarray],
    stopwords: frozenset[str],
    min_chars: int,
    least: int,
) -> dict[str, str]:
    """Return the neighbour of every word of the texts' vocabulary, by vectors of `encode`."""
    words = vocabulary(texts, stopwords, min_chars, least)
    return nearest_words(words, encode(words)) if words else {}


def paraphrase(
    candidate: Candidate, neighbours: Mapping[str, str], share: float, seed: int
) -> Candidate:
    """Swap each word with probability `share` for its neighbour, if it has one.

    Which words are swapped depends on (seed, query id, word) only.
    """
    words = [
        neighbours.get(word, word)
        if keyed_unit(seed, "paraphrase", candidate.query_id, word) < share
        else word
        for word in candidate.query.split()
    ]
    query = " ".join(dict.fromkeys(words))
    return replace(
        candidate, query=query, length=length_class(query), generator="paraphrased cloze"
    )
