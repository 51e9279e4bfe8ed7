"""What the reranked test sets say: original and shuffled orders, first stages, comparisons."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from posbias.keyed import keyed_generator
from posbias.listwise.systems import ALONE
from posbias.listwise.value_table import check_same_queries, query_means, seed_means
from posbias.measures.intervals import mean_record
from posbias.measures.significance import compare_family, paired_comparison

ORDERS = ("original", "shuffled", "drop")


def _split(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {"original": rows[rows["order"] == 0], "shuffled": rows[rows["order"] > 0]}


def system_record(
    rows: pd.DataFrame, taus: pd.DataFrame, resamples: int, level: float, seed: int
) -> dict[str, Any]:
    """Return one system's values on one collection, all of its main first stage.

    rows: seed, order, query_id, ndcg; taus: tau_psi of each query and seed. The drop is original
    less shuffled. Variance over shuffles: of the shuffled orders' means, over orders and seeds.
    """
    parts = _split(rows)
    values = {name: query_means(part) for name, part in parts.items()}
    rng = keyed_generator(seed, "orders", rows["system"].iloc[0], rows["collection"].iloc[0])
    per_order = parts["shuffled"].groupby(["seed", "order"])["ndcg"].mean()
    return {
        **{name: mean_record(value, resamples, level, rng) for name, value in values.items()},
        "drop": mean_record(values["original"] - values["shuffled"], resamples, level, rng),
        "variance_over_shuffles": float(per_order.groupby("seed").var(ddof=0).mean()),
        "tau_psi": float(taus["tau_psi"].mean()) if taus["tau_psi"].notna().any() else None,
        "per_seed": {name: seed_means(part) for name, part in parts.items()},
    }


def comparisons(
    rows: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    resamples: int,
    level: float,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the paired tests of one collection; those of all orders are one Holm family.

    Orders: original, shuffled, and drop, the original less the shuffled.
    """
    values, tests = {}, []
    for system, of_system in rows.groupby("system", sort=False):
        means = {order: query_means(part) for order, part in _split(of_system).items()}
        means["drop"] = means["original"] - means["shuffled"]
        values |= {f"{order} {system}": mean for order, mean in means.items()}
    for order in ORDERS:
        tests += [(f"{order} {first}", f"{order} {second}") for first, second in pairs]
    found = compare_family(values, tests, resamples, level, seed)
    for record, (first, second) in zip(found, [*pairs] * len(ORDERS), strict=True):
        record["order"] = record["first"].split(" ", 1)[0]
        record["first"], record["second"] = first, second
    return found


def summarise_orders(
    frame: pd.DataFrame,
    stability: pd.DataFrame,
    main_stage: str,
    pairs: Sequence[tuple[str, str]],
    resamples: int,
    level: float,
    seed: int,
) -> dict[str, Any]:
    """Return per collection: n, systems, comparisons (Table 1).

    frame: system, seed, collection, first_stage, order, query_id, ndcg; stability: tau_psi.
    Raises DataError unless all systems, seeds and orders have values of the same queries.
    """
    main = frame[frame["first_stage"] == main_stage]
    record = {}
    for collection, rows in main.groupby("collection", sort=False):
        check_same_queries(rows, ["collection", "system", "seed", "order"])
        taus = stability[stability["collection"] == collection]
        record[collection] = {
            "first_stage": main_stage,
            "n": int(rows["query_id"].nunique()),
            "shuffles": int(rows["order"].max()),
            "systems": {
                name: system_record(part, taus[taus["system"] == name], resamples, level, seed)
                for name, part in rows.groupby("system", sort=False)
            },
            "comparisons": comparisons(rows, pairs, resamples, level, seed),
        }
    return record


def first_stage_table(
    frame: pd.DataFrame,
    baseline: str,
    proposed: str,
    resamples: int,
    level: float,
    seed: int,
) -> dict[str, Any]:
    """Return nDCG per collection and first stage, alone and reranked by the two models (Table 2).

    Original orders only; difference: proposed less baseline, paired over queries. Raises
    DataError unless both have values of the same queries.
    """
    original = frame[(frame["order"] == 0) & frame["system"].isin([ALONE, baseline, proposed])]
    table: dict[str, Any] = {}
    for (collection, stage, system), rows in original.groupby(
        ["collection", "first_stage", "system"], sort=False
    ):
        rng = keyed_generator(seed, "first stages", collection, stage, system)
        of_stage = table.setdefault(collection, {}).setdefault(stage, {})
        name = "alone" if system == ALONE else system
        of_stage[name] = mean_record(query_means(rows), resamples, level, rng)
    for (collection, stage), rows in original.groupby(["collection", "first_stage"], sort=False):
        check_same_queries(rows, ["collection", "first_stage", "system", "seed"])
        rng = keyed_generator(seed, "first stages", collection, stage, "difference")
        first, second = (query_means(rows[rows["system"] == m]) for m in (proposed, baseline))
        found = paired_comparison(first, second, resamples, level, rng)
        difference = found.pop("mean_difference")
        table[collection][stage]["difference"] = {"difference": difference, **found}
    return table
