"""The bootstrap by counts: moments against theory, and against resampling every query."""

import numpy as np
import pytest
from scipy import stats

from posbias.measures import intervals
from posbias.measures.intervals import percentile_interval, resampled_means, resampled_psi

# What nDCG@10 can be with one relevant document.
VALUES = np.array([0, *(1 / np.log2(np.arange(2, 12)))])


@pytest.fixture(scope="module")
def ndcg() -> np.ndarray:
    return np.random.default_rng(0).choice(VALUES, size=500, p=[0.4, 0.3, *[0.3 / 9] * 9])


@pytest.fixture(scope="module")
def means(ndcg) -> np.ndarray:
    return resampled_means(ndcg, 20_000, np.random.default_rng(1))


def test_moments_equal_theory(ndcg, means):
    error = ndcg.std() / np.sqrt(len(ndcg))
    assert means.mean() == pytest.approx(ndcg.mean(), abs=4 * error / np.sqrt(20_000))
    assert means.std() == pytest.approx(error, rel=0.025)
    skew = stats.skew(ndcg) / np.sqrt(len(ndcg))
    assert stats.skew(means) == pytest.approx(skew, abs=4 * np.sqrt(6 / 20_000))


def test_distribution_equals_resampling_of_rows(ndcg, means):
    rng = np.random.default_rng(2)
    rows = ndcg[rng.integers(0, len(ndcg), size=(20_000, len(ndcg)))].mean(axis=1)
    assert stats.ks_2samp(means, rows).pvalue > 0.01
    np.testing.assert_allclose(
        percentile_interval(means, 0.95), percentile_interval(rows, 0.95), atol=0.002
    )


def test_interval_covers_the_true_mean_as_often_as_it_says():
    rng = np.random.default_rng(3)
    p = [0.4, 0.3, *[0.3 / 9] * 9]
    truth = float(VALUES @ p)
    covered = 0
    for _ in range(400):
        sample = rng.choice(VALUES, size=300, p=p)
        low, high = percentile_interval(resampled_means(sample, 1000, rng), 0.9)
        covered += low <= truth <= high
    assert 0.86 <= covered / 400 <= 0.94


def test_blocks_do_not_change_the_draws(ndcg, monkeypatch):
    whole = resampled_means(ndcg, 1000, np.random.default_rng(4))
    monkeypatch.setattr(intervals, "BLOCK_CELLS", 100)
    blocks = resampled_means(ndcg, 1000, np.random.default_rng(4))
    np.testing.assert_allclose(blocks, whole, rtol=1e-14)


def test_equal_values_have_no_spread():
    means = resampled_means([0.25] * 40, 100, np.random.default_rng(5))
    assert percentile_interval(means, 0.95) == (0.25, 0.25)


def test_psi_of_each_resample():
    samples = resampled_psi(np.array([[0.2, 0.5, 0.0, 0.0], [0.4, 0.5, 0.3, 0.0]]))
    np.testing.assert_array_equal(samples, [0.5, 0.0, 1.0, np.nan])


def test_percentiles_leave_out_undefined_resamples():
    samples = np.append(np.arange(101.0), [np.nan] * 7)
    assert percentile_interval(samples, 0.9) == pytest.approx((5, 95))
    assert percentile_interval(np.full(3, np.nan), 0.9) == (None, None)
