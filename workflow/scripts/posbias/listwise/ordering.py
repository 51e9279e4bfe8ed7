"""From the scores of a window to its order: score descending, then document index ascending."""

import numpy as np

from posbias.errors import DataError


def order_by_score(scores: np.ndarray, passages: np.ndarray) -> np.ndarray:
    """Return the slots of each window, best first: (B, k) from scores and passages, both (B, k).

    passages: rows of the collection. Equal scores go by passage, never by slot: a tie that falls
    back on the order of the input looks like position bias. Raises DataError for a score that is
    not a number.
    """
    scores, passages = np.asarray(scores), np.asarray(passages)
    if scores.shape != passages.shape:
        raise DataError(f"{scores.shape} scores for {passages.shape} passages: one score each.")
    faults = np.argwhere(~np.isfinite(scores))
    if len(faults):
        window, slot = faults[0]
        raise DataError(
            f"window {window}, slot {slot} (both counted from 0): the score is not a finite "
            f"number, and {len(faults) - 1} more; look for a diverged model."
        )
    return np.lexsort((passages, -scores), axis=-1)


def count_flat(scores: np.ndarray) -> int:
    """Count the windows of two passages or more whose scores are all equal: an answer that is none.

    scores: (B, k).
    """
    scores = np.asarray(scores)
    if scores.shape[-1] < 2:
        return 0
    return int(np.sum(np.all(scores == scores[:, :1], axis=-1)))
