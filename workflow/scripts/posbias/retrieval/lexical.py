"""The BM25 that a configuration names."""

import math
from collections.abc import Sequence

from posbias.errors import ConfigError
from posbias.retrieval.lexical_index import LexicalIndex

UP_TO = {"k1": "", "b": " and at most 1"}
BACKENDS = ("bm25s", "rank_bm25")


def make_bm25(
    backend: str,
    texts: Sequence[str],
    k1: float,
    b: float,
    stopwords: str | None = "english",
    stemmer: str | None = None,
) -> LexicalIndex:
    """Index texts with one of BACKENDS; both score alike, by Lucene's formula.

    Raises ConfigError for an unknown backend, stop word list or stemmer, DataError where no text
    holds a word.
    """
    if backend not in BACKENDS:
        raise ConfigError(f"bm25: backend {backend!r} is not one of {', '.join(BACKENDS)}.")
    for name, value, most in (("k1", k1, math.inf), ("b", b, 1)):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value <= most:
            raise ConfigError(
                f"bm25: {name} must be a number of at least 0{UP_TO[name]}, is {value!r}."
            )
    if backend == "bm25s":
        from posbias.retrieval.bm25 import Bm25

        return Bm25(texts, k1, b, "lucene", stopwords, stemmer)
    from posbias.retrieval.rank_bm25 import RankBm25

    return RankBm25(texts, k1, b, stopwords, stemmer)
