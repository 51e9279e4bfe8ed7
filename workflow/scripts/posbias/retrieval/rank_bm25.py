"""BM25 over texts by rank-bm25, with Lucene's idf: a second backend that ranks as bm25s does.

rank-bm25's Okapi gives a word of half the documents the idf 0, and one of more than half a share
of the mean idf. Here idf = ln(1 + (N - df + 0.5)/(df + 0.5)), above 0 for every word, and a score
is the sum over query words of idf · tf/(tf + k1 · (1 - b + b · length/mean length)): the method
"lucene" of bm25s, which leaves the constant factor k1 + 1 of Okapi out.
"""

import math
from collections.abc import Sequence

import numpy as np
from rank_bm25 import BM25Okapi

from posbias.retrieval.lexical_index import LexicalIndex


class _LuceneOkapi(BM25Okapi):
    def _calc_idf(self, nd: dict[str, int]) -> None:
        for word, df in nd.items():
            idf = math.log(1 + (self.corpus_size - df + 0.5) / (df + 0.5))
            self.idf[word] = idf / (self.k1 + 1)  # get_scores multiplies by k1 + 1


class RankBm25(LexicalIndex):
    """An index of texts, searched word by word in Python: for small corpora and cross-checks.

    k1, b, stopwords, stemmer and errors: as for posbias.retrieval.bm25.Bm25.
    """

    def __init__(
        self,
        texts: Sequence[str],
        k1: float = 1.2,
        b: float = 0.75,
        stopwords: str | None = "english",
        stemmer: str | None = None,
    ) -> None:
        self.k1, self.b = k1, b
        super().__init__(texts, stopwords, stemmer)

    def _build(self, words: list[list[str]]) -> None:
        self.index = _LuceneOkapi(words, k1=self.k1, b=self.b)

    def _all_scores(self, query_words: list[str]) -> np.ndarray:
        # Single precision, as bm25s has it: sums that differ in their last bits are ties.
        return self.index.get_scores(query_words).astype(np.float32)
