"""The one order of everything: score descending, then document index ascending."""

import numpy as np

from posbias.errors import DataError


def top_k(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Rank the columns of each row and keep the first k; equal scores go by column, ascending.

    scores: (queries, documents), floating point. Returns columns and scores, both
    (queries, min(k, documents)), exact also where equal scores cross the cut.
    Raises DataError where there is no document, k is below 1, or a score is not a number.
    """
    n_queries, n_documents = scores.shape
    if n_documents == 0:
        raise DataError("the corpus is empty: there is nothing to rank.")
    if k < 1:
        raise DataError(f"the depth of a ranking must be at least 1, is {k}.")
    faults = np.argwhere(np.isnan(scores))
    if len(faults):
        query, document = faults[0]
        raise DataError(
            f"the score of query {query} (counted from 0) for document {document} is not a number, "
            f"and {len(faults) - 1} more; look for empty texts or a diverged model."
        )
    k = min(k, n_documents)
    kth = np.partition(scores, n_documents - k, axis=1)[:, n_documents - k]
    # Row by row with rising columns; the sort is stable, so equal scores keep that order.
    rows, columns = np.nonzero(scores >= kth[:, None])
    order = np.lexsort((-scores[rows, columns], rows))
    sizes = np.bincount(rows, minlength=n_queries)
    first = np.cumsum(sizes) - sizes
    best = columns[order[first[:, None] + np.arange(k)]]
    return best, np.take_along_axis(scores, best, axis=1)
