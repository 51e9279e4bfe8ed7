"""Exact search by cosine, a block of queries and a block of documents at a time."""

import numpy as np

from posbias.errors import DataError
from posbias.retrieval.running_top_k import RunningTopK


def normalise(vectors: np.ndarray, what: str, first: int = 0) -> np.ndarray:
    """Return float32 vectors of length 1.

    first: number of the first row. Raises DataError naming `what` and the number of the first
    row without a direction.
    """
    vectors = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if len(bad):
        raise DataError(
            f"{what} {first + bad[0]} (counted from 0) has a vector of length "
            f"{lengths[bad[0], 0]}, and {len(bad) - 1} more: no cosine; the model has diverged or "
            "the text is empty."
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
    if not len(documents):
        raise DataError("the corpus is empty: there is nothing to rank.")
    best = RunningTopK(queries, k, query_block)
    for at in range(0, len(documents), document_block):
        block = documents[at : at + document_block]
        best.add(block, np.arange(at, at + len(block)))
    found = min(k, len(documents))
    return best.indices[:, :found], best.scores[:, :found]
