"""The BM25 that a configuration names."""

from collections.abc import Sequence

from posbias.errors import ConfigError
from posbias.retrieval.lexical_index import LexicalIndex

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
    if backend == "bm25s":
        from posbias.retrieval.bm25 import Bm25

        return Bm25(texts, k1, b, "lucene", stopwords, stemmer)
    from posbias.retrieval.rank_bm25 import RankBm25

    return RankBm25(texts, k1, b, stopwords, stemmer)
