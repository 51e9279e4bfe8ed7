"""nDCG of short lists by grades and of a rank: equal to ir_measures.

Negative grades are not given to ir_measures here: the C code behind it can crash on them.
"""

import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.measures.ndcg import ndcg_of_grades, ndcg_of_rank

DOCUMENTS = [f"d{number}" for number in range(14)]


def by_ir_measures(qrels: dict[str, int], ranked: list[str], cutoff: int) -> float:
    """The value of one query; a ranking is read by its falling scores."""
    run = {"q": {doc_id: float(-rank) for rank, doc_id in enumerate(ranked)}}
    measure = ir_measures.nDCG @ cutoff
    return next(iter(ir_measures.iter_calc([measure], {"q": qrels}, run))).value


@given(
    qrels=st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 4), min_size=1),
    ranked=st.permutations(DOCUMENTS),
    length=st.integers(1, 14),
    cutoff=st.integers(1, 12),
)
def test_equal_to_ir_measures(qrels, ranked, length, cutoff):
    ranked = ranked[:length]
    grades = [qrels.get(doc_id, 0) for doc_id in ranked]
    found = ndcg_of_grades(grades, list(qrels.values()), cutoff)
    assert found == pytest.approx(by_ir_measures(qrels, ranked, cutoff), abs=1e-6)
    assert 0 <= found <= 1 + 1e-12


@given(
    grades=st.lists(st.integers(-3, 4), max_size=14),
    missed=st.lists(st.integers(-3, 4), max_size=5),
    cutoff=st.integers(1, 12),
)
def test_negative_grades_count_as_zero(grades, missed, cutoff):
    judged = grades + missed
    clipped = [[max(grade, 0) for grade in some] for some in (grades, judged)]
    assert ndcg_of_grades(grades, judged, cutoff) == ndcg_of_grades(*clipped, cutoff)


@pytest.mark.parametrize("judged", [[0], [0, 0, 0]])
def test_without_a_relevant_document_it_is_zero(judged):
    qrels = dict(zip(DOCUMENTS, judged, strict=False))
    assert ndcg_of_grades(judged, judged, 10) == 0.0
    assert by_ir_measures(qrels, list(qrels), 10) == 0.0


@given(grades=st.lists(st.integers(-3, 0), max_size=9))
def test_lists_of_nothing_relevant_are_zero(grades):
    assert ndcg_of_grades(grades, grades, 10) == 0.0


def test_a_relevant_document_that_is_not_retrieved_lowers_it():
    qrels = {"d0": 1, "d1": 1, "missed": 3}
    found = ndcg_of_grades([1, 1], [1, 1, 3], 10)
    gained = 1 + 1 / math.log2(3)
    assert found == pytest.approx(gained / (3 + 1 / math.log2(3) + 1 / math.log2(4)))
    assert found == pytest.approx(by_ir_measures(qrels, ["d0", "d1"], 10), abs=1e-6)
    assert ndcg_of_grades([1, 1], [1, 1], 10) == pytest.approx(1)


def test_nothing_retrieved_and_nothing_judged():
    assert ndcg_of_grades([], [1, 2], 10) == 0.0
    assert ndcg_of_grades([0, 0], [], 10) == 0.0
    assert ndcg_of_grades([], [], 10) == 0.0


@given(rank=st.integers(1, 40), cutoff=st.integers(1, 20))
def test_a_rank_is_a_list_with_one_relevant_document(rank, cutoff):
    grades = [0] * 40
    grades[rank - 1] = 1
    found = ndcg_of_rank(np.array([rank]), cutoff)
    assert found.tolist() == [pytest.approx(ndcg_of_grades(grades, [1], cutoff))]


def test_ranks_of_any_shape():
    ranks = np.array([[1, 2, 3], [10, 11, 100]])
    expected = [[1, 1 / math.log2(3), 0.5], [1 / math.log2(11), 0, 0]]
    np.testing.assert_allclose(ndcg_of_rank(ranks, 10), expected)
    assert ndcg_of_rank(1, 10) == 1.0
