"""One order out of several over the same items: Kemeny, Borda, reciprocal ranks.

Items are numbered 0 to n - 1 in the order of their document indices. Where the orders do not
decide between two items, the lower one comes first.
"""

from collections.abc import Sequence

import numpy as np

from posbias.errors import ConfigError, DataError
from posbias.listwise.linear_ordering import least_cost_order
from posbias.retrieval.fusion import fuse_ranks


def checked_orders(orders: Sequence[Sequence[int]] | np.ndarray) -> np.ndarray:
    """Return orders as (m, n) int64; raises DataError naming the first that is no permutation."""
    rows = [np.asarray(order) for order in orders]
    if not rows:
        raise DataError("there is no order to aggregate.")
    items = np.arange(rows[0].size)
    for number, row in enumerate(rows):
        if not np.array_equal(np.sort(row, axis=None), items):
            raise DataError(
                f"order {number} (counted from 0) is not a permutation of 0 to {len(items) - 1}: "
                f"{row.tolist()}; every order must name every item once."
            )
    return np.stack(rows).astype(np.int64)


def item_orders(outputs: Sequence[np.ndarray]) -> np.ndarray:
    """Return orders of passage rows as orders of items: (m, n), items numbered by rising row.

    outputs: m orders of the same rows.
    """
    stacked = np.stack(outputs)
    return np.searchsorted(np.sort(stacked[0]), stacked)


def _ranks(orders: np.ndarray) -> np.ndarray:
    return np.argsort(orders, axis=1)


def kendall_distance(a: Sequence[int] | np.ndarray, b: Sequence[int] | np.ndarray) -> int:
    """Count the pairs of items that two orders place the other way round, 0 to n(n - 1)/2.

    Raises DataError unless both are permutations of the same items.
    """
    first, second = checked_orders([a, b])
    ranks = np.argsort(first)[second]
    return int(np.count_nonzero(np.triu(ranks[:, None] > ranks[None, :])))


def preference_counts(orders: Sequence[Sequence[int]] | np.ndarray) -> np.ndarray:
    """Return (n, n) counts: [i, j] is how many of the (m, n) orders place item i before item j.

    Raises DataError for an order that is not a permutation.
    """
    ranks = _ranks(checked_orders(orders))
    return np.count_nonzero(ranks[:, :, None] < ranks[:, None, :], axis=0)


def borda(orders: Sequence[Sequence[int]] | np.ndarray) -> np.ndarray:
    """Order items by their mean rank over the (m, n) orders: (n,), best first.

    Raises DataError for an order that is not a permutation.
    """
    return np.argsort(_ranks(checked_orders(orders)).sum(axis=0), kind="stable")


def reciprocal_rank_fusion(orders: Sequence[Sequence[int]] | np.ndarray, k: int = 60) -> np.ndarray:
    """Order items by the sum over the (m, n) orders of 1/(k + rank), rank from 1: (n,).

    Raises DataError for an order that is not a permutation, ConfigError for a bad k.
    """
    checked = checked_orders(orders)
    return fuse_ranks(checked.tolist(), checked.shape[1], k)[0]


def kemeny(orders: Sequence[Sequence[int]] | np.ndarray, seconds: float = 60.0) -> np.ndarray:
    """Return the order with the least summed Kendall distance to the (m, n) orders: (n,).

    Exact. Of several such orders it is one with the fewest pairs that stand against the numbers
    of their items. seconds: the most that one circle of majorities may take. Raises DataError for
    an order that is not a permutation, ConfigError where the time runs out.
    """
    before = preference_counts(orders)
    upper = np.triu(np.ones(before.shape, dtype=bool), 1)
    # Of a tied pair the lower item counts as preferred, so that every pair has a winner.
    wins = (before > before.T) | ((before == before.T) & upper)
    try:
        groups = [
            group[least_cost_order(before[np.ix_(group, group)].T, seconds)]
            for group in _circles(wins)
        ]
    except TimeoutError as fault:
        raise ConfigError(
            f"kemeny: {fault}; ask for borda, aggregate fewer items, or allow more seconds."
        ) from fault
    return np.concatenate([np.empty(0, dtype=np.int64), *groups])


def _circles(wins: np.ndarray) -> list[np.ndarray]:
    """Split items where everyone ahead wins against everyone behind; lower items first in each.

    No pair across a split costs more than it must, so a best order of each group joins to a best
    order of all; where the majority is transitive every group is one item (Condorcet's order).
    The splits lie where the items ahead have all the wins that they can have.
    """
    n = len(wins)
    totals = wins.sum(axis=1)
    by_wins = np.argsort(-totals, kind="stable")
    ahead = np.arange(1, n + 1)
    most = ahead * (ahead - 1) // 2 + ahead * (n - ahead)
    ends = np.flatnonzero(np.cumsum(totals[by_wins]) == most) + 1
    return [np.sort(group) for group in np.split(by_wins, ends)[:-1]]
