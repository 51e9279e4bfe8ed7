"""The relevant passage at every slot: who takes part, what is shown, and known rankers' ranks."""

from collections import Counter

import numpy as np
import pytest

from listwise_toy import toy_collection, toy_qrels
from posbias.errors import ConfigError, DataError
from posbias.listwise.slots import eligible_lists, placed, ranks_by_slot

COLLECTION = toy_collection(8, 12)
QRELS = toy_qrels(
    COLLECTION,
    {0: {3: 1}, 1: {3: 1, 4: 1}, 2: {11: 1}, 3: {5: 2, 1: 0}, 4: {0: 1}, 6: {2: 0}, 7: {6: 1}},
)
LISTS = [(query, np.array([9, 3, 5, 0, 6, 11])) for query in range(7)] + [(7, np.array([6, 1]))]


def chosen(window=5, limit=100, lists=LISTS):
    dropped = Counter()
    return eligible_lists(lists, COLLECTION, QRELS, window, limit, dropped), dropped


def test_only_full_windows_with_their_one_relevant_passage_take_part():
    found, dropped = chosen()
    assert [(query, others.tolist(), relevant) for query, others, relevant in found] == [
        (0, [9, 5, 0, 6], 3),
        (3, [9, 3, 0, 6], 5),
        (4, [9, 3, 5, 6], 0),
    ]
    assert dropped == {
        "not exactly one relevant passage": 3,
        "relevant passage not among the first 5": 1,
        "fewer than 5 candidates": 1,
    }
    assert len(found) + sum(dropped.values()) == len(LISTS)


def test_the_limit_keeps_the_first_and_counts_the_rest():
    found, dropped = chosen(limit=2)
    assert [query for query, _, _ in found] == [0, 3]
    assert dropped["above the limit"] == 1
    assert len(found) + sum(dropped.values()) == len(LISTS)


def test_nobody_left_is_an_error_that_counts():
    with pytest.raises(DataError, match="no query has its one relevant passage among 7 candidates"):
        chosen(window=7)
    with pytest.raises(DataError, match="fewer than 5 candidates"):
        chosen(lists=LISTS[7:])


@pytest.mark.parametrize("slot", range(5))
def test_the_others_keep_their_order(slot):
    window = placed(np.array([9, 5, 0, 6]), 3, slot)
    assert window[slot] == 3
    assert window[window != 3].tolist() == [9, 5, 0, 6]
    many = placed(np.array([[9, 5, 0, 6], [1, 2, 4, 7]]), 3, slot)
    assert many.shape == (2, 5)
    assert many[0].tolist() == window.tolist()


@pytest.mark.parametrize("slot", [-1, 5])
def test_a_slot_outside_the_window_is_named(slot):
    with pytest.raises(ConfigError, match=f"slot {slot} lies outside a window of 5"):
        placed(np.array([9, 5, 0, 6]), 3, slot)


def test_a_ranker_that_keeps_the_order_puts_it_where_it_stood():
    found, _ = chosen()
    ranks, tally = ranks_by_slot(
        found, lambda queries, passages: -np.tile(np.arange(5.0), (len(queries), 1)), "kept"
    )
    assert ranks.tolist() == [[1, 2, 3, 4, 5]] * 3
    assert tally.record() == {"windows": 15, "flat": 0}


def test_a_ranker_of_content_does_not_move_it():
    found, _ = chosen()
    ranks, _ = ranks_by_slot(found, lambda queries, passages: -passages.astype(float), "content")
    # Rows below the relevant one that stand beside it: 0 for query 0; 0 and 3 for 3; none for 4.
    assert ranks.tolist() == [[2] * 5, [3] * 5, [1] * 5]


def test_a_flat_ranker_goes_by_row_and_is_counted():
    found, _ = chosen()
    ranks, tally = ranks_by_slot(found, lambda queries, passages: np.zeros(passages.shape), "flat")
    assert ranks.tolist() == [[2] * 5, [3] * 5, [1] * 5]
    assert tally.record() == {"windows": 15, "flat": 15}


def test_each_query_is_asked_for_its_own_window():
    found, _ = chosen()
    shown = []

    def watched(queries, passages):
        shown.extend(zip(queries.tolist(), passages.tolist(), strict=True))
        return -np.tile(np.arange(5.0), (len(queries), 1))

    ranks_by_slot(found, watched, "watched")
    expected = [
        (query, placed(others, relevant, slot).tolist())
        for slot in range(5)
        for query, others, relevant in found
    ]
    assert shown == expected
