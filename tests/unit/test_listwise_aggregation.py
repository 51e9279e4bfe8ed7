"""Aggregated orders: Kemeny against brute force, and what every aggregator must hold."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from posbias.errors import ConfigError, DataError
from posbias.listwise.aggregation import (
    borda,
    kemeny,
    kendall_distance,
    preference_counts,
    reciprocal_rank_fusion,
)

AGGREGATORS = [borda, kemeny, reciprocal_rank_fusion]


def sets_of_orders(most_items: int, most_orders: int = 6):
    return st.integers(1, most_items).flatmap(
        lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=most_orders)
    )


def distance_to_all(order, orders) -> int:
    return sum(kendall_distance(order, other) for other in orders)


def against_numbers(order) -> int:
    return kendall_distance(order, np.arange(len(order)))


@given(st.integers(2, 12).flatmap(lambda n: st.tuples(*[st.permutations(range(n))] * 2)))
def test_distance_is_kendalls(pair):
    first, second = pair
    n = len(first)
    tau = kendalltau(np.argsort(first), np.argsort(second)).statistic
    assert kendall_distance(first, second) == pytest.approx((1 - tau) * n * (n - 1) / 4)
    assert kendall_distance(first, second) == kendall_distance(second, first)


def test_distance_by_hand():
    assert kendall_distance([0, 1, 2, 3], [3, 2, 1, 0]) == 6
    assert kendall_distance([2, 0, 1], [0, 1, 2]) == 2
    assert kendall_distance([0], [0]) == kendall_distance([], []) == 0


def test_preference_counts_by_hand():
    counts = preference_counts([[0, 1, 2], [2, 0, 1], [0, 2, 1]])
    assert counts.tolist() == [[0, 3, 2], [0, 0, 1], [1, 2, 0]]


@settings(max_examples=60)
@given(sets_of_orders(6))
def test_kemeny_is_nearest_of_all_orders(orders):
    found = kemeny(orders)
    n = len(orders[0])
    scored = [
        (distance_to_all(order, orders), against_numbers(order)) for order in permutations(range(n))
    ]
    assert (distance_to_all(found, orders), against_numbers(found)) == min(scored)


@settings(max_examples=40)
@given(sets_of_orders(14, most_orders=9))
def test_kemeny_is_no_farther_than_the_others(orders):
    best = distance_to_all(kemeny(orders), orders)
    candidates = [borda(orders), reciprocal_rank_fusion(orders), *orders]
    assert best <= min(distance_to_all(order, orders) for order in candidates)


@settings(max_examples=40)
@given(sets_of_orders(9), st.randoms(use_true_random=False))
def test_kemenys_distance_does_not_depend_on_the_numbers_of_items(orders, random):
    names = list(range(len(orders[0])))
    random.shuffle(names)
    renamed = [[names[item] for item in order] for order in orders]
    assert distance_to_all(kemeny(renamed), renamed) == distance_to_all(kemeny(orders), orders)


def exact_distance(orders) -> int:
    """The least summed distance, by the best way to complete every set of last items."""
    before = preference_counts(orders)
    n = len(before)
    best = [0] * (1 << n)
    for members in range(1, 1 << n):
        items = [item for item in range(n) if members >> item & 1]
        best[members] = min(
            best[members ^ (1 << first)] + int(before[items, first].sum()) for first in items
        )
    return best[-1]


@pytest.mark.parametrize("m", [2, 3, 8])
def test_kemeny_of_eleven_unrelated_items_is_exact(m):
    rng = np.random.default_rng(m)
    orders = [rng.permutation(11) for _ in range(m)]
    assert distance_to_all(kemeny(orders), orders) == exact_distance(orders)


@pytest.mark.parametrize("m", [5, 20])
def test_kemeny_settles_a_window_of_twenty_in_time(m):
    rng = np.random.default_rng(m)
    for _ in range(3):
        orders = [rng.permutation(20) for _ in range(m)]
        best = distance_to_all(kemeny(orders, seconds=10), orders)
        assert best <= distance_to_all(borda(orders), orders)


def test_kemeny_returns_the_order_of_transitive_majorities():
    # 1 before 0 before 2 by two of three each, though no order says so.
    assert kemeny([[1, 2, 0], [0, 1, 2], [1, 0, 2]]).tolist() == [1, 0, 2]
    rng = np.random.default_rng(0)
    truth = rng.permutation(200)
    swapped = [truth.copy() for _ in range(5)]
    for row, at in enumerate((3, 50, 90, 120, 198)):
        swapped[row][[at, at + 1]] = swapped[row][[at + 1, at]]
    assert kemeny(swapped, seconds=0).tolist() == truth.tolist()  # no solver, so no time


def test_a_circle_of_majorities_goes_to_the_lowest_items_first():
    circle = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    assert kemeny(circle).tolist() == [0, 1, 2]
    behind = [[4, *order, 3] for order in circle]
    assert kemeny(behind).tolist() == [4, 0, 1, 2, 3]


@pytest.mark.parametrize("aggregate", AGGREGATORS)
class TestEvery:
    @given(st.integers(0, 20).flatmap(lambda n: st.permutations(range(n))), st.integers(1, 4))
    def test_unanimous_orders_are_returned(self, aggregate, order, m):
        assert aggregate([order] * m).tolist() == list(order)

    @settings(max_examples=40)
    @given(sets_of_orders(8), st.randoms(use_true_random=False))
    def test_the_order_of_the_orders_is_no_matter(self, aggregate, orders, random):
        mixed = list(orders)
        random.shuffle(mixed)
        assert aggregate(mixed).tolist() == aggregate(orders).tolist()

    @settings(max_examples=40)
    @given(sets_of_orders(8))
    def test_the_result_is_a_permutation(self, aggregate, orders):
        assert sorted(aggregate(orders).tolist()) == sorted(orders[0])

    def test_opposite_orders_leave_the_lower_item_first(self, aggregate):
        assert aggregate([[1, 0], [0, 1]]).tolist() == [0, 1]
        # Reciprocal ranks favour one high rank over two middling ones, so item 0 may come last.
        wide = aggregate([[2, 0, 1], [1, 0, 2]]).tolist()
        assert wide.index(1) < wide.index(2)

    def test_few_items(self, aggregate):
        assert aggregate([[], []]).tolist() == []
        assert aggregate(np.empty((3, 0), dtype=int)).tolist() == []
        assert aggregate([[0], [0]]).tolist() == [0]
        assert aggregate(np.array([[1, 0]])).tolist() == [1, 0]

    def test_no_order_is_refused(self, aggregate):
        with pytest.raises(DataError, match="no order to aggregate"):
            aggregate([])

    @pytest.mark.parametrize(
        "broken", [[0, 0, 2], [1, 2, 3], [0, 1], [0, 1, 2, 3], [-1, 0, 1], [0.5, 1, 2]]
    )
    def test_what_is_no_permutation_is_refused(self, aggregate, broken):
        with pytest.raises(DataError, match=r"order 1 .* is not a permutation of 0 to 2"):
            aggregate([[2, 1, 0], broken])


def test_borda_is_the_mean_rank():
    orders = [[2, 0, 1, 3], [2, 1, 0, 3], [0, 3, 1, 2]]
    # Sums of ranks: 3, 5, 3, 7.
    assert borda(orders).tolist() == [0, 2, 1, 3]


def test_reciprocal_ranks_favour_one_high_rank():
    orders = [[0, 1, 2], [1, 0, 2], [2, 1, 0]]
    # With k = 0, item 1 has 1/2 + 1 + 1/2, item 0 has 1 + 1/2 + 1/3, item 2 has 1/3 + 1/3 + 1.
    assert reciprocal_rank_fusion(orders, k=0).tolist() == [1, 0, 2]


def test_kemeny_out_of_time_says_so():
    rng = np.random.default_rng(1)
    orders = [rng.permutation(60) for _ in range(5)]
    with pytest.raises(ConfigError, match=r"no proven optimum for .* ask for borda"):
        kemeny(orders, seconds=1e-3)
