"""From the value of every query to the measures record of one retriever under one setting."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from posbias.errors import DataError
from posbias.measures.groups import Grouping
from posbias.measures.intervals import (
    mean_record,
    percentile_interval,
    resampled_means,
    resampled_psi,
)
from posbias.measures.psi import psi

NO_INTERVAL = (None, None)


def psi_obstacle(means: Mapping[str, float | None], sizes: Mapping[str, int], least: int) -> str:
    """Say why PSI cannot be told from these groups, or return an empty text."""
    small = [f"{name} has {size}" for name, size in sizes.items() if size < max(least, 1)]
    if small:
        return f"PSI needs {max(least, 1)} queries in each group; {', '.join(small)}"
    return "PSI is not defined: every group's mean is 0" if not any(means.values()) else ""


def favoured(means: Mapping[str, float | None]) -> str | None:
    """Return the group with the highest mean; None where two share it or a group is empty."""
    if None in means.values():
        return None
    best = [name for name, mean in means.items() if mean == max(means.values())]
    return best[0] if len(best) == 1 else None


def first_minus_last(
    rows: Sequence[Mapping[str, Any]], samples: Sequence[np.ndarray], level: float
) -> dict[str, float | None]:
    """Return the mean of the first group less that of the last one, and its interval.

    rows: name and mean of every group; samples: resampled means of those that are not empty. Both
    groups are resampled independently, as their queries are not the same. None if one is empty.
    """
    difference, bounds = None, NO_INTERVAL
    first, last = rows[0]["mean"], rows[-1]["mean"]
    if first is not None and last is not None:
        difference = first - last
        bounds = percentile_interval(samples[0] - samples[-1], level)
    return {
        "first_minus_last": difference,
        "first_minus_last_low": bounds[0],
        "first_minus_last_high": bounds[1],
    }


def summarise_grouping(
    values: Mapping[str, float],
    grouping: Grouping,
    resamples: int,
    level: float,
    min_group: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return means, PSI and their intervals over one grouping (section 4.3, equation 3).

    values: per query, in [0, 1]. PSI is null, with a note, where it is not defined or a group has
    fewer than `min_group` queries: as a ratio of extremes it is biased upwards by noise. An empty
    group has no mean, and neither then have all groups together. first_minus_last compares the
    groups at both ends.
    """
    rows, means, samples = [], {}, []
    for name, query_ids in grouping.groups.items():
        of_group = [values[query_id] for query_id in query_ids]
        means[name] = fmean(of_group) if of_group else None
        low, high = NO_INTERVAL
        if of_group:
            samples.append(resampled_means(of_group, resamples, rng))
            low, high = percentile_interval(samples[-1], level)
        rows.append(
            {"name": name, "mean": means[name], "low": low, "high": high, "n": len(of_group)}
        )
    macro_mean, macro, psi_value, psi_bounds = None, NO_INTERVAL, None, NO_INTERVAL
    note = psi_obstacle(means, {row["name"]: row["n"] for row in rows}, min_group)
    if None not in means.values():
        macro_mean = fmean(means.values())
        macro = percentile_interval(np.mean(samples, axis=0), level)
    if not note:
        psi_value = psi(list(means.values()))
        psi_bounds = percentile_interval(resampled_psi(np.stack(samples)), level)
    return {
        "groups": rows,
        "macro_mean": macro_mean,
        "macro_low": macro[0],
        "macro_high": macro[1],
        "psi": psi_value,
        "psi_low": psi_bounds[0],
        "psi_high": psi_bounds[1],
        "psi_note": note or None,
        "favoured": favoured(means),
        **first_minus_last(rows, samples, level),
    }


def summarise(
    values: Mapping[str, float],
    groupings: Mapping[str, Grouping],
    resamples: int,
    level: float,
    min_group: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the micro mean, every grouping and the interval's description of a measures record.

    The interval of the micro mean has a generator of its own, a child of `rng`, whose numbers are
    those of the groups alone. Raises DataError where no query is judged.
    """
    if not values:
        raise DataError("no query is judged: there is nothing to average.")
    micro = mean_record(list(values.values()), resamples, level, rng.spawn(1)[0])
    return {
        "micro_mean": fmean(values.values()),
        "micro_low": micro["low"],
        "micro_high": micro["high"],
        "groupings": {
            name: summarise_grouping(values, grouping, resamples, level, min_group, rng)
            for name, grouping in groupings.items()
        },
        "interval": {"kind": "bootstrap over queries", "resamples": resamples, "level": level},
    }


def grouping_counts(groupings: Mapping[str, Grouping]) -> dict[str, Any]:
    """Count the queries that groupings leave out, by reason, or count twice."""
    return {
        "dropped": {
            f"{name}: {reason}": count
            for name, grouping in groupings.items()
            for reason, count in sorted(grouping.dropped.items())
        },
        "counted_twice": {name: grouping.counted_twice for name, grouping in groupings.items()},
    }
