"""In which orders a training shows the passages of a list (listwise study, Pos-Aug)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from posbias.errors import ConfigError, DataError
from posbias.keyed import keyed_generator

KINDS = ("none", "random", "rotation")


def presentations(kind: str, query_id: str, k: int, seed: int, variants: int) -> list[np.ndarray]:
    """Return the orders in which to show a query's list, each (k,): the item at each slot.

    kind: `none`, the list as it is; `random`, `variants` shuffles, fewer where there are not as
    many; `rotation`, one shuffle cut into `variants` groups, no smaller than one item, and the
    groups rotated once round. No order comes twice. The shuffles depend on seed, query and k
    only: the rotated one is the first random one, and more variants keep the random ones there
    were. Raises ConfigError for an unknown kind and a wrong number.
    """
    if kind not in KINDS:
        raise ConfigError(f"augmentation {kind!r}: give one of {', '.join(KINDS)}.")
    if k < 0 or variants < 1:
        raise ConfigError(f"augmentation of {k} passages in {variants} variants: give 1 at least.")
    if kind == "none":
        return [np.arange(k)]
    generator = keyed_generator(seed, "augment", query_id)
    if kind == "random":
        return _distinct_shuffles(generator, k, variants)
    groups = np.array_split(generator.permutation(k), max(min(variants, k), 1))
    return [np.concatenate(groups[turn:] + groups[:turn]) for turn in range(len(groups))]


def _distinct_shuffles(generator: np.random.Generator, k: int, variants: int) -> list[np.ndarray]:
    # There are k! orders; those of 20 items are already more than anybody asks for.
    wanted = min(variants, math.factorial(min(k, 20)))
    found: dict[bytes, np.ndarray] = {}
    while len(found) < wanted:
        order = generator.permutation(k)
        found.setdefault(order.tobytes(), order)
    return list(found.values())


class Coverage(NamedTuple):
    """Which slots the items of some lists were shown at.

    counts: (k, k) [item, slot], over all lists; an item is known by its place in the list as it
    was before augmentation, from 0. orders: presentations in all. The others tell of the distinct
    slots that one item of one list visits: the fewest, the mean, the most, and the mean's share
    of the k slots.
    """

    counts: np.ndarray
    lists: int
    orders: int
    slots_least: int
    slots_mean: float
    slots_most: int
    share: float


def slot_coverage(orders_per_list: Iterable[Sequence[np.ndarray]]) -> Coverage:
    """Count the slots at which each item was shown, given the presentations of each list.

    Raises DataError if there are none, and for lists of several lengths.
    """
    lists = [list(orders) for orders in orders_per_list]
    lengths = {len(order) for orders in lists for order in orders}
    if len(lengths) != 1 or lengths == {0}:
        raise DataError(
            f"slots are counted over lists of one length, 1 at least; found {sorted(lengths)}."
        )
    k = lengths.pop()
    counts = np.zeros((k, k), np.int64)
    visited = np.empty((len(lists), k), np.int64)
    for row, orders in enumerate(lists):
        here = np.zeros((k, k), np.int64)
        for order in orders:
            here[order, np.arange(k)] += 1
        counts += here
        visited[row] = (here > 0).sum(axis=1)
    return Coverage(
        counts=counts,
        lists=len(lists),
        orders=sum(len(orders) for orders in lists),
        slots_least=int(visited.min()),
        slots_mean=float(visited.mean()),
        slots_most=int(visited.max()),
        share=float(visited.mean() / k),
    )


def coverage_table(
    query_ids: Sequence[str], k: int, seed: int, kinds: Mapping[str, Sequence[int]]
) -> list[dict[str, str | int | float]]:
    """Return a row for each kind and number of variants: how evenly lists of k items are shown.

    kinds: the numbers of variants to compare, by kind. `rarest` and `commonest` are the least and
    the greatest count of an item at a slot, over all lists, in units of an even share.
    """
    rows = []
    for kind, variants in ((kind, n) for kind, numbers in kinds.items() for n in numbers):
        coverage = slot_coverage(presentations(kind, q, k, seed, variants) for q in query_ids)
        relative = coverage.counts * k / coverage.orders
        rows.append(
            {
                "kind": kind,
                "variants": variants,
                "lists": coverage.lists,
                "orders": coverage.orders,
                "slots_least": coverage.slots_least,
                "slots_mean": coverage.slots_mean,
                "slots_most": coverage.slots_most,
                "share": coverage.share,
                "rarest": float(relative.min()),
                "commonest": float(relative.max()),
            }
        )
    return rows
