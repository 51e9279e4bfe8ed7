"""Paired comparisons of rerankers over the same queries, and Holm's correction of a family."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from posbias.errors import DataError
from posbias.keyed import keyed_generator
from posbias.measures.intervals import percentile_interval, resampled_means


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return p values adjusted by Holm's step-down rule, in the order given: (n,), at most 1.

    Raises DataError for a value outside [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise DataError(f"p values lie between 0 and 1, found {p.tolist()}.")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def paired_comparison(
    a: Sequence[float] | np.ndarray,
    b: Sequence[float] | np.ndarray,
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Compare two systems by their values a and b of the same queries, (n,) each.

    Returns n, mean_difference (a less b), the percentile bootstrap interval low to high of that
    mean over queries, and p of the two-sided paired t-test. p is 1 where no query differs; with
    one query there is neither interval nor p (None). Raises DataError where the values do not
    pair, are none, or one is not a number.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or not len(a):
        raise DataError(
            f"a paired comparison needs both values of each query, found {a.shape} and {b.shape}."
        )
    differences = a - b
    if not np.all(np.isfinite(differences)):
        query = np.flatnonzero(~np.isfinite(differences))[0]
        raise DataError(f"query {query} (counted from 0): a value to compare is not a number.")
    low = high = p = None
    if len(a) > 1:
        means = resampled_means(differences, resamples, rng)
        low, high = percentile_interval(means, level)
        p = _paired_t(a, b)
    return {
        "n": len(a),
        "mean_difference": float(differences.mean()),
        "low": low,
        "high": high,
        "p": p,
    }


def _paired_t(a: np.ndarray, b: np.ndarray) -> float:
    from scipy.stats import ttest_rel

    if np.array_equal(a, b):
        return 1.0
    with warnings.catch_warnings():
        # Every query differs by the same amount: p is 0 then, and scipy doubts its digits.
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(ttest_rel(a, b).pvalue)


def compare_family(
    values: Mapping[str, Sequence[float] | np.ndarray],
    pairs: Sequence[tuple[str, str]],
    resamples: int,
    level: float,
    seed: int,
) -> list[dict[str, Any]]:
    """Compare pairs of systems over the same queries as one family of tests.

    values: of every query, in one order of queries, by name of the system. Returns a record a
    pair, in order: first, second, what `paired_comparison` tells of first less second, and
    p_holm, corrected over the pairs that have a p (None for the others). The draws of a pair
    depend on the seed and its names alone. Raises DataError for a name without values, and for
    values that do not pair.
    """
    missing = sorted({name for pair in pairs for name in pair} - values.keys())
    if missing:
        raise DataError(f"no values to compare for {', '.join(missing)}.")
    records = []
    for first, second in pairs:
        rng = keyed_generator(seed, "paired comparison", first, second)
        try:
            found = paired_comparison(values[first], values[second], resamples, level, rng)
        except DataError as fault:
            raise DataError(f"{first} against {second}: {fault}") from fault
        records.append({"first": first, "second": second, **found, "p_holm": None})
    tested = [record for record in records if record["p"] is not None]
    adjusted = holm([record["p"] for record in tested]).tolist()
    for record, p_holm in zip(tested, adjusted, strict=True):
        record["p_holm"] = p_holm
    return records
