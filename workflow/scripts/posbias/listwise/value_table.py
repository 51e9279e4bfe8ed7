"""Values of queries as the evaluation steps leave them, read and averaged over training seeds."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from posbias.errors import DataError

VALUES = ("ndcg", "tau_psi")  # columns that are measured; the others say of what


def read_values(paths: Sequence[Path], columns: Sequence[str]) -> pd.DataFrame:
    """Read Parquet files of one layout one below the other; raises DataError naming a bad file."""
    frames = []
    for path in paths:
        try:
            frame = pd.read_parquet(path)
        except (OSError, ValueError) as fault:
            raise DataError(
                f"{path}: cannot be read as Parquet ({fault}); delete it and evaluate again."
            ) from fault
        missing = [name for name in columns if name not in frame]
        if missing:
            raise DataError(f"{path}: lacks the columns {', '.join(missing)}; evaluate again.")
        if "ndcg" in frame and not np.isfinite(frame["ndcg"]).all():
            query = frame.loc[~np.isfinite(frame["ndcg"]), "query_id"].iloc[0]
            raise DataError(
                f"{path}: query {query!r} has an nDCG that is not a number; delete it and evaluate "
                "again."
            )
        keys = [name for name in columns if name not in VALUES]
        twice = frame[frame.duplicated(keys)]
        if len(twice):
            raise DataError(
                f"{path}: two values for {twice[keys].iloc[0].to_dict()}; delete it and evaluate "
                "again."
            )
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def check_same_queries(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Raise DataError unless every combination of `columns` has a value of the same queries.

    Means per query pair by their place, so that other queries would pair without a sign of it. A
    value may come twice: every reference brings those of the first stages alone.
    """
    first = None
    for key, rows in frame.groupby(list(columns), sort=False):
        queries = set(rows["query_id"])
        first = queries if first is None else first
        if queries != first:
            where = ", ".join(f"{name} {value}" for name, value in zip(columns, key, strict=True))
            raise DataError(f"{where}: evaluated on other queries; evaluate all systems again.")


def by_query(frame: pd.DataFrame, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Return the mean nDCG over seeds: a row per query, a column per combination of `columns`.

    Raises DataError where a query lacks a value: a mean over fewer queries would not compare.
    """
    table = frame.pivot_table(
        index="query_id", columns=list(columns) or None, values="ndcg", aggfunc="mean", sort=True
    )
    if table.isna().to_numpy().any():
        query = table.index[table.isna().any(axis=1)][0]
        raise DataError(f"query {query!r} lacks a value of nDCG; evaluate all systems again.")
    return table


def query_means(frame: pd.DataFrame) -> np.ndarray:
    """Return the mean nDCG of each query over whatever else varies (seeds, shuffled orders)."""
    return frame.groupby("query_id", sort=True)["ndcg"].mean().to_numpy()


def seed_means(frame: pd.DataFrame) -> list[float]:
    """Return the mean nDCG of each training seed, in rising order of the seeds."""
    return frame.groupby("seed", sort=True)["ndcg"].mean().tolist()


def check_seeds(frame: pd.DataFrame, seeds: Sequence[int], untrained: int) -> None:
    """Raise DataError unless each trained system has values of all seeds and of no other.

    untrained: the seed of systems that were not trained.
    """
    for system, found in frame.groupby("system", sort=False)["seed"].unique().items():
        if set(found) not in ({untrained}, set(seeds)):
            raise DataError(
                f"{system} was evaluated with the seeds {sorted(map(int, found))}, the study has "
                f"{sorted(seeds)}; evaluate it again."
            )
