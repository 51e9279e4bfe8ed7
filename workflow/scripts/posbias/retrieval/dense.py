"""Exact search by cosine, a block of queries and a block of documents at a time."""

import numpy as np

from posbias.errors import DataError
from posbias.retrieval.ranking import top_k


def normalise(vectors: np.ndarray, what: str) -> np.ndarray:
    """Return float32 vectors of length 1; raises DataError naming `what` and the first bad row."""
    vectors = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if len(bad):
        raise DataError(
            f"{what} {bad[0]} (counted from 0) has a vector of length {lengths[bad[0], 0]}, "
            f"and {len(bad) - 1} more: no cosine; the model has diverged or the text is empty."
        )
    return (vectors / lengths).astype(np.float32)


def search(
    queries: np.ndarray,
    documents: np.ndarray,
    k: int,
    query_block: int = 256,
    document_block: int = 16_384,
) -> tuple[np.ndarray, np.ndarray]:
    """Return indices and cosines of the k nearest documents, both (queries, min(k, documents)).

    queries, documents: (n, width) float32 of length 1. Products are summed in double precision
    and then rounded to float32, so that the size of a block does not reorder near neighbours.
    """
    found = [
        _search_block(queries[at : at + query_block], documents, k, document_block)
        for at in range(0, len(queries), query_block)
    ]
    return np.concatenate([i for i, _ in found]), np.concatenate([s for _, s in found])


def _search_block(
    queries: np.ndarray, documents: np.ndarray, k: int, document_block: int
) -> tuple[np.ndarray, np.ndarray]:
    indices = np.empty((len(queries), 0), dtype=np.int64)
    scores = np.empty((len(queries), 0), dtype=np.float32)
    # At least one round, so that an empty corpus meets the check of the ranking.
    for at in range(0, max(len(documents), 1), document_block):
        block = documents[at : at + document_block]
        new = (queries @ block.T.astype(np.float64)).astype(np.float32)
        new_indices = np.broadcast_to(np.arange(at, at + len(block)), new.shape)
        # Earlier documents stand first, so the ranking's rule for equal scores holds here too.
        columns, scores = top_k(np.hstack([scores, new]), k)
        indices = np.take_along_axis(np.hstack([indices, new_indices]), columns, axis=1)
    return indices, scores
