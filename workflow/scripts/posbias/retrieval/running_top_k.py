"""The best documents of every query, over blocks of documents that come one after another."""

import numpy as np

from posbias.errors import DataError
from posbias.retrieval.products import DeviceProducts, HostProducts
from posbias.retrieval.ranking import top_k

NO_DOCUMENT = -1  # fills rows of fewer hits, with a score of minus infinity


def best_first(indices: np.ndarray, scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Order each row by score, descending, then by index, ascending, and keep the first k."""
    order = np.lexsort((indices, -scores), axis=-1)[:, :k]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(scores, order, axis=1)


class RunningTopK:
    """The exact k best documents of every query so far, in memory of O(queries · k).

    queries: (n, width) float32 of length 1. products: where scores are computed. `indices` (int64)
    and `scores` (float32) are (n, k) in rank order, equal scores by index, rows with fewer hits
    filled with NO_DOCUMENT. Raises DataError for k below 1 or a vector that is not finite.
    """

    def __init__(
        self,
        queries: np.ndarray,
        k: int,
        query_block: int | None = None,
        products: HostProducts | DeviceProducts | None = None,
    ) -> None:
        if k < 1:
            raise DataError(f"the depth of a ranking must be at least 1, is {k}.")
        self.products = products or HostProducts()
        self.queries, self.k = _finite(queries, "query"), k
        self.query_block = query_block or self.products.query_block
        self.indices = np.full((len(queries), k), NO_DOCUMENT, dtype=np.int64)
        self.scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
        self.seen = 0  # documents

    def add(self, documents: np.ndarray, indices: np.ndarray) -> None:
        """Let documents in, (m, width) float32 of length 1, under indices (m,) not seen before.

        Blocks and indices may come in any order. Raises DataError for a vector that is not finite.
        """
        if not len(documents):
            return
        order = np.argsort(indices, kind="stable")  # so that columns decide between equal scores
        indices = np.asarray(indices)[order]
        block = self.products.put(_finite(documents, "document")[order])
        for at in range(0, len(self.queries), self.query_block):
            rows = slice(at, at + self.query_block)
            scores = self.products.scores(self.products.put(self.queries[rows]), block)
            if self.seen < self.k:
                self._fill(rows, scores, indices)
            else:
                self._replace(rows, scores, indices)
        self.seen += len(documents)

    def _fill(self, rows: slice, scores: np.ndarray, indices: np.ndarray) -> None:
        """Let scores in while every document is still among the best of every query."""
        columns, best = top_k(self.products.get(scores), self.k)
        self.indices[rows], self.scores[rows] = best_first(
            np.hstack([self.indices[rows], indices[columns]]),
            np.hstack([self.scores[rows], best]),
            self.k,
        )

    def _replace(self, part: slice, scores: np.ndarray, indices: np.ndarray) -> None:
        """Let in the few scores that beat the last of their row."""
        worst, last = self.scores[part, -1], self.indices[part, -1]
        rows, columns, values = self.products.reaching(scores, worst)
        entering = (values > worst[rows]) | (indices[columns] < last[rows])
        rows, columns, values = rows[entering], columns[entering], values[entering]
        touched, sizes = np.unique(rows, return_counts=True)
        if not len(touched):
            return
        kept = part.start + touched
        of_row = np.concatenate([np.repeat(touched, self.k), rows])
        found = np.concatenate([self.indices[kept].ravel(), indices[columns]])
        values = np.concatenate([self.scores[kept].ravel(), values])
        order = np.lexsort((found, -values, of_row))
        sizes = sizes + self.k
        first = np.cumsum(sizes) - sizes
        best = order[first[:, None] + np.arange(self.k)]
        self.indices[kept], self.scores[kept] = found[best], values[best]


def _finite(vectors: np.ndarray, what: str) -> np.ndarray:
    vectors = np.asarray(vectors, dtype=np.float32)
    faults = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(faults):
        raise DataError(
            f"{what} {faults[0]} (counted from 0) of a block has a vector that is not a number, "
            f"and {len(faults) - 1} more; look for a diverged model."
        )
    return vectors
