"""Permutation self-consistency: aggregates of rows, ties by row, and the first m outputs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.listwise.permutations import AGGREGATORS, aggregated, consistent_orders

EACH = pytest.mark.parametrize("aggregate", AGGREGATORS.values(), ids=AGGREGATORS)


def several(m: int, n: int, seed: int) -> list[np.ndarray]:
    """m orders of the same n rows, which are no 0, 1, 2, …"""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(100)[:n]
    return [rng.permutation(rows) for _ in range(m)]


@EACH
@given(seed=st.integers(0, 50), m=st.integers(1, 5), n=st.integers(1, 6))
def test_the_answer_holds_the_rows_and_no_order_of_the_outputs_matters(aggregate, seed, m, n):
    outputs = several(m, n, seed)
    found = aggregated(outputs, aggregate)
    assert sorted(found.tolist()) == sorted(outputs[0].tolist())
    np.testing.assert_array_equal(aggregated(outputs[::-1], aggregate), found)


@EACH
@given(seed=st.integers(0, 50), m=st.integers(1, 5), n=st.integers(0, 6))
def test_outputs_that_agree_are_the_answer(aggregate, seed, m, n):
    output = several(1, n, seed)[0]
    np.testing.assert_array_equal(aggregated([output] * m, aggregate), output)


@EACH
def test_two_opposite_outputs_go_by_row(aggregate):
    output = np.array([40, 7, 23, 11])
    assert aggregated([output, output[::-1]], aggregate).tolist() == [7, 11, 23, 40]


@EACH
def test_the_majority_wins(aggregate):
    right, wrong = np.array([9, 4, 6]), np.array([6, 4, 9])
    assert aggregated([right, wrong, right], aggregate).tolist() == [9, 4, 6]


def test_where_borda_and_kemeny_part():
    """Three of five put 8 first; its two last places cost it Borda's first rank."""
    outputs = [np.array(order) for order in [[8, 5, 2]] * 3 + [[5, 2, 8]] * 2]
    assert aggregated(outputs, AGGREGATORS["kemeny"]).tolist() == [8, 5, 2]
    assert aggregated(outputs, AGGREGATORS["borda"]).tolist() == [5, 8, 2]


@EACH
def test_each_list_is_aggregated_from_its_own_first_outputs(aggregate):
    lists = [several(4, n, seed) for seed, n in enumerate((5, 3, 0, 1))]
    outputs = [[of_list[repeat] for of_list in lists] for repeat in range(4)]
    for m in range(1, 5):
        found = consistent_orders(outputs, m, aggregate)
        assert len(found) == 4
        for order, of_list in zip(found, lists, strict=True):
            np.testing.assert_array_equal(order, aggregated(of_list[:m], aggregate))
    single = consistent_orders(outputs, 1, aggregate)
    for order, output in zip(single, outputs[0], strict=True):
        np.testing.assert_array_equal(order, output)
