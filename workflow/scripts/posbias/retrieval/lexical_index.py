"""What every BM25 here shares: the words of a text, and the order of the hits."""

import logging
from collections.abc import Sequence

import numpy as np

from posbias.errors import ConfigError, DataError
from posbias.retrieval.ranking import top_k

QUERY_BLOCK = 256


class LexicalIndex:
    """An index over the words of texts; a subclass builds it and scores.

    stopwords: the name of a list that bm25s ships, e.g. "english", or None. stemmer: a Snowball
    algorithm, e.g. "english", or None. Raises DataError where no text holds a word, ConfigError
    for an unknown name.
    """

    def __init__(self, texts: Sequence[str], stopwords: str | None, stemmer: str | None) -> None:
        self.stopwords, self.stemmer = stopwords, _stemmer(stemmer)
        words = self._words(texts)
        self.n_documents = len(words)
        if not any(words):
            raise DataError(
                f"bm25: none of the {self.n_documents} documents holds a word to index; "
                "check the corpus, and the stop words."
            )
        self._build(words)

    def _build(self, words: list[list[str]]) -> None:
        """Build the index from the words of every text; once, at the end of __init__."""
        raise NotImplementedError

    def _words(self, texts: Sequence[str]) -> list[list[str]]:
        import bm25s

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # its import asks for every detail
        try:
            return bm25s.tokenize(
                list(texts),
                stopwords=self.stopwords,
                stemmer=self.stemmer,
                return_ids=False,
                show_progress=False,
            )
        except ValueError as fault:
            raise ConfigError(f"bm25: stopwords {self.stopwords!r}: {fault}") from fault

    def _all_scores(self, query_words: list[str]) -> np.ndarray:
        """Return the score of every document, float32; 0 where it shares no word."""
        raise NotImplementedError

    def search(self, queries: Sequence[str], k: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return per query the document indices and scores of its hits, at most k.

        A document that shares no scoring word with the query is no hit.
        """
        words = self._words(queries)
        indices, scores = [], []
        for at in range(0, len(words), QUERY_BLOCK):
            block = np.stack([self._all_scores(query) for query in words[at : at + QUERY_BLOCK]])
            for best, best_scores in zip(*top_k(block, k), strict=True):
                hits = best_scores > 0
                indices.append(best[hits])
                scores.append(best_scores[hits])
        return indices, scores

    def scores(self, query: str, documents: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the raw scores of chosen documents, float32; 0 where no word is shared."""
        return self._all_scores(self._words([query])[0])[np.asarray(documents, dtype=np.int64)]


def _stemmer(name: str | None):
    if name is None:
        return None
    import Stemmer

    if name not in Stemmer.algorithms():
        raise ConfigError(
            f"bm25: stemmer {name!r} is not one of {', '.join(Stemmer.algorithms())}, or null."
        )
    return Stemmer.Stemmer(name)
