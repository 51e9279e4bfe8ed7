"""Paired comparisons and Holm's correction, against hand values and theory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from posbias.errors import DataError
from posbias.measures.significance import compare_family, holm, paired_comparison


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_holm_by_hand():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1 = 0.02, 0.03, 0.06, 0.04; none falls.
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([0.03]).tolist() == [0.03]
    assert holm([]).tolist() == []
    assert holm([0.02, 0.02]).tolist() == [0.04, 0.04]


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_lies_between_p_and_bonferroni_and_keeps_the_order(p_values):
    p, adjusted = np.array(p_values), holm(p_values)
    assert np.all(adjusted >= p)
    assert np.all(adjusted <= np.minimum(p * max(len(p), 1), 1))
    by_p = np.argsort(p, kind="stable")
    assert np.all(np.diff(adjusted[by_p]) >= 0)


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_holm_refuses_what_is_no_probability(bad):
    with pytest.raises(DataError, match="between 0 and 1"):
        holm([0.1, bad])


def test_comparison_equals_the_t_test():
    a, b = rng(1).random(50), rng(2).random(50)
    record = paired_comparison(a, b, 2000, 0.95, rng())
    assert record["p"] == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert record["mean_difference"] == pytest.approx(a.mean() - b.mean())
    assert record["low"] < record["mean_difference"] < record["high"]
    assert record["n"] == 50
    back = paired_comparison(b, a, 2000, 0.95, rng())
    assert back["p"] == pytest.approx(record["p"])
    assert back["mean_difference"] == pytest.approx(-record["mean_difference"])


def test_the_interval_is_paired():
    level = rng(1).random(200)
    record = paired_comparison(level + 0.01 + 0.001 * rng(2).random(200), level, 500, 0.95, rng())
    assert record["high"] - record["low"] < 0.001


def test_interval_covers_the_true_difference_as_often_as_it_says():
    draws, covered = rng(3), 0
    for _ in range(400):
        b = draws.random(80)
        record = paired_comparison(b + draws.normal(0.02, 0.1, 80), b, 400, 0.9, draws)
        covered += record["low"] <= 0.02 <= record["high"]
    assert 0.85 <= covered / 400 <= 0.94


def test_equal_systems_have_p_1():
    values = rng(4).random(20)
    record = paired_comparison(values, values.copy(), 100, 0.95, rng())
    assert record == {"n": 20, "mean_difference": 0.0, "low": 0.0, "high": 0.0, "p": 1.0}


def test_a_constant_difference_is_certain_and_silent(recwarn):
    record = paired_comparison([1.0, 1.0, 1.0], [0.5, 0.5, 0.5], 100, 0.95, rng())
    assert (record["p"], record["low"], record["high"]) == (0.0, 0.5, 0.5)
    assert not recwarn.list


def test_one_query_has_neither_interval_nor_p():
    record = paired_comparison([0.5], [0.25], 100, 0.95, rng())
    assert record == {"n": 1, "mean_difference": 0.25, "low": None, "high": None, "p": None}


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([0.1, 0.2], [0.1], "both values of each query"),
        ([], [], "both values of each query"),
        ([[0.1]], [[0.2]], "both values of each query"),
        ([0.1, np.nan], [0.1, 0.2], "query 1 .* is not a number"),
    ],
)
def test_values_that_do_not_pair_are_refused(a, b, message):
    with pytest.raises(DataError, match=message):
        paired_comparison(a, b, 10, 0.95, rng())


def test_a_family_is_corrected_as_one():
    draws = rng(5)
    base = draws.random(60)
    values = {name: base + draws.normal(shift, 0.1, 60) for name, shift in
              (("plain", 0), ("first", 0.02), ("debias", 0.05))}  # fmt: skip
    pairs = [("debias", "plain"), ("first", "plain"), ("debias", "first")]
    records = compare_family(values, pairs, 300, 0.95, seed=1)
    assert [(record["first"], record["second"]) for record in records] == pairs
    assert [r["p_holm"] for r in records] == holm([r["p"] for r in records]).tolist()
    alone = compare_family(values, pairs[2:], 300, 0.95, seed=1)[0]
    assert {**alone, "p_holm": None} == {**records[2], "p_holm": None}
    assert alone["p_holm"] == alone["p"]


def test_pairs_without_p_do_not_count_in_the_family():
    values = {"a": [0.1], "b": [0.2]}
    record = compare_family(values, [("a", "b")], 10, 0.95, seed=1)[0]
    assert (record["p"], record["p_holm"]) == (None, None)
    assert compare_family(values, [], 10, 0.95, seed=1) == []


def test_a_family_names_what_it_lacks():
    with pytest.raises(DataError, match="no values to compare for c"):
        compare_family({"a": [0.1, 0.2]}, [("a", "c")], 10, 0.95, seed=1)
    with pytest.raises(DataError, match="a against b: a paired comparison"):
        compare_family({"a": [0.1, 0.2], "b": [0.1]}, [("a", "b")], 10, 0.95, seed=1)
