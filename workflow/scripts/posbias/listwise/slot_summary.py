"""What the position experiment says: curves over slots, their variance, differences of models."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from posbias.errors import ConfigError, DataError
from posbias.keyed import keyed_generator
from posbias.listwise.value_table import by_query
from posbias.measures.intervals import percentile_interval, resampled_column_means
from posbias.measures.rank_stability import slot_variance, variance_difference
from posbias.measures.significance import paired_comparison


def slot_tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return (queries, slots) nDCG per system, the mean over seeds.

    Raises DataError unless all systems saw the same queries and slots.
    """
    tables = {name: by_query(rows, ["slot"]) for name, rows in frame.groupby("system", sort=False)}
    first = next(iter(tables.values()))
    for name, table in tables.items():
        if not (table.index.equals(first.index) and table.columns.equals(first.columns)):
            raise DataError(f"slots: {name} was evaluated on other queries; evaluate it again.")
    return tables


def curve_record(
    table: pd.DataFrame, resamples: int, level: float, rng: np.random.Generator
) -> dict[str, Any]:
    """Return curve, mean and variance over slots of one system, with intervals over queries."""
    means = resampled_column_means(table.to_numpy(), resamples, rng)
    points = []
    for column, slot in enumerate(table.columns):
        low, high = percentile_interval(means[:, column], level)
        points.append(
            {"slot": int(slot), "mean": float(table[slot].mean()), "low": low, "high": high}
        )
    low, high = percentile_interval(means.mean(axis=1), level)
    variance = slot_variance(table.to_numpy(), resamples, level, rng)
    return {
        "curve": points,
        "mean": {"mean": float(table.to_numpy().mean()), "low": low, "high": high},
        "variance": {"value": variance["variance"], "low": variance["low"],
                     "high": variance["high"]},
    }  # fmt: skip


def slot_differences(
    tables: dict[str, pd.DataFrame],
    pairs: Sequence[tuple[str, str]],
    resamples: int,
    level: float,
    seed: int,
) -> list[dict[str, Any]]:
    """Return a less b for variance over slots and for mean over slots, paired over queries."""
    found = []
    for a, b in pairs:
        first, second = tables[a].to_numpy(), tables[b].to_numpy()
        rng = keyed_generator(seed, "slot differences", a, b)
        variance = variance_difference(first, second, resamples, level, rng)
        mean = paired_comparison(first.mean(axis=1), second.mean(axis=1), resamples, level, rng)
        found.append({"a": a, "b": b, "what": "variance", **variance})
        found.append(
            {"a": a, "b": b, "what": "mean", "difference": mean.pop("mean_difference"), **mean}
        )
    return found


def end_differences(
    tables: dict[str, pd.DataFrame],
    baseline: str,
    proposed: str,
    slots: int,
    resamples: int,
    level: float,
    seed: int,
) -> list[dict[str, Any]]:
    """Return what the first `slots` slots of a window give the baseline, paired over queries.

    First its first slots less its last ones, then its first slots less the proposed model's.
    Raises ConfigError where first and last slots overlap.
    """
    first = {name: tables[name].to_numpy()[:, :slots].mean(axis=1) for name in (baseline, proposed)}
    last = tables[baseline].to_numpy()[:, -slots:].mean(axis=1)
    if 2 * slots > tables[baseline].shape[1]:
        raise ConfigError(
            f"claims.first_slots: {slots} first and {slots} last slots overlap in a window of "
            f"{tables[baseline].shape[1]}."
        )
    found = []
    for b, what, other in (
        (baseline, "first less last slots", last),
        (proposed, "first slots", first[proposed]),
    ):
        rng = keyed_generator(seed, what, baseline, b)
        record = paired_comparison(first[baseline], other, resamples, level, rng)
        difference = record.pop("mean_difference")
        found.append(
            {"a": baseline, "b": b, "what": what, "slots": slots, "difference": difference,
             **record}
        )  # fmt: skip
    return found


def summarise_slots(
    frame: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    resamples: int,
    level: float,
    seed: int,
) -> dict[str, Any]:
    """Return the record of the position experiment: n, systems, differences.

    frame: system, seed, query_id, slot (from 1), ndcg.
    """
    tables = slot_tables(frame)
    systems = {}
    for name, table in tables.items():
        rng = keyed_generator(seed, "slots", name)
        rows = frame[frame["system"] == name]
        per_seed = rows.pivot_table(index="seed", columns="slot", values="ndcg", aggfunc="mean")
        systems[name] = {
            **curve_record(table, resamples, level, rng),
            "variance_per_seed": per_seed.to_numpy().var(axis=1).tolist(),
        }
    return {
        "n": len(next(iter(tables.values()))),
        "systems": systems,
        "differences": slot_differences(tables, pairs, resamples, level, seed),
    }
