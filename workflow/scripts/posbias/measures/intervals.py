"""Percentile bootstrap over queries: group means, their macro mean and PSI.

The papers print point estimates; the intervals are an addition. Groups are resampled
independently of each other: where a query lies in two groups (a start exactly on an inner edge,
652 of SQuAD-PosQ's 92,749 queries), the covariance that it brings is passed over.
"""

from collections.abc import Sequence

import numpy as np

BLOCK_CELLS = 4_000_000


def resampled_means(
    values: Sequence[float] | np.ndarray, resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the means of `resamples` samples of the values, drawn with replacement: (resamples,).

    With one relevant document a query's nDCG@10 is one of eleven numbers. How often each is
    drawn is multinomial in the counts of the distinct values, so that one draw of eleven counts
    stands for a draw of every query, exactly in distribution.
    """
    distinct, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    n = counts.sum()
    block = max(1, BLOCK_CELLS // len(distinct))
    means = np.empty(resamples)
    for at in range(0, resamples, block):
        size = min(block, resamples - at)
        means[at : at + size] = rng.multinomial(n, counts / n, size=size) @ distinct / n
    return means


def resampled_psi(group_means: np.ndarray) -> np.ndarray:
    """Return PSI of each resample, NaN where all its means are 0; takes (groups, resamples).

    PSI is a ratio of extremes, so noise raises it: percentiles of these lie above 0 even where
    all groups are alike, and an interval that leaves out 0 is no evidence of position bias.
    """
    high = group_means.max(axis=0)
    low_share = np.divide(
        group_means.min(axis=0), high, out=np.full_like(high, np.nan), where=high > 0
    )
    return 1 - low_share


def percentile_interval(samples: np.ndarray, level: float) -> tuple[float | None, float | None]:
    """Return the bounds of the central `level` of the samples less NaN; None without any."""
    defined = samples[~np.isnan(samples)]
    if len(defined) == 0:
        return None, None
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def resampled_column_means(
    values: np.ndarray, resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return (resamples, columns) means over rows drawn with replacement, whole rows at a time.

    values: (rows, columns), a query's values under several conditions; a resample draws the same
    queries for all of them, so that conditions can be compared within it.
    """
    n = len(values)
    block = max(1, BLOCK_CELLS // n)
    means = np.empty((resamples, values.shape[1]))
    for at in range(0, resamples, block):
        size = min(block, resamples - at)
        drawn = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        means[at : at + size] = times @ values / n
    return means


def mean_record(
    values: Sequence[float] | np.ndarray, resamples: int, level: float, rng: np.random.Generator
) -> dict[str, float | None]:
    """Return mean, low and high of the values of the queries: the percentile bootstrap interval."""
    values = np.asarray(values, dtype=np.float64)
    low, high = percentile_interval(resampled_means(values, resamples, rng), level)
    return {"mean": float(values.mean()), "low": low, "high": high}
