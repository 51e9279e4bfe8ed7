"""Propensities: keyed shuffles, counts that add up, and weights that undo the bias."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from posbias.errors import ConfigError, DataError
from posbias.files import read_json, write_json
from posbias.listwise.ips import ips_rank_loss, pair_weights
from posbias.listwise.losses import rank_loss, ranks_of
from posbias.listwise.ordering import order_by_score
from posbias.listwise.propensity import (
    Propensity,
    count_placements,
    inverse_weights,
    shuffled,
)

BIASED = Propensity(np.array([[6, 3, 1], [3, 4, 3], [1, 3, 6]]))
GAPPED = Propensity(np.array([[9, 1, 0], [1, 8, 1], [0, 1, 9]]))


def random_orders(lists: int, k: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return np.array([generator.permutation(k) for _ in range(lists)]).reshape(lists, k)


def placements(scorer, queries: int, repeats: int, k: int, seed: int) -> np.ndarray:
    """Estimate as the study does: shuffle each query's items, score them, count."""
    shown = np.array(
        [shuffled(seed, f"q{q}", r, k) for q in range(queries) for r in range(repeats)]
    )
    rows = shown + k * np.repeat(np.arange(queries), repeats)[:, None]
    return count_placements(order_by_score(scorer(rows), rows))


def test_a_shuffle_depends_on_its_key_only():
    queries = [f"q{n}" for n in range(30)]
    alone = {q: shuffled(5, q, 0, 20).tolist() for q in queries}
    fewer = {q: shuffled(5, q, 0, 20).tolist() for q in reversed(queries) if q != "q3"}
    assert fewer == {q: order for q, order in alone.items() if q != "q3"}
    orders = [shuffled(s, q, r, 20) for s in (1, 2) for q in queries for r in range(5)]
    assert len({order.tobytes() for order in orders}) == 2 * 30 * 5
    assert all(sorted(order) == list(range(20)) for order in orders)


def test_the_values_never_change():
    # Another generator would silently change every propensity of every published number.
    assert shuffled(42, "q1", 0, 6).tolist() == [0, 3, 4, 1, 2, 5]


@given(st.integers(1, 20), st.integers(0, 9), st.integers(0, 99))
def test_every_slot_and_every_rank_is_counted_once_a_list(lists, k, seed):
    orders = random_orders(lists, k, seed)
    counts = count_placements(orders)
    assert counts.shape == (k, k)
    assert (counts.sum(axis=0) == lists).all() and (counts.sum(axis=1) == lists).all()
    assert np.array_equal(counts, count_placements(orders[::-1]))
    if k:
        propensity = Propensity(counts)
        propensity.check()
        assert propensity.n_lists == lists and propensity.k == k
        assert propensity.joint.sum() == pytest.approx(1)
        assert propensity.relative.mean() == pytest.approx(1)
        assert propensity.zero_cells == (counts == 0).sum()


def test_counts_by_hand():
    counts = count_placements(np.array([[2, 0, 1], [2, 1, 0]]))
    assert counts.tolist() == [[0, 1, 1], [0, 1, 1], [2, 0, 0]]


def test_a_scorer_that_reads_the_slot_alone_gives_the_identity():
    counts = placements(lambda rows: -np.arange(20.0) + 0 * rows, 5, 4, 20, seed=0)
    assert np.array_equal(counts, 20 * np.eye(20, dtype=int))


def test_a_scorer_without_bias_gives_a_flat_matrix():
    k, queries, repeats = 20, 40, 50
    scores = np.random.default_rng(0).normal(size=queries * k)
    counts = placements(lambda rows: scores[rows], queries, repeats, k, seed=0)
    even = queries * repeats / k
    # In a sum of permutation matrices the cells vary by (k - 1) / k of what free cells would.
    statistic = ((counts - even) ** 2 / even).sum() * (k - 1) / k
    degrees = (k - 1) ** 2
    assert chi2.ppf(1e-4, degrees) < statistic < chi2.ppf(1 - 1e-4, degrees)


def test_a_scorer_of_ties_gives_a_flat_matrix_too():
    counts = placements(lambda rows: np.zeros(rows.shape), 1, 2000, 5, seed=0)
    assert ((counts - 400) ** 2 / 400).sum() * 4 / 5 < chi2.ppf(1 - 1e-4, 16)


@pytest.mark.parametrize("order", [[0, 0, 1], [1, 2, 3], [-1, 0, 1]])
def test_an_order_that_is_none_is_named(order):
    with pytest.raises(DataError, match=r"list 1 .* must name each slot from 0 to 2 once"):
        count_placements(np.array([[0, 1, 2], order]))
    with pytest.raises(DataError, match="a row of slots"):
        count_placements(np.arange(3))


@pytest.mark.parametrize(
    "counts",
    [[[1, 2]], [1], [[0.5]], [[-1]], [[0, 0], [0, 0]], np.zeros((0, 0), int), [[True]], [["1"]]],
)
def test_counts_that_are_none_are_refused(counts):
    with pytest.raises(DataError, match="propensity matrix"):
        Propensity(np.array(counts))


def test_lists_that_are_not_complete_are_found():
    with pytest.raises(DataError, match="rank 1 was counted 3 times"):
        Propensity(np.array([[2, 0], [1, 1]])).check()
    with pytest.raises(DataError, match="slot 1 was counted 2 times"):
        Propensity(np.array([[1, 1], [1, 2]])).check()


def test_the_counts_are_a_copy():
    counts = np.eye(2, dtype=int)
    propensity = Propensity(counts)
    counts[0, 0] = 7
    assert propensity.counts[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        propensity.counts[0, 0] = 7


def test_a_record_comes_back(tmp_path):
    path = tmp_path / "propensity.json"
    write_json(path, GAPPED.to_record())
    record = read_json(path)
    assert {**record, "counts": None} == {
        "k": 3,
        "lists": 10,
        "tie_rule": "score descending, then document index ascending",
        "zero_cells": 2,
        "counts": None,
    }
    assert np.array_equal(Propensity.from_record(record, path).counts, GAPPED.counts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 4}, "k is 4"),
        ({"lists": 9}, "lists is 9"),
        ({"zero_cells": 0}, "zero_cells is 0"),
        ({"tie_rule": "slot"}, "tie_rule is 'slot'"),
        ({"tie_rule": None}, "tie_rule is None"),
        ({"counts": [[1, 2], [3]]}, "inhomogeneous"),
        ({"counts": [[0.5]]}, "whole numbers"),
        ({"counts": [[2, 0], [1, 1]]}, "counted"),
        ({"counts": {"a": 1}}, "square"),
        ({"counts": [[10**30]]}, "whole numbers"),
    ],
)
def test_a_record_that_contradicts_itself_is_named_with_its_file(tmp_path, change, message):
    record = json.loads(json.dumps({**GAPPED.to_record(), **change}))
    with pytest.raises(DataError, match=message) as raised:
        Propensity.from_record(record, tmp_path / "p.json")
    assert str(raised.value).startswith(f"{tmp_path / 'p.json'}: ")
    assert "estimate the propensities again" in str(raised.value)


@pytest.mark.parametrize("record", [{}, [], {"k": 3}])
def test_a_record_without_counts_is_named(record):
    with pytest.raises(DataError, match=r"p\.json: no counts"):
        Propensity.from_record(record, "p.json")


def test_the_modes_differ_by_the_length_of_the_list():
    relative = inverse_weights(BIASED).weights
    assert relative == pytest.approx(10 / 3 / BIASED.counts)
    assert np.array_equal(inverse_weights(BIASED, mode="joint").weights, 9 * relative)
    assert np.array_equal(inverse_weights(BIASED, mode="conditional").weights, 3 * relative)
    assert np.array_equal(inverse_weights(BIASED, mode="mean_one").weights, relative)
    assert inverse_weights(BIASED, mode="joint").weights == pytest.approx(1 / BIASED.joint)
    rows = 1 / inverse_weights(BIASED, mode="conditional").weights
    assert rows.sum(axis=1) == pytest.approx(1)
    for mode in ("relative", "joint", "conditional", "mean_one"):
        assert inverse_weights(BIASED, mode=mode).normalise == (mode == "mean_one")


def test_floor_and_cap_bound_and_are_counted():
    # Relative propensities: 2.7, 0.3, 0; 0.3, 2.4, 0.3; 0, 0.3, 2.7.
    plain = inverse_weights(GAPPED)
    assert (plain.zero_cells, plain.floored, plain.capped) == (2, 2, 0)
    assert plain.weights[0, 2] == pytest.approx(1e4)
    floored = inverse_weights(GAPPED, floor=0.5)
    assert (floored.floored, floored.capped) == (6, 0)
    assert floored.weights[0] == pytest.approx([1 / 2.7, 2, 2])
    capped = inverse_weights(GAPPED, cap=10)
    assert (capped.floored, capped.capped) == (2, 2)
    assert capped.weights[0] == pytest.approx([1 / 2.7, 1 / 0.3, 10])
    # Bounds are in relative units in every mode.
    joint = inverse_weights(GAPPED, cap=10, mode="joint")
    assert np.array_equal(joint.weights, 9 * capped.weights) and joint.capped == 2


def test_smoothing_fills_zero_cells():
    smooth = inverse_weights(GAPPED, zero_cells="smooth", smoothing=0.5)
    assert (smooth.zero_cells, smooth.floored, smooth.capped) == (2, 0, 0)
    assert smooth.weights == pytest.approx((10 / 3 + 0.5) / (GAPPED.counts + 0.5))
    assert (1 / smooth.weights).mean() == pytest.approx(1)


def test_zero_cells_may_be_refused():
    with pytest.raises(DataError, match="slot 1 on rank 3, and 1 more"):
        inverse_weights(GAPPED, zero_cells="error")
    refused = inverse_weights(BIASED, zero_cells="error")
    assert np.array_equal(refused.weights, inverse_weights(BIASED).weights)


@given(
    st.integers(1, 30),
    st.integers(1, 8),
    st.integers(0, 99),
    st.sampled_from(["relative", "joint", "conditional", "mean_one"]),
    st.sampled_from(["floor", "smooth"]),
)
def test_weights_are_always_finite_and_positive(lists, k, seed, mode, zero_cells):
    propensity = Propensity(count_placements(random_orders(lists, k, seed)))
    weights = inverse_weights(propensity, mode=mode, zero_cells=zero_cells, cap=50).weights
    unit = {"joint": k * k, "conditional": k}.get(mode, 1)
    assert np.isfinite(weights).all()
    assert (weights > 0).all() and (weights <= 50 * unit).all()


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "raw"},
        {"zero_cells": "drop"},
        {"floor": 0},
        {"floor": 1.5},
        {"floor": math.nan},
        {"zero_cells": "smooth", "smoothing": 0},
        {"zero_cells": "smooth", "smoothing": math.inf},
        {"cap": 0.5},
        {"cap": math.nan},
    ],
)
def test_options_that_cannot_work_are_named(options):
    with pytest.raises(ConfigError, match=list(options)[-1]):
        inverse_weights(BIASED, **options)


@st.composite
def uniform_lists(draw):
    k = draw(st.integers(2, 26))
    scores = draw(st.lists(st.floats(-50, 50, width=32), min_size=k, max_size=k))
    order = draw(st.permutations(range(k)))
    return torch.tensor([scores]), ranks_of(np.array([order])), draw(st.integers(1, 2000))


@given(
    uniform_lists(),
    st.sampled_from(["floor", "smooth", "error"]),
    st.sampled_from(["rank", "slot"]),
    st.sampled_from(["sum", "mean"]),
    st.sampled_from(["relative", "mean_one"]),
    st.sampled_from([None, 1.0, 10.0]),
)
def test_a_ranker_without_bias_gets_exactly_the_plain_loss(
    drawn, zero_cells, index, reduction, mode, cap
):
    scores, ranks, count = drawn
    k = scores.shape[1]
    even = Propensity(np.full((k, k), count))
    weights = inverse_weights(even, mode=mode, zero_cells=zero_cells, smoothing=1e-3, cap=cap)
    assert (weights.weights == 1).all() and weights.floored == weights.capped == 0
    for precision in (torch.float32, torch.bfloat16):
        one = scores.to(precision, copy=True).requires_grad_()
        other = one.detach().clone().requires_grad_()
        plain = rank_loss(one, ranks, index=index, reduction=reduction)
        weighted = ips_rank_loss(other, ranks, weights, index=index, reduction=reduction)
        assert torch.equal(plain, weighted)
        plain.sum().backward()
        weighted.sum().backward()
        assert torch.equal(one.grad, other.grad)


@pytest.mark.parametrize("k", range(2, 27))
def test_as_printed_the_weight_of_an_unbiased_pair_is_k_to_the_fourth(k):
    even = Propensity(np.full((k, k), 3))
    ranks = torch.arange(1, k + 1)[None]
    joint = pair_weights(inverse_weights(even, mode="joint").weights, ranks, normalise=False)
    assert (joint == k**4).all()
    conditional = pair_weights(
        inverse_weights(even, mode="conditional").weights, ranks, normalise=False
    )
    assert (conditional == k**2).all()


def test_pair_weights_by_hand():
    weights = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    pairs = pair_weights(weights, torch.tensor([[2, 3, 1], [1, 2, 3]]), normalise=False)
    # Slot 1 on rank 2: 2; slot 2 on rank 3: 6; slot 3 on rank 1: 7.
    assert pairs[0].tolist() == [[4, 12, 14], [12, 36, 42], [14, 42, 49]]
    assert pairs[1, 0].tolist() == [1, 5, 9]


@pytest.mark.parametrize("ranks", [[0, 1, 2], [1, 2, 4], [1, 1, 2]])
def test_ranks_that_are_none_are_named(ranks):
    with pytest.raises(DataError, match="from 1 to 3 once"):
        pair_weights(np.ones((3, 3)), torch.tensor([ranks]), normalise=False)


def test_the_loss_divides_by_both_propensities():
    scores = torch.tensor([[0.3, 1.5, -0.7]], dtype=torch.float64)
    ranks = torch.tensor([[2, 3, 1]])
    relative = BIASED.counts * 9 / 30
    omega = [relative[0, 1], relative[1, 2], relative[2, 0]]
    expected = sum(
        math.log1p(math.exp(fall)) / places / (omega[i] * omega[j])
        for i, j, places, fall in [(2, 0, 3, 1.0), (2, 1, 4, 2.2), (0, 1, 5, 1.2)]
    )
    loss = ips_rank_loss(scores, ranks, inverse_weights(BIASED))
    assert loss.item() == pytest.approx(expected)
    joint = ips_rank_loss(scores, ranks, inverse_weights(BIASED, mode="joint"))
    assert joint.item() == pytest.approx(81 * expected)


@given(st.integers(2, 8), st.integers(1, 5), st.integers(0, 99))
def test_normalised_pair_weights_have_mean_one(k, lists, seed):
    propensity = Propensity(count_placements(random_orders(7, k, seed)))
    ranks = ranks_of(random_orders(lists, k, seed + 1))
    weights = inverse_weights(propensity, mode="mean_one", zero_cells="smooth").weights
    plain = pair_weights(weights, ranks, normalise=False)
    pairs = pair_weights(weights, ranks, normalise=True)
    valid = ranks[:, :, None] < ranks[:, None, :]
    assert pairs[valid].mean().item() == pytest.approx(1)
    ratios = (pairs / plain)[valid]
    assert ratios.tolist() == pytest.approx([ratios[0].item()] * len(ratios))


def test_normalising_needs_no_pair():
    for ranks in (torch.ones(2, 1, dtype=torch.int64), torch.ones(0, 1, dtype=torch.int64)):
        assert pair_weights(np.ones((1, 1)), ranks, normalise=True).shape == (len(ranks), 1, 1)
    assert pair_weights(np.ones((3, 3)), torch.ones(0, 3, dtype=int), normalise=True).shape[0] == 0


@pytest.mark.parametrize("k", [2, 4])
def test_only_full_lists_have_propensities(k):
    ranks = torch.arange(1, k + 1)[None]
    with pytest.raises(DataError, match="full lists only; count the others and leave them out"):
        pair_weights(inverse_weights(BIASED).weights, ranks, normalise=False)
