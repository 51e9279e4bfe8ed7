"""The bootstrap of whole rows: what is common to the columns stays common in every resample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.measures import intervals
from posbias.measures.intervals import (
    mean_record,
    percentile_interval,
    resampled_column_means,
    resampled_means,
)


@pytest.fixture(scope="module")
def values() -> np.ndarray:
    rng = np.random.default_rng(0)
    common = rng.random(120)
    return np.stack([common, common + 0.1, 1 - common, rng.random(120)], axis=1)


def test_moments_equal_theory(values):
    means = resampled_column_means(values, 20_000, np.random.default_rng(1))
    assert means.shape == (20_000, 4)
    error = values.std(axis=0) / np.sqrt(len(values))
    np.testing.assert_allclose(means.mean(axis=0), values.mean(axis=0), atol=4 * 0.03 / 141)
    np.testing.assert_allclose(means.std(axis=0), error, rtol=0.03)
    covariance = np.cov(values.T, ddof=0) / len(values)
    np.testing.assert_allclose(np.cov(means.T), covariance, atol=0.04 * covariance.max())


def test_a_resample_draws_the_same_rows_for_every_column(values):
    means = resampled_column_means(values, 500, np.random.default_rng(2))
    np.testing.assert_allclose(means[:, 1], means[:, 0] + 0.1)
    np.testing.assert_allclose(means[:, 2], 1 - means[:, 0])


def test_one_column_is_the_plain_bootstrap_in_distribution(values):
    whole = resampled_column_means(values[:, :1], 20_000, np.random.default_rng(3))[:, 0]
    plain = resampled_means(values[:, 0], 20_000, np.random.default_rng(4))
    np.testing.assert_allclose(
        percentile_interval(whole, 0.95), percentile_interval(plain, 0.95), atol=0.003
    )


def test_blocks_do_not_change_the_draws(values, monkeypatch):
    whole = resampled_column_means(values, 300, np.random.default_rng(5))
    for cells in (1, 1000, 12_000):
        monkeypatch.setattr(intervals, "BLOCK_CELLS", cells)
        blocks = resampled_column_means(values, 300, np.random.default_rng(5))
        np.testing.assert_allclose(blocks, whole, rtol=1e-13)


def test_one_row_has_no_spread():
    means = resampled_column_means(np.array([[0.3, 0.7]]), 50, np.random.default_rng(6))
    np.testing.assert_array_equal(means, [[0.3, 0.7]] * 50)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 9))
def test_the_interval_lies_within_the_values(found, seed):
    record = mean_record(found, 200, 0.9, np.random.default_rng(seed))
    assert list(record) == ["mean", "low", "high"]
    assert record["mean"] == pytest.approx(np.mean(found))
    assert min(found) - 1e-9 <= record["low"] <= record["high"] <= max(found) + 1e-9


def test_a_wider_level_holds_the_narrower_one(values):
    records = [
        mean_record(values[:, 3], 2000, level, np.random.default_rng(7))
        for level in (0.5, 0.9, 0.99)
    ]
    lows, highs = ([record[name] for record in records] for name in ("low", "high"))
    assert lows == sorted(lows, reverse=True)
    assert highs == sorted(highs)
    error = values[:, 3].std() / np.sqrt(len(values))
    assert highs[1] - lows[1] == pytest.approx(2 * 1.645 * error, rel=0.1)
