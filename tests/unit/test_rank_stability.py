"""τ-PSI against scipy, and the variance over slots with its bootstrap over queries."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from posbias.errors import DataError
from posbias.measures import intervals
from posbias.measures.rank_stability import slot_variance, tau_psi, variance_difference


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(
    st.integers(2, 9).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=2, max_size=6))
)
def test_tau_psi_is_the_mean_of_scipys_tau(orders):
    ranks = np.argsort(orders, axis=1)
    taus = [stats.kendalltau(a, b).statistic for a, b in combinations(ranks, 2)]
    assert tau_psi(orders) == pytest.approx((1 - np.mean(taus)) / 2)


def test_tau_psi_of_extremes():
    assert tau_psi([[2, 0, 1]] * 5) == 0
    assert tau_psi([[0, 1, 2], [2, 1, 0]]) == 1
    shuffled = [rng(seed).permutation(20) for seed in range(60)]
    assert tau_psi(shuffled) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("orders", [[[0, 1, 2]], [[0], [0]], [[], []]])
def test_tau_psi_needs_two_outputs_of_two_items(orders):
    with pytest.raises(DataError, match="τ-PSI compares 2 outputs of 2 items"):
        tau_psi(orders)


def test_variance_by_hand():
    record = slot_variance(np.array([[0.0, 1.0], [0.5, 1.0]]), 50, 0.95, rng())
    assert record["variance"] == pytest.approx(0.375**2)  # means 0.25 and 1
    assert (record["n"], record["slots"]) == (2, 2)
    assert 0.0625 - 1e-12 <= record["low"] <= record["high"] <= 0.25 + 1e-12


def test_no_slot_matters_no_variance():
    values = np.repeat(rng().random((30, 1)), 20, axis=1)
    record = slot_variance(values, 100, 0.95, rng())
    assert record["variance"] == pytest.approx(0, abs=1e-30)
    assert record["high"] == pytest.approx(0, abs=1e-30)


def test_draws_equal_resampling_of_rows():
    values = rng(1).random((40, 5)) * np.linspace(0.5, 1, 5)
    means = intervals.resampled_column_means(values, 8000, rng(2))
    picks = rng(3).integers(0, 40, size=(8000, 40))
    rows = values[picks].mean(axis=1)
    for slot in range(5):
        assert stats.ks_2samp(means[:, slot], rows[:, slot]).pvalue > 0.01
    assert stats.ks_2samp(means.var(axis=1), rows.var(axis=1)).pvalue > 0.01


def test_blocks_do_not_change_the_draws(monkeypatch):
    values = rng(1).random((40, 5))
    whole = slot_variance(values, 200, 0.9, rng(2))
    monkeypatch.setattr(intervals, "BLOCK_CELLS", 100)
    assert slot_variance(values, 200, 0.9, rng(2)) == pytest.approx(whole)


def biased(draws: np.random.Generator, queries: int, strength: float) -> np.ndarray:
    """Values that fall along 8 slots, with noise of query and slot."""
    slope = strength * np.linspace(1, 0, 8)
    return 0.3 + slope + draws.normal(0, 0.2, (queries, 1)) + draws.normal(0, 0.1, (queries, 8))


def test_interval_covers_the_true_variance_as_often_as_it_says():
    truth, draws, covered = float((0.4 * np.linspace(1, 0, 8)).var()), rng(4), 0
    for _ in range(300):
        record = slot_variance(biased(draws, 150, 0.4), 300, 0.9, draws)
        covered += record["low"] <= truth <= record["high"]
    assert 0.84 <= covered / 300 <= 0.95


def test_interval_of_the_difference_covers_it_as_often_as_it_says():
    shape, draws, covered = np.linspace(1, 0, 8).var(), rng(5), 0
    truth = float((0.4**2 - 0.2**2) * shape)
    for _ in range(300):
        a, b = biased(draws, 150, 0.4), biased(draws, 150, 0.2)
        record = variance_difference(a, b, 300, 0.9, draws)
        covered += record["low"] <= truth <= record["high"]
    assert 0.84 <= covered / 300 <= 0.95


def test_the_difference_is_paired():
    a = biased(rng(6), 100, 0.4)
    same = variance_difference(a, a.copy(), 100, 0.95, rng())
    assert same == pytest.approx({"n": 100, "difference": 0, "low": 0, "high": 0}, abs=1e-15)
    b = biased(rng(7), 100, 0.1)
    record = variance_difference(a, b, 200, 0.95, rng())
    wanted = slot_variance(a, 10, 0.95, rng())["variance"]
    wanted -= slot_variance(b, 10, 0.95, rng())["variance"]
    assert record["difference"] == pytest.approx(wanted)
    assert 0 < record["low"] < record["difference"] < record["high"]
    back = variance_difference(b, a, 200, 0.95, rng())
    assert back["low"] == pytest.approx(-record["high"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((0, 5)), "1 query or more"),
        (np.zeros((5, 1)), "2 slots or more"),
        (np.zeros(5), "2 slots or more"),
        (np.array([[0.1, 0.2], [0.3, np.nan]]), "query 1, slot 1 .* is not a number"),
    ],
)
def test_values_without_a_variance_are_refused(values, message):
    with pytest.raises(DataError, match=message):
        slot_variance(values, 10, 0.95, rng())


def test_unpaired_queries_are_refused():
    with pytest.raises(DataError, match="same queries, found 3 and 4"):
        variance_difference(np.zeros((3, 2)), np.zeros((4, 2)), 10, 0.95, rng())
