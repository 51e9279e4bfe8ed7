"""Made-up values of queries, as the evaluation steps of the listwise study leave them."""

import numpy as np
import pandas as pd

HOW = {"resamples": 300, "level": 0.9, "seed": 1}


def slot_frame(
    means: dict[str, list[float]], queries: int = 30, seeds: tuple[int, ...] = (1, 2)
) -> pd.DataFrame:
    """Values by slot of systems whose means over queries, seed for seed, are the given ones."""
    noise = np.random.default_rng(0).normal(0, 0.05, queries)
    noise -= noise.mean()
    return pd.DataFrame(
        [
            {"system": system, "seed": seed, "query_id": f"q{query:03d}", "slot": slot,
             "ndcg": mean + noise[query]}
            for system, of_system in means.items()
            for seed in seeds
            for query in range(queries)
            for slot, mean in enumerate(of_system, start=1)
        ]
    )  # fmt: skip


def order_frame(
    means: dict[str, list[float]],
    queries: int = 30,
    seeds: tuple[int, ...] = (1, 2),
    collection: str = "wiki",
    stages: tuple[str, ...] = ("main",),
) -> pd.DataFrame:
    """Values by order, the first stage's own first; an order of its own noise to each query."""
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.05, (queries, 10))
    noise -= noise.mean(axis=0)
    return pd.DataFrame(
        [
            {"system": system, "seed": seed, "collection": collection, "first_stage": stage,
             "order": order, "query_id": f"q{query:03d}", "ndcg": mean + noise[query, order]}
            for system, of_system in means.items()
            for stage in stages
            for seed in seeds
            for order, mean in enumerate(of_system)
            for query in range(queries)
        ]
    )  # fmt: skip
