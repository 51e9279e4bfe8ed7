"""Scores of windows in batches, the cosine, and calibration that takes the slots' share away."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from listwise_toy import OPTIONS, content_and_slots, toy_collection
from posbias.listwise.cosine import CosineScorer
from posbias.listwise.passage_embedding import PassageEmbeddingScorer
from posbias.listwise.reranking import INFERENCE, calibrated, window_score

torch.set_num_threads(1)
COLLECTION = toy_collection()
QUERIES = np.array([0, 3, 3, 1, 5])
PASSAGES = np.stack([np.random.default_rng(row).permutation(12)[:6] for row in range(5)])


@pytest.fixture(scope="module")
def scorer() -> PassageEmbeddingScorer:
    torch.manual_seed(1)
    return PassageEmbeddingScorer(8, **OPTIONS).eval()


@pytest.mark.parametrize("batch", [1, 2, 5, 100])
def test_a_batch_scores_as_single_windows_do(scorer, batch):
    found = window_score(scorer, COLLECTION, batch)(QUERIES, PASSAGES)
    assert found.shape == (5, 6)
    assert found.dtype == np.float64
    for row in range(5):
        single = window_score(scorer, COLLECTION, 1)(QUERIES[[row]], PASSAGES[[row]])
        np.testing.assert_allclose(found[row], single[0], atol=1e-5)


def test_no_window_has_no_score(scorer):
    score = window_score(scorer, COLLECTION, 4)
    nothing = np.empty(0, np.int64), np.empty((0, 6), np.int64)
    assert calibrated(score, 11)(*nothing).shape == (0, 6)
    assert score(*nothing).shape == (0, 6)


def test_no_gradient_is_kept(scorer):
    seen = []

    class Watched:
        def scores(self, collection, queries, passages):
            found = scorer.scores(collection, queries, passages)
            seen.append(found.requires_grad)
            return found

    window_score(Watched(), COLLECTION, 2)(QUERIES, PASSAGES)
    assert seen == [False] * 3


def test_the_cosine_sees_no_slot():
    found = window_score(CosineScorer(), COLLECTION, 2)(QUERIES, PASSAGES)
    every = COLLECTION.query_vectors @ COLLECTION.passage_vectors.T
    np.testing.assert_allclose(found, every[QUERIES[:, None], PASSAGES], atol=1e-6)
    turned = window_score(CosineScorer(), COLLECTION, 2)(QUERIES, PASSAGES[:, ::-1])
    np.testing.assert_allclose(turned[:, ::-1], found, atol=1e-6)


def test_calibrated_is_plain_less_placeholders(scorer):
    plain = window_score(scorer, COLLECTION, 3)
    empty = plain(QUERIES, np.full((5, 6), 11))
    found = calibrated(plain, 11)(QUERIES, PASSAGES)
    np.testing.assert_allclose(found, plain(QUERIES, PASSAGES) - empty, atol=1e-5)
    assert np.abs(empty).max() > 0.01


@given(st.integers(0, 20), st.integers(1, 20), st.floats(0, 5))
def test_content_and_slots_come_apart(seed, k, weight):
    content, biased = content_and_slots(seed, 0.0), content_and_slots(seed, weight)
    rng = np.random.default_rng(seed)
    passages = np.stack([rng.permutation(99)[:k] for _ in range(4)])
    queries = rng.integers(0, 50, 4)
    found = calibrated(biased, 99)(queries, passages)
    np.testing.assert_allclose(found, content(queries, passages), atol=1e-9)


def test_placeholders_are_scored_once_per_query_and_length():
    asked = []
    score = content_and_slots()

    def watched(queries, passages):
        if (passages == 99).all():
            asked.extend((query, passages.shape[1]) for query in queries.tolist())
        return score(queries, passages)

    found = calibrated(watched, 99)
    rng = np.random.default_rng(0)
    for queries, k in (([3, 1, 3], 5), ([1, 3], 5), ([3], 4), ([2, 1], 4), ([2], 5)):
        passages = np.stack([rng.permutation(99)[:k] for _ in queries])
        values = found(np.array(queries), passages)
        expected = content_and_slots(0, 0.0)(np.array(queries), passages)
        np.testing.assert_allclose(values, expected, atol=1e-9)
    assert asked == [(1, 5), (3, 5), (3, 4), (1, 4), (2, 4), (2, 5)]


def test_two_calibrations_share_nothing():
    first, second = (calibrated(content_and_slots(seed), 99) for seed in (1, 2))
    passages = np.arange(5)[None]
    first(np.array([0]), passages)
    expected = content_and_slots(2, 0.0)(np.array([0]), passages)
    np.testing.assert_allclose(second(np.array([0]), passages), expected, atol=1e-9)


def test_ways_of_inference():
    score = content_and_slots()
    assert list(INFERENCE) == ["plain", "calibrated"]
    assert INFERENCE["plain"](score, 99) is score
