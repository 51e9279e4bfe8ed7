"""Margins of the target segment, and their minimum over the panel (section 3.1.3)."""

import numpy as np

from posbias.errors import DataError


def target_margins(scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return target score minus the best other segment's score, per query.

    scores: (n, 3) activated scores; targets: (n,) 0-based column of the target segment.
    """
    if np.isnan(scores).any():
        row = int(np.argwhere(np.isnan(scores))[0][0])
        raise DataError(f"the panel gave no number for query {row} (0-based); score it again.")
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, targets] = -np.inf
    return scores[rows, targets] - others.max(axis=1)


def consensus_margin(margins: np.ndarray) -> np.ndarray:
    """Return the minimum over the panel; margins: (members, n), NaN where a member did not score.

    A member that did not score was spared because an earlier one had a negative margin, so the
    minimum over those that did is negative too and the query has failed all the same.
    """
    return np.nanmin(margins, axis=0)


def strata(margins: np.ndarray, thresholds: list[float]) -> np.ndarray:
    """Return per query how many of the rising thresholds its consensus margin reaches."""
    return np.searchsorted(np.asarray(thresholds), margins, side="right")
