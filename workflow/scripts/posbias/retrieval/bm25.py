"""BM25 over texts by bm25s, ordered by the one ranking rule."""

import logging
from collections.abc import Sequence
from itertools import chain

import numpy as np

from posbias.errors import ConfigError, DataError
from posbias.retrieval.ranking import top_k

# bm25l and bm25+ also score documents that share no word with the query.
METHODS = ("lucene", "robertson", "atire")
QUERY_BLOCK = 256


class Bm25:
    """An index of texts; k1 and b as in the literature.

    method: a variant of METHODS. stopwords: the name of a list that bm25s ships, e.g. "english",
    or None. stemmer: a Snowball algorithm, e.g. "english", or None. Raises DataError where no
    text holds a word, ConfigError for an unknown name.
    """

    def __init__(
        self,
        texts: Sequence[str],
        k1: float = 1.2,
        b: float = 0.75,
        method: str = "lucene",
        stopwords: str | None = "english",
        stemmer: str | None = None,
    ) -> None:
        import bm25s

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # its import asks for every detail
        if method not in METHODS:
            raise ConfigError(f"bm25: method {method!r} is not one of {', '.join(METHODS)}.")
        self.stopwords, self.stemmer = stopwords, _stemmer(stemmer)
        words = self._words(texts)
        self.vocabulary = {
            word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(words)))
        }
        if not self.vocabulary:
            raise DataError(
                f"bm25: none of the {len(words)} documents holds a word to index; "
                "check the corpus, and the stop words."
            )
        self.n_documents = len(words)
        self.index = bm25s.BM25(k1=k1, b=b, method=method, backend="numpy")
        ids = [[self.vocabulary[word] for word in of_document] for of_document in words]
        self.index.index((ids, self.vocabulary), create_empty_token=False, show_progress=False)

    def _words(self, texts: Sequence[str]) -> list[list[str]]:
        import bm25s

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
        known = [self.vocabulary[word] for word in query_words if word in self.vocabulary]
        if not known:
            return np.zeros(self.n_documents, dtype=np.float32)
        return self.index.get_scores_from_ids(known)

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
