"""Sliding windows: every place covered, every query reranked, nothing left to the input's order."""

import logging
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from posbias.errors import ConfigError, DataError
from posbias.listwise import windows as module
from posbias.listwise.windows import Tally, rerank_sliding, windows

SIZES = st.tuples(st.integers(1, 12), st.integers(1, 12)).filter(lambda pair: pair[1] <= pair[0])


def by_row(queries, passages):
    """A scorer that finds the passage with the lowest row best, whatever the query."""
    return -passages.astype(float)


def by_query(queries, passages):
    """A scorer whose order depends on the query and, a little, on the slot."""
    return np.sin(passages * (queries[:, None] + 2.0)) + 0.1 * np.arange(passages.shape[1])


class Recorder:
    """A scorer that keeps what it is shown."""

    def __init__(self, score=by_row):
        self.score, self.calls = score, []

    def __call__(self, queries, passages):
        self.calls.append((queries.copy(), passages.copy()))
        return self.score(queries, passages)


@pytest.mark.parametrize(
    ("n", "size", "stride", "wanted"),
    [
        (97, 20, 10, [(at, at + 20) for at in range(77, 0, -10)] + [(0, 17)]),
        (100, 20, 10, [(at, at + 20) for at in range(80, -1, -10)]),
        (25, 20, 10, [(5, 25), (0, 15)]),
        (15, 20, 10, [(0, 15)]),
        (20, 20, 10, [(0, 20)]),
        (21, 20, 20, [(1, 21), (0, 1)]),
        (1, 20, 10, [(0, 1)]),
        (0, 20, 10, []),
        (3, 1, 1, [(2, 3), (1, 2), (0, 1)]),
    ],
)
def test_windows_by_hand(n, size, stride, wanted):
    assert windows(n, size, stride) == wanted


@given(st.integers(0, 60), SIZES)
def test_windows_cover_every_place_and_end_at_the_head(n, shape):
    size, stride = shape
    spans = windows(n, size, stride)
    assert {place for start, end in spans for place in range(start, end)} == set(range(n))
    assert all(1 <= end - start <= size for start, end in spans)
    assert all(earlier[1] > later[1] for earlier, later in pairwise(spans))
    if n:
        assert spans[-1][0] == 0
        assert [start for start, _ in spans].count(0) == 1


@pytest.mark.parametrize(("size", "stride"), [(0, 1), (-3, 1), (4, 0), (4, -1), (4, 5)])
@pytest.mark.parametrize("n", [0, 9])
def test_windows_that_stand_still_or_leave_gaps_are_refused(n, size, stride):
    with pytest.raises(ConfigError, match="window"):
        windows(n, size, stride)


@given(st.integers(1, 60), SIZES)
def test_the_best_item_reaches_the_head_from_the_tail(n, shape):
    size, stride = shape
    assume(stride < size)
    passages = np.append(np.arange(1, n), 0)
    (ranked,), _ = rerank_sliding([(0, passages)], by_row, size, stride)
    assert ranked[0] == 0
    assert sorted(ranked.tolist()) == list(range(n))


def test_one_pass_orders_the_head_only():
    passages = np.arange(8)[::-1]
    (ranked,), _ = rerank_sliding([(0, passages)], by_row, 4, 2)
    assert ranked[:2].tolist() == [0, 1]
    assert ranked.tolist() != sorted(ranked.tolist())


def test_a_second_pass_goes_on_where_the_first_ended():
    passages = np.arange(12)[::-1]
    (once,), _ = rerank_sliding([(0, passages)], by_row, 4, 2)
    (twice,), _ = rerank_sliding([(0, once)], by_row, 4, 2)
    assert once[:2].tolist() == [0, 1]
    assert twice[:4].tolist() == [0, 1, 2, 3]


def test_every_query_of_a_batch_is_reversed():
    lists = [(query, np.array([7, 5, 3]) + 10 * query) for query in range(3)]
    ranked, tally = rerank_sliding(lists, by_row, 20, 10)
    assert [row.tolist() for row in ranked] == [[3, 5, 7], [13, 15, 17], [23, 25, 27]]
    assert tally == Tally(3, 0)


def test_the_input_is_left_alone():
    passages = np.array([2, 1, 0])
    rerank_sliding([(0, passages)], by_row, 2, 1)
    assert passages.tolist() == [2, 1, 0]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40)), max_size=6),
    SIZES,
    st.integers(1, 5),
)
def test_lists_of_any_lengths_do_not_depend_on_each_other(shapes, shape, batch):
    size, stride = shape
    rng = np.random.default_rng(len(shapes))
    lists = [(query, rng.permutation(100)[:n]) for query, n in shapes]
    together, tally = rerank_sliding(lists, by_query, size, stride, batch)
    alone = [rerank_sliding([one], by_query, size, stride, 1) for one in lists]
    for (_, passages), ranked, (single, _) in zip(lists, together, alone, strict=True):
        assert ranked.tolist() == single[0].tolist()
        assert sorted(ranked.tolist()) == sorted(passages.tolist())
    assert tally.windows == sum(one.windows for _, one in alone)


def test_batches_of_one_and_four_agree():
    rng = np.random.default_rng(0)
    lists = [(query, rng.permutation(97)) for query in range(10)]
    single, four = Recorder(by_query), Recorder(by_query)
    first, _ = rerank_sliding(lists, single, 20, 10, batch=1)
    second, _ = rerank_sliding(lists, four, 20, 10, batch=4)
    assert [row.tolist() for row in first] == [row.tolist() for row in second]
    assert [len(queries) for queries, _ in single.calls] == [1] * 90
    assert [len(queries) for queries, _ in four.calls] == [4, 4, 2] * 9


def test_windows_of_one_step_are_scored_together_by_length():
    score = Recorder()
    lists = [(4, np.arange(5)), (5, np.arange(3)), (6, np.arange(4)), (7, np.arange(3))]
    rerank_sliding(lists, score, 4, 2)
    shown = [(queries.tolist(), passages.shape[1]) for queries, passages in score.calls]
    assert shown == [([4, 6], 4), ([5, 7], 3), ([4], 3)]


def test_a_list_shorter_than_the_window_is_shown_whole():
    score = Recorder()
    rerank_sliding([(0, np.array([3, 1]))], score, 20, 10)
    assert [passages.tolist() for _, passages in score.calls] == [[[3, 1]]]


def test_one_candidate_or_none_is_never_scored():
    score = Recorder()
    ranked, tally = rerank_sliding([(0, np.array([5])), (1, [])], score, 20, 10)
    assert [row.tolist() for row in ranked] == [[5], []]
    assert (score.calls, tally) == ([], Tally(0, 0))
    assert rerank_sliding([], score, 20, 10) == ([], Tally(0, 0))


def test_a_window_left_with_one_passage_is_not_scored():
    score = Recorder()
    (ranked,), tally = rerank_sliding([(0, np.arange(5)[::-1])], score, 4, 4)
    assert ranked.tolist() == [4, 0, 1, 2, 3]
    assert (len(score.calls), tally.windows) == (1, 1)


def test_equal_scores_go_by_document_never_by_slot(caplog):
    lists = [(0, np.array([2, 9, 4])), (1, np.array([9, 4, 2])), (2, np.array([4, 2, 9]))]
    with caplog.at_level(logging.WARNING):
        ranked, tally = rerank_sliding(lists, lambda q, p: np.zeros(p.shape), 20, 10)
    assert [row.tolist() for row in ranked] == [[2, 4, 9]] * 3
    assert tally == Tally(3, 3)
    assert [record.getMessage()[:37] for record in caplog.records] == [
        "reranking: 3 of 3 windows are flat, a"
    ]


def test_windows_with_an_answer_bring_no_warning(caplog):
    with caplog.at_level(logging.WARNING):
        rerank_sliding([(0, np.arange(9))], by_row, 4, 2)
    assert not caplog.records


def test_a_candidate_that_stands_twice_is_refused():
    with pytest.raises(DataError, match="query row 8 names passage row 3 more than once"):
        rerank_sliding([(7, np.arange(4)), (8, np.array([3, 1, 3]))], by_row, 20, 10)


def test_a_score_that_is_no_number_names_the_queries():
    def broken(queries, passages):
        return np.where(queries[:, None] == 6, np.nan, by_row(queries, passages))

    lists = [(5, np.arange(4)), (6, np.arange(4))]
    with pytest.raises(DataError, match=r"query rows \[5, 6\]: window 1, slot 0"):
        rerank_sliding(lists, broken, 20, 10)


def test_scores_of_another_shape_are_refused():
    with pytest.raises(DataError, match="one score each"):
        rerank_sliding([(0, np.arange(4))], lambda q, p: np.zeros(4), 20, 10)


def test_a_batch_of_none_is_refused():
    with pytest.raises(ConfigError, match="batch of windows must be at least 1, is 0"):
        rerank_sliding([(0, np.arange(4))], by_row, 20, 10, batch=0)


def test_progress_counts_windows_up_to_all_of_them(monkeypatch):
    beats = []

    class Heart:
        def __init__(self, name, total):
            self.total = total

        def beat(self, done):
            beats.append((done, self.total))

    monkeypatch.setattr(module, "Heartbeat", Heart)
    rerank_sliding([(query, np.arange(100)) for query in range(3)], by_row, 20, 10, batch=2)
    assert beats[0] == (2, 27)
    assert beats[-1] == (27, 27)
