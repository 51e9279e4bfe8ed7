"""Position augmentation: which orders a list is shown in, and which slots its items visit."""

import csv
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import ConfigError, DataError
from posbias.listwise.augment import KINDS, coverage_table, presentations, slot_coverage

QUERIES = [f"q{n}" for n in range(25)]


def slots_visited(orders: list[np.ndarray]) -> list[set[int]]:
    """Return the slots of each item."""
    return [{int(np.flatnonzero(order == i)[0]) for order in orders} for i in range(len(orders[0]))]


@given(st.sampled_from(KINDS), st.text(max_size=5), st.integers(0, 12), st.integers(1, 15))
def test_orders_are_complete_and_never_come_twice(kind, query_id, k, variants):
    orders = presentations(kind, query_id, k, 7, variants)
    expected = {
        "none": 1,
        "random": min(variants, math.factorial(k)),
        "rotation": max(min(variants, k), 1),
    }[kind]
    assert len(orders) == len({tuple(order) for order in orders}) == expected
    assert all(sorted(order) == list(range(k)) for order in orders)


@pytest.mark.parametrize("k", range(5))
def test_more_shuffles_than_there_are_give_them_all(k):
    orders = presentations("random", "q", k, 0, 1000)
    assert len({tuple(order) for order in orders}) == math.factorial(k)


def test_without_augmentation_the_list_stays():
    (order,) = presentations("none", "q", 5, 1, 4)
    assert order.tolist() == [0, 1, 2, 3, 4]


def test_four_groups_of_twenty_take_a_passage_to_slots_five_apart():
    orders = presentations("rotation", "q", 20, 1, 4)
    for slots in slots_visited(orders):
        assert slots == {(min(slots) + 5 * turn) % 20 for turn in range(4)}
        assert len(slots) == 4 and min(slots) < 5
    assert orders[1].tolist() == orders[0][5:].tolist() + orders[0][:5].tolist()


@pytest.mark.parametrize("k", [1, 2, 7, 20])
def test_as_many_groups_as_passages_cover_all_slots(k):
    for slots in slots_visited(presentations("rotation", "q", k, 3, k)):
        assert slots == set(range(k))


@given(st.integers(1, 20), st.integers(1, 25), st.integers(0, 9))
def test_a_rotation_goes_once_round(k, variants, seed):
    orders = presentations("rotation", "q", k, seed, variants)
    first = orders[0].tolist()
    turns = [first.index(order[0]) for order in orders]
    assert turns[0] == 0 and turns == sorted(set(turns))
    steps = np.diff([*turns, k])
    assert steps.max() - steps.min() <= 1
    for order, turn in zip(orders, turns, strict=True):
        assert order.tolist() == first[turn:] + first[:turn]


def test_a_list_shorter_than_the_groups_has_fewer_variants():
    assert len(presentations("rotation", "q", 3, 1, 4)) == 3
    assert len(presentations("rotation", "q", 2, 1, 4)) == 2
    assert [o.tolist() for o in presentations("rotation", "q", 0, 1, 4)] == [[]]


@pytest.mark.parametrize("kind", ["random", "rotation"])
def test_the_orders_depend_on_seed_and_query_only(kind):
    def orders(seed, query_id):
        return [order.tolist() for order in presentations(kind, query_id, 20, seed, 4)]

    whole = {q: orders(1, q) for q in QUERIES}
    fewer = {q: orders(1, q) for q in reversed(QUERIES) if q != "q3"}
    assert fewer == {q: o for q, o in whole.items() if q != "q3"}
    assert len({str(o) for o in whole.values()}) == len(QUERIES)
    assert orders(2, "q3") != whole["q3"]


def test_the_kinds_start_from_one_shuffle_and_variants_nest():
    random = [order.tolist() for order in presentations("random", "q", 20, 1, 8)]
    assert [order.tolist() for order in presentations("random", "q", 20, 1, 3)] == random[:3]
    for groups in (1, 4, 20):
        assert presentations("rotation", "q", 20, 1, groups)[0].tolist() == random[0]


def test_the_values_never_change():
    # Another generator would silently change every training set of every published number.
    assert presentations("rotation", "q1", 6, 42, 2)[0].tolist() == [5, 0, 3, 2, 4, 1]


def test_wrong_arguments_are_named():
    with pytest.raises(ConfigError, match=r"'mirror'.* none, random, rotation"):
        presentations("mirror", "q", 5, 1, 2)
    for k, variants in ((5, 0), (-1, 2)):
        with pytest.raises(ConfigError, match="give 1 at least"):
            presentations("random", "q", k, 1, variants)


def test_coverage_by_hand():
    coverage = slot_coverage([[np.array([0, 1, 2]), np.array([1, 0, 2])], [np.array([1, 2, 0])]])
    assert coverage.counts.tolist() == [[1, 1, 1], [2, 1, 0], [0, 1, 2]]
    assert (coverage.lists, coverage.orders) == (2, 3)
    # Items visit 2, 2 and 1 slots in the first list, and 1 each in the second.
    assert (coverage.slots_least, coverage.slots_most) == (1, 2)
    assert coverage.slots_mean == pytest.approx(8 / 6)
    assert coverage.share == pytest.approx(8 / 18)


@given(st.sampled_from(KINDS), st.integers(1, 8), st.integers(1, 8))
def test_every_item_stands_once_in_every_order(kind, k, variants):
    coverage = slot_coverage(presentations(kind, q, k, 1, variants) for q in QUERIES)
    assert (coverage.counts.sum(axis=0) == coverage.orders).all()
    assert (coverage.counts.sum(axis=1) == coverage.orders).all()
    assert 1 <= coverage.slots_least <= coverage.slots_mean <= coverage.slots_most <= k


def test_lists_that_cannot_be_counted_together_are_named():
    with pytest.raises(DataError, match=r"one length.*\[2, 3\]"):
        slot_coverage([[np.arange(2)], [np.arange(3)]])
    for nothing in ([], [[]], [[np.arange(0)]]):
        with pytest.raises(DataError, match="one length"):
            slot_coverage(nothing)


def test_the_table_tells_the_kinds_apart(tmp_path):
    kinds = {"none": [1], "random": [4], "rotation": [1, 4, 20]}
    rows = coverage_table(QUERIES, 20, 1, kinds)
    assert [(row["kind"], row["variants"]) for row in rows] == [
        ("none", 1), ("random", 4), ("rotation", 1), ("rotation", 4), ("rotation", 20)
    ]  # fmt: skip
    none, random, once, four, full = rows
    assert none["share"] == once["share"] == 1 / 20 and none["orders"] == 25
    assert (none["rarest"], none["commonest"]) == (0, 20)
    assert (four["slots_least"], four["slots_mean"], four["slots_most"]) == (4, 4, 4)
    assert four["share"] == 4 / 20 and four["orders"] == 100
    assert (full["slots_least"], full["share"], full["orders"]) == (20, 1, 500)
    assert (full["rarest"], full["commonest"]) == (1, 1)
    # Shuffles may come back to a slot: 20 (1 - (19/20)^4) = 3.7 slots of an item in the mean.
    assert random["slots_least"] < 4 and random["slots_mean"] == pytest.approx(3.71, abs=0.1)
    path = tmp_path / "coverage.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    assert path.read_text().splitlines()[1].startswith("none,1,25,25,1,1.0,1,0.05,0.0,20.0")
