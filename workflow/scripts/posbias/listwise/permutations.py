"""Permutation self-consistency: rerank several shuffled orders of a list, aggregate the answers."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from posbias.listwise.aggregation import borda, item_orders, kemeny

Aggregate = Callable[[np.ndarray], np.ndarray]
SINGLE = "single"  # the m-th order alone, in the place of an aggregate of the first m
AGGREGATORS: dict[str, Aggregate] = {"borda": borda, "kemeny": kemeny}


def aggregated(outputs: Sequence[np.ndarray], aggregate: Aggregate) -> np.ndarray:
    """Return one order out of several over the same passage rows, best first.

    outputs: (m, n) rows of the collection. Ties go by row: items are numbered in that order.
    """
    if len(outputs[0]) == 0:
        return outputs[0]
    return np.sort(outputs[0])[aggregate(item_orders(outputs))]


def consistent_orders(
    outputs: Sequence[Sequence[np.ndarray]], m: int, aggregate: Aggregate
) -> list[np.ndarray]:
    """Return per list the aggregate of its first m outputs; outputs[repeat][list], rows."""
    return [
        aggregated([outputs[repeat][number] for repeat in range(m)], aggregate)
        for number in range(len(outputs[0]))
    ]


def answers(
    outputs: Sequence[Sequence[np.ndarray]], aggregates: Sequence[str]
) -> Iterator[tuple[str, int, list[np.ndarray]]]:
    """Yield (aggregate, m, orders of all lists): each output alone, then aggregates of the first m.

    outputs: as of `consistent_orders`; aggregates: names of AGGREGATORS.
    """
    for m, ranked in enumerate(outputs, start=1):
        yield SINGLE, m, list(ranked)
    for name in aggregates:
        for m in range(1, len(outputs) + 1):
            yield name, m, consistent_orders(outputs, m, AGGREGATORS[name])
