"""What permutation self-consistency says: nDCG of single orders and of aggregates of m of them."""

from typing import Any

import pandas as pd

from posbias.keyed import keyed_generator
from posbias.listwise.permutations import SINGLE
from posbias.listwise.value_table import check_same_queries, query_means
from posbias.measures.intervals import mean_record


def summarise_permutations(
    frame: pd.DataFrame, depth: int, window: int, resamples: int, level: float, seed: int
) -> dict[str, Any]:
    """Return per collection: n, depth, and per system the curves over m (Figure 5).

    frame: system, seed, collection, depth, aggregate, m, query_id, ndcg.
    """
    record: dict[str, Any] = {}
    at_depth = frame[frame["depth"] == depth]
    for collection, rows in at_depth.groupby("collection", sort=False):
        check_same_queries(rows, ["system", "aggregate", "m"])
        systems: dict[str, Any] = {}
        for (system, aggregate, m), part in rows.groupby(["system", "aggregate", "m"], sort=False):
            rng = keyed_generator(seed, "permutations", collection, system, aggregate, m)
            count = "order" if aggregate == SINGLE else "m"
            of_system = systems.setdefault(
                system, {"kemeny_window": window, SINGLE: [], "borda": None, "kemeny": None}
            )
            of_system[aggregate] = [
                *(of_system[aggregate] or []),
                {count: int(m), **mean_record(query_means(part), resamples, level, rng)},
            ]
        record[collection] = {
            "n": int(rows["query_id"].nunique()),
            "depth": depth,
            "systems": systems,
        }
    return record
