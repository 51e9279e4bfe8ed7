"""Reciprocal rank fusion: 1-based ranks, summed; an item that a ranking lacks gains nothing."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from posbias.errors import ConfigError, DataError
from posbias.retrieval.trec import Run, check_run, make_run


@lru_cache(maxsize=16)
def _shares(k: int, depth: int) -> tuple[list[int], int]:
    """Return 1/(k + rank) for ranks 1 to depth as numerators over one common denominator."""
    whole = math.lcm(*range(k + 1, k + depth + 1))
    return [whole // (k + rank) for rank in range(1, depth + 1)], whole


def fuse_ranks(
    rankings: Sequence[Sequence[int]], n_items: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Order items 0 to n_items - 1 by the sum over rankings of 1/(k + rank), and return the sums.

    rankings: items best first, whole or in part. Returns the order and, in that order, the sums
    (float64). Sums are compared as whole numbers, so that equal ones are equal whatever the order
    of the rankings; then the lower item comes first. Raises ConfigError for a k that is not a
    whole number of at least 0.
    """
    if not isinstance(k, int) or k < 0:
        raise ConfigError(f"the constant of rank fusion must be a whole number from 0, is {k!r}.")
    shares, whole = _shares(k, max(map(len, rankings), default=0))
    sums = [0] * n_items
    for ranking in rankings:
        for item, share in zip(ranking, shares, strict=False):
            sums[item] += share
    order = sorted(range(n_items), key=lambda item: (-sums[item], item))
    values = [sums[item] / whole for item in order]
    return np.array(order, dtype=np.int64), np.array(values, dtype=np.float64)


def reciprocal_rank_fusion(
    runs: Sequence[Run], doc_rows: Mapping[str, int], depth: int, k: int = 60
) -> Run:
    """Fuse runs into one, the first `depth` documents of each query.

    runs: read to their ends; a query that one of them lacks is fused from the others. doc_rows:
    the index of each document, which decides between equal sums. Queries keep the order in which
    the runs name them first. Raises DataError for a run out of order or a document without an
    index, ConfigError for a depth below 1 or a bad k.
    """
    if depth < 1:
        raise ConfigError(f"the depth of rank fusion must be at least 1, is {depth}.")
    for run in runs:
        check_run(run)
    fused: Run = {}
    for query_id in dict.fromkeys(query_id for run in runs for query_id in run):
        rankings = [list(run.get(query_id, ())) for run in runs]
        found = {doc_id for ranking in rankings for doc_id in ranking}
        unknown = sorted(found - doc_rows.keys())
        if unknown:
            raise DataError(
                f"query {query_id!r}: document {unknown[0]!r} is not in the collection, and "
                f"{len(unknown) - 1} more; fuse runs over one collection."
            )
        doc_ids = sorted(found, key=doc_rows.__getitem__)
        items = {doc_id: item for item, doc_id in enumerate(doc_ids)}
        order, sums = fuse_ranks(
            [[items[doc_id] for doc_id in ranking] for ranking in rankings], len(doc_ids), k
        )
        fused |= make_run([query_id], doc_ids, [order[:depth]], [sums[:depth]])
    return fused
