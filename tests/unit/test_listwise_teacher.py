"""The teacher's order: the mean of its members, relevant passages first, ties by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import DataError
from posbias.listwise.teacher import mean_scores, teacher_order


def test_members_count_alike():
    parts = {"a": np.array([0.0, 1.0, 0.5]), "b": np.array([1.0, 0.0, 0.5])}
    np.testing.assert_allclose(mean_scores(parts), [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(mean_scores({"a": parts["a"]}), parts["a"])
    assert mean_scores({"a": np.empty(0), "b": np.empty(0)}).shape == (0,)


@pytest.mark.parametrize("bad", [[0.0, 1.01], [-0.01, 0.5], [np.nan, 0.5], [0.5, np.inf]])
def test_a_member_that_leaves_the_range_is_named(bad):
    with pytest.raises(DataError, match="teacher: loud gave scores from"):
        mean_scores({"quiet": np.array([0.0, 1.0]), "loud": np.array(bad)})


@st.composite
def lists(draw):
    k = draw(st.integers(1, 9))
    passages = draw(st.lists(st.integers(0, 40), min_size=k, max_size=k, unique=True))
    scores = draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=k, max_size=k))
    relevant = draw(st.lists(st.integers(0, 40), max_size=3, unique=True))
    return np.array(scores), np.array(passages), relevant


@given(lists())
def test_relevant_first_then_score_then_row(found):
    scores, passages, relevant = found
    order = teacher_order(scores, passages, relevant)
    expected = sorted(
        range(len(scores)),
        key=lambda place: (passages[place] not in relevant, -scores[place], passages[place]),
    )
    assert order.tolist() == expected


@given(lists(), st.randoms(use_true_random=False))
def test_the_order_of_the_list_does_not_matter(found, random):
    scores, passages, relevant = found
    turn = list(range(len(scores)))
    random.shuffle(turn)
    plain = passages[teacher_order(scores, passages, relevant)]
    turned = passages[turn][teacher_order(scores[turn], passages[turn], relevant)]
    np.testing.assert_array_equal(plain, turned)


def test_the_source_comes_first_however_low_its_score():
    order = teacher_order(np.array([0.9, 0.8, 0.0, 0.7]), np.array([4, 7, 2, 9]), [2])
    assert order.tolist() == [2, 0, 1, 3]
    assert teacher_order(np.array([0.9, 0.1]), np.array([4, 7]), []).tolist() == [0, 1]
