"""How much a reranker's answer depends on the order of its input.

Variances are in the square of the values' unit (nDCG², values in [0, 1]) and population
variances: the slots are all there are, no sample. Noise in the means of the slots raises a
variance, in each resample once more, so that an interval lies above 0 also where all slots are
alike; the difference of two models over the same queries is the fairer sight.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from posbias.errors import DataError
from posbias.listwise.aggregation import preference_counts
from posbias.measures.intervals import percentile_interval, resampled_column_means


def tau_psi(orders: Sequence[Sequence[int]] | np.ndarray) -> float:
    """Return (1 - mean Kendall τ over pairs of outputs)/2 of the (m, n) orders of one list.

    orders: outputs for shuffles of the same n items, as items best first. 0: the input's order is
    no matter; 0.5: outputs as unlike as random ones; it is the mean share of item pairs on which
    two outputs disagree. Raises DataError for fewer than two outputs or items, or an order that
    is not a permutation.
    """
    before = preference_counts(orders)
    m, n = len(orders), len(before)
    if m < 2 or n < 2:
        raise DataError(f"τ-PSI compares 2 outputs of 2 items or more, found {m} of {n}.")
    # before[i, j] · before[j, i] pairs of outputs disagree on the items i and j.
    disagreements = int(np.sum(np.triu(before * before.T, 1)))
    return disagreements / (m * (m - 1) / 2 * n * (n - 1) / 2)


def slot_variance(
    values: np.ndarray, resamples: int, level: float, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the variance over slots of the slots' mean values, with its interval over queries.

    values: (queries, slots), a query's value with the relevant passage in each slot. Returns n
    (queries), slots, variance, low and high of the percentile bootstrap. Raises DataError for no
    query, fewer than two slots, or a value that is not a number.
    """
    values = _checked(values)
    means = resampled_column_means(values, resamples, rng)
    low, high = percentile_interval(means.var(axis=1), level)
    return {
        "n": values.shape[0],
        "slots": values.shape[1],
        "variance": float(values.mean(axis=0).var()),
        "low": low,
        "high": high,
    }


def variance_difference(
    a: np.ndarray, b: np.ndarray, resamples: int, level: float, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the slot variance of model a less that of b, with its paired interval over queries.

    a, b: (queries, slots), the same queries in the same order; each resample draws the same
    queries for both. Returns n, difference, low and high. Raises DataError as `slot_variance`,
    and where the queries do not pair.
    """
    a, b = _checked(a), _checked(b)
    if len(a) != len(b):
        raise DataError(f"paired variances need the same queries, found {len(a)} and {len(b)}.")
    means = resampled_column_means(np.hstack([a, b]), resamples, rng)
    of_a, of_b = means[:, : a.shape[1]], means[:, a.shape[1] :]
    low, high = percentile_interval(of_a.var(axis=1) - of_b.var(axis=1), level)
    return {
        "n": len(a),
        "difference": float(a.mean(axis=0).var() - b.mean(axis=0).var()),
        "low": low,
        "high": high,
    }


def _checked(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] < 1 or values.shape[1] < 2:
        raise DataError(
            "a variance over slots needs values of 1 query or more in 2 slots or more, found an "
            f"array of {values.shape}."
        )
    faults = np.argwhere(~np.isfinite(values))
    if len(faults):
        query, slot = faults[0]
        raise DataError(f"query {query}, slot {slot} (both from 0): the value is not a number.")
    return values
