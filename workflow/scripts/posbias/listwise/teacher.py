"""The order that a reranker learns from, in the place of GPT-4's.

Three scorers of different kinds together know more than each of them, and the passage that a
query was made from is known: it comes first. This is no language model's judgement, and below
the first place it is a guess by similarity.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from posbias.errors import DataError


def mean_scores(parts: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the mean over scorers of scores in [0, 1], all of one shape.

    Raises DataError naming the scorer that leaves the range: the others would be outweighed.
    """
    for name, scores in parts.items():
        if scores.size and not (scores.min() >= 0 and scores.max() <= 1):
            raise DataError(
                f"teacher: {name} gave scores from {scores.min():.3f} to {scores.max():.3f}; "
                "its activation must bring them to [0, 1]."
            )
    return np.mean(list(parts.values()), axis=0)


def teacher_order(scores: np.ndarray, passages: np.ndarray, relevant: Sequence[int]) -> np.ndarray:
    """Return the places of one list, best first: relevant passages, then by score.

    scores, passages: (k,), passages as rows; relevant: rows. Equal scores go by row.
    """
    known = np.isin(passages, np.asarray(relevant, dtype=np.int64))
    return np.lexsort((passages, -scores, ~known))
