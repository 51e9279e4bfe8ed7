"""BM25 over texts by bm25s, ordered by the one ranking rule."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from posbias.errors import ConfigError
from posbias.retrieval.lexical_index import LexicalIndex

# bm25l and bm25+ also score documents that share no word with the query.
METHODS = ("lucene", "robertson", "atire")


class Bm25(LexicalIndex):
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
        if method not in METHODS:
            raise ConfigError(f"bm25: method {method!r} is not one of {', '.join(METHODS)}.")
        self.k1, self.b, self.method = k1, b, method
        super().__init__(texts, stopwords, stemmer)

    def _build(self, words: list[list[str]]) -> None:
        import bm25s

        self.vocabulary = {
            word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(words)))
        }
        self.index = bm25s.BM25(k1=self.k1, b=self.b, method=self.method, backend="numpy")
        ids = [[self.vocabulary[word] for word in of_document] for of_document in words]
        self.index.index((ids, self.vocabulary), create_empty_token=False, show_progress=False)

    def _all_scores(self, query_words: list[str]) -> np.ndarray:
        known = [self.vocabulary[word] for word in query_words if word in self.vocabulary]
        if not known:
            return np.zeros(self.n_documents, dtype=np.float32)
        return self.index.get_scores_from_ids(known)
