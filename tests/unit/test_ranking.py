"""The one order: score descending, then index ascending, exact also where ties cross the cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from posbias.errors import DataError
from posbias.retrieval.ranking import top_k

# Few values, so that nearly every example holds ties; both zeros, which compare equal.
COARSE = st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 0.25, 0.5, 2.0])


@given(
    scores=hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        hnp.array_shapes(min_dims=2, max_dims=2),
        elements=COARSE,
    ),
    k=st.integers(1, 12),
)
def test_equals_a_full_sort_whatever_the_ties(scores, k):
    columns, best = top_k(scores, k)
    assert columns.shape == best.shape == (len(scores), min(k, scores.shape[1]))
    for row, found, values in zip(scores, columns, best, strict=True):
        wanted = sorted(range(len(row)), key=lambda index: (-row[index], index))[:k]
        assert found.tolist() == wanted
        assert values.tolist() == row[wanted].tolist()


def test_ties_across_the_cut_go_by_index():
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 4, size=(50, 1000)).astype(np.float32)
    columns, _ = top_k(scores, 100)
    for row, found in zip(scores, columns, strict=True):
        assert found.tolist() == np.lexsort((np.arange(1000), -row))[:100].tolist()


def test_a_constant_scorer_returns_the_first_documents():
    columns, _ = top_k(np.full((2, 9), 0.3), 4)
    assert columns.tolist() == [[0, 1, 2, 3]] * 2


@pytest.mark.parametrize(
    ("scores", "k", "message"),
    [
        (np.array([[0.1, 0.2], [0.3, np.nan]]), 1, "query 1 .* document 1 is not a number, and 0"),
        (np.empty((1, 0)), 1, "corpus is empty"),
        (np.zeros((1, 3)), 0, "at least 1, is 0"),
    ],
)
def test_refuses(scores, k, message):
    with pytest.raises(DataError, match=message):
        top_k(scores, k)


def test_no_query_gives_no_row():
    columns, scores = top_k(np.empty((0, 5)), 3)
    assert columns.shape == scores.shape == (0, 3)
