"""From scores to orders: ties go by passage, whatever the slots; faults are named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import DataError
from posbias.listwise.ordering import count_flat, order_by_score


@st.composite
def windows(draw):
    """Scores with many ties and the passages that have them: one window."""
    k = draw(st.integers(1, 8))
    scores = draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=k, max_size=k))
    passages = draw(st.lists(st.integers(0, 50), min_size=k, max_size=k, unique=True))
    return np.array(scores), np.array(passages)


@given(windows())
def test_score_descending_then_passage_ascending(window):
    scores, passages = window
    order = order_by_score(scores[None], passages[None])[0]
    assert sorted(order.tolist()) == list(range(len(scores)))
    expected = sorted(range(len(scores)), key=lambda slot: (-scores[slot], passages[slot]))
    assert order.tolist() == expected


@given(windows(), st.randoms(use_true_random=False))
def test_the_answer_does_not_depend_on_the_slots(window, random):
    scores, passages = window
    turn = list(range(len(scores)))
    random.shuffle(turn)
    plain = passages[order_by_score(scores[None], passages[None])[0]]
    turned = passages[turn][order_by_score(scores[None, turn], passages[None, turn])[0]]
    np.testing.assert_array_equal(plain, turned)


def test_windows_of_a_batch_do_not_mix():
    scores = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    passages = np.array([[0, 1, 2], [0, 1, 2], [7, 9, 8]])
    assert order_by_score(scores, passages).tolist() == [[2, 1, 0], [0, 1, 2], [0, 2, 1]]
    assert order_by_score(np.zeros((0, 3)), np.zeros((0, 3), int)).shape == (0, 3)


def test_both_zeros_are_one_score():
    assert order_by_score(np.array([[-0.0, 0.0]]), np.array([[1, 0]])).tolist() == [[1, 0]]


@pytest.mark.parametrize("fault", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_number_is_named(fault):
    scores = np.ones((3, 4))
    scores[1, 2] = scores[2, 0] = fault
    with pytest.raises(DataError, match=r"window 1, slot 2 .* not a finite number, and 1 more"):
        order_by_score(scores, np.arange(12).reshape(3, 4))


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(DataError, match=r"\(2, 3\) scores for \(2, 4\) passages"):
        order_by_score(np.zeros((2, 3)), np.zeros((2, 4), int))


def test_flat_windows_are_those_of_equal_scores_and_two_passages():
    assert count_flat(np.array([[1.0, 1.0], [1.0, 2.0], [0.0, -0.0]])) == 2
    assert count_flat(np.array([[1.0, 1.0, 1.0 + 1e-15]])) == 0
    assert count_flat(np.array([[1.0], [1.0]])) == 0
    assert count_flat(np.zeros((0, 5))) == 0
    assert count_flat(np.zeros((3, 0))) == 0
