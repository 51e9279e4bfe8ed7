"""The listwise losses: values by hand, gradients, and no pair lost."""

import math
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import ConfigError, DataError
from posbias.listwise.losses import joint_loss, plackett_luce_loss, rank_loss, ranks_of


@st.composite
def lists(draw, least=0, most=8):
    """Scores and ranks of one list, in float64."""
    k = draw(st.integers(least, most))
    scores = draw(st.lists(st.floats(-30, 30), min_size=k, max_size=k))
    ranks = draw(st.permutations(range(1, k + 1)))
    return torch.tensor([scores], dtype=torch.float64), torch.tensor([ranks], dtype=torch.int64)


def by_two_loops(scores, ranks, index, weights=None):
    """The formula of the paper, pair by pair, in plain Python."""
    total = 0.0
    for i, (score_i, rank_i) in enumerate(zip(scores, ranks, strict=True)):
        for j, (score_j, rank_j) in enumerate(zip(scores, ranks, strict=True)):
            if rank_i < rank_j:
                difference = score_j - score_i
                loss = max(difference, 0) + math.log1p(math.exp(-abs(difference)))
                places = (i + 1) + (j + 1) if index == "slot" else rank_i + rank_j
                total += loss / places * (1 if weights is None else weights[i][j])
    return total


def softplus(x: float) -> float:
    return math.log1p(math.exp(x))


def test_ranks_of_orders():
    orders = np.array([[2, 0, 1], [0, 1, 2]])
    assert ranks_of(orders).tolist() == [[2, 3, 1], [1, 2, 3]]
    assert ranks_of(torch.tensor(orders)).tolist() == [[2, 3, 1], [1, 2, 3]]
    assert ranks_of(np.empty((2, 0), int)).shape == (2, 0)


@pytest.mark.parametrize("order", [[0, 0, 1], [1, 2, 3], [-1, 0, 1]])
def test_an_order_that_is_none_is_named(order):
    with pytest.raises(DataError, match=r"list 1 .* must hold each number from 0 to 2 once"):
        ranks_of(np.array([[0, 1, 2], order]))


def test_two_passages_by_hand():
    scores = torch.tensor([[0.3, 1.5], [0.3, 1.5]], dtype=torch.float64)
    losses = rank_loss(scores, torch.tensor([[1, 2], [2, 1]]))
    assert losses.tolist() == pytest.approx([softplus(1.2) / 3, softplus(-1.2) / 3])


def test_three_passages_by_hand():
    scores = torch.tensor([[0.5, -1.0, 2.0]], dtype=torch.float64)
    ranks = torch.tensor([[2, 3, 1]])
    # Best first: 2.0, 0.5, -1.0 of slots 3, 1, 2.
    falls = [-1.5, -3.0, -1.5]
    by_rank = sum(softplus(x) / n for x, n in zip(falls, (1 + 2, 1 + 3, 2 + 3), strict=True))
    by_slot = sum(softplus(x) / n for x, n in zip(falls, (3 + 1, 3 + 2, 1 + 2), strict=True))
    assert rank_loss(scores, ranks).item() == pytest.approx(by_rank)
    assert rank_loss(scores, ranks, index="slot").item() == pytest.approx(by_slot)
    assert rank_loss(scores, ranks, reduction="mean").item() == pytest.approx(by_rank / 3)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_equal_scores_lose_no_pair(dtype):
    scores = torch.full((1, 20), 3.0, dtype=dtype, requires_grad=True)
    ranks = torch.arange(1, 21)[None]
    weights = sum(1 / (i + j) for i in range(1, 21) for j in range(i + 1, 21))
    assert weights == pytest.approx(11.258, abs=5e-4)
    loss = rank_loss(scores, ranks)
    assert loss.item() == pytest.approx(weights * math.log(2), rel=1e-6)
    mean = rank_loss(scores, ranks, reduction="mean")
    assert mean.item() == pytest.approx(weights * math.log(2) / 190, rel=1e-6)
    loss.sum().backward()
    # Each passage is in 19 pairs; the first is to rise in all of them, the last to fall.
    assert scores.grad[0, 0].item() == pytest.approx(
        -0.5 * sum(1 / (1 + j) for j in range(2, 21)), rel=1e-2
    )
    assert scores.grad[0, -1] > 0


def test_scores_that_half_precision_makes_equal_still_pull_apart():
    scores = torch.tensor([[8.01, 8.0]]).to(torch.bfloat16).requires_grad_()
    assert scores[0, 0] == scores[0, 1]
    rank_loss(scores, torch.tensor([[2, 1]])).sum().backward()
    assert scores.grad[0, 0] > 0 > scores.grad[0, 1]


@given(lists(), st.sampled_from(["rank", "slot"]))
def test_every_pair_of_the_formula_is_in_the_sum(drawn, index):
    scores, ranks = drawn
    expected = by_two_loops(scores[0].tolist(), ranks[0].tolist(), index)
    assert rank_loss(scores, ranks, index=index).item() == pytest.approx(expected, rel=1e-9)


@given(lists(least=1), st.sampled_from(["rank", "slot"]), st.integers(0, 99))
def test_the_weight_of_a_pair_goes_by_its_slots(drawn, index, seed):
    scores, ranks = drawn
    k = scores.shape[1]
    weights = np.random.default_rng(seed).uniform(0, 3, (1, k, k))
    expected = by_two_loops(scores[0].tolist(), ranks[0].tolist(), index, weights[0])
    loss = rank_loss(scores, ranks, index=index, pair_weights=torch.tensor(weights))
    assert loss.item() == pytest.approx(expected, rel=1e-9)


@given(lists(), st.sampled_from(["rank", "slot"]))
def test_the_mean_is_the_sum_over_the_pairs(drawn, index):
    scores, ranks = drawn
    pairs = math.comb(scores.shape[1], 2)
    total = rank_loss(scores, ranks, index=index)
    mean = rank_loss(scores, ranks, index=index, reduction="mean")
    assert mean.item() == pytest.approx(total.item() / max(pairs, 1), rel=1e-12)


@given(lists(), st.randoms())
def test_the_names_of_the_slots_do_not_matter(drawn, random):
    scores, ranks = drawn
    places = list(range(scores.shape[1]))
    random.shuffle(places)
    moved = scores[:, places], ranks[:, places]
    assert torch.equal(rank_loss(scores, ranks), rank_loss(*moved))
    assert torch.equal(plackett_luce_loss(scores, ranks), plackett_luce_loss(*moved))


def test_indexed_by_slots_their_names_do_matter():
    scores, ranks = torch.tensor([[1.0, 0.0, 0.5]]), torch.tensor([[1, 2, 3]])
    there = rank_loss(scores, ranks, index="slot")
    assert not torch.isclose(there, rank_loss(scores.flip(1), ranks.flip(1), index="slot")).any()


@given(lists(least=2))
def test_lists_of_a_batch_do_not_mix(drawn):
    scores, ranks = drawn
    both = torch.cat([scores, -scores]), torch.cat([ranks, ranks])
    for loss in (rank_loss, plackett_luce_loss):
        assert torch.equal(loss(*both)[:1], loss(scores, ranks))
        assert torch.equal(loss(*both)[1:], loss(-scores, ranks))


@pytest.mark.parametrize("loss", [rank_loss, plackett_luce_loss])
def test_a_step_down_the_gradient_brings_the_teachers_order(loss):
    ranks = torch.tensor([[3, 1, 4, 2]])
    scores = torch.tensor([[2.0, -1.0, 3.0, 0.0]], requires_grad=True)
    first = loss(scores, ranks).sum()
    first.backward()
    assert scores.grad[0, 1] < 0 < scores.grad[0, 2]
    assert scores.grad.sum().abs() < 1e-6
    for _ in range(300):
        (gradient,) = torch.autograd.grad(loss(scores, ranks).sum(), scores)
        scores = (scores - gradient).detach().requires_grad_()
    assert loss(scores, ranks).sum() < first / 5
    assert scores.argsort(descending=True).tolist() == [[1, 3, 0, 2]]


def test_the_gradients_are_those_of_the_formula():
    scores = torch.randn(3, 5, dtype=torch.float64, generator=torch.manual_seed(1))
    scores.requires_grad_()
    ranks = torch.tensor([[3, 1, 4, 2, 5], [1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
    for index in ("rank", "slot"):
        assert torch.autograd.gradcheck(lambda s, i=index: rank_loss(s, ranks, index=i), scores)
    assert torch.autograd.gradcheck(lambda s: plackett_luce_loss(s, ranks), scores)


def test_lists_without_a_pair_cost_nothing():
    for k in (0, 1):
        scores, ranks = torch.ones(2, k, requires_grad=True), torch.ones(2, k, dtype=torch.int64)
        for reduction in ("sum", "mean"):
            losses = rank_loss(scores, ranks, reduction=reduction)
            losses.sum().backward()
            assert losses.tolist() == [0, 0]
        assert plackett_luce_loss(scores, ranks).tolist() == [0, 0]


def test_large_differences_stay_finite():
    scores = torch.tensor([[-1e4, 1e4]], requires_grad=True)
    loss = rank_loss(scores, torch.tensor([[1, 2]]))
    loss.sum().backward()
    assert loss.item() == pytest.approx(2e4 / 3)
    assert torch.isfinite(scores.grad).all()
    assert rank_loss(scores, torch.tensor([[2, 1]])).item() == 0


@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_plackett_luce_of_equal_scores_is_a_draw_of_lots(k):
    ranks = torch.randperm(k, generator=torch.manual_seed(0))[None] + 1
    expected = sum(math.log(left) for left in range(1, k + 1)) / k
    loss = plackett_luce_loss(torch.full((1, k), 2.5, dtype=torch.float64), ranks)
    assert loss.item() == pytest.approx(expected)


def test_plackett_luce_by_hand():
    scores = torch.tensor([[0.5, -1.0, 2.0]], dtype=torch.float64)
    first, second, third = math.exp(-1.0), math.exp(2.0), math.exp(0.5)
    chance = first / (first + second + third) * second / (second + third)
    loss = plackett_luce_loss(scores, torch.tensor([[3, 1, 2]]))
    assert loss.item() == pytest.approx(-math.log(chance) / 3)


@given(st.permutations(range(1, 5)), st.lists(st.floats(-5, 5), min_size=4, max_size=4))
def test_the_chances_of_all_orders_sum_to_one(permutation, scores):
    orders = torch.tensor(list(permutations(permutation)))
    losses = plackett_luce_loss(torch.tensor([scores] * 24, dtype=torch.float64), orders)
    assert (-4 * losses).exp().sum().item() == pytest.approx(1)


def test_joint_loss():
    rank, lm = torch.tensor([10.0, 30.0]), torch.tensor([1.0, 2.0])
    assert joint_loss(rank, lm, 0.1).item() == pytest.approx(2.0 + 1.5)
    assert joint_loss(rank, None, 0.1).item() == pytest.approx(2.0)
    assert joint_loss(None, lm, 0.1).item() == 1.5
    assert joint_loss(rank, lm, 0).item() == 1.5
    assert joint_loss(rank, lm, 0.1).shape == ()


def test_options_that_cannot_work_are_named():
    scores, ranks = torch.zeros(1, 2), torch.tensor([[1, 2]])
    with pytest.raises(ConfigError, match="index 'place'"):
        rank_loss(scores, ranks, index="place")
    with pytest.raises(ConfigError, match="reduction 'max'"):
        rank_loss(scores, ranks, reduction="max")
    with pytest.raises(ConfigError, match="both losses"):
        joint_loss(None, None, 0.1)
    for weight in (-1.0, math.nan, math.inf):
        with pytest.raises(ConfigError, match="at least 0"):
            joint_loss(scores[0], scores[0], weight)
    with pytest.raises(DataError, match=r"\(2,\) and \(2, 1\): one each"):
        joint_loss(scores[0], scores.T, 1.0)
    with pytest.raises(DataError, match="no list"):
        joint_loss(torch.empty(0), None, 1.0)


def test_shapes_and_ranks_that_do_not_fit_are_named():
    scores = torch.zeros(1, 3)
    with pytest.raises(DataError, match=r"\(1, 3\) scores for \(1, 2\) ranks"):
        rank_loss(scores, torch.tensor([[1, 2]]))
    with pytest.raises(DataError, match=r"\[1, 1, 3\] must hold each number from 1 to 3"):
        rank_loss(scores, torch.tensor([[1, 1, 3]]))
    with pytest.raises(DataError, match="from 1 to 3"):
        plackett_luce_loss(scores, torch.tensor([[0, 1, 2]]))
    with pytest.raises(DataError, match="pair weights"):
        rank_loss(scores, torch.tensor([[1, 2, 3]]), pair_weights=torch.ones(3, 3))
    with pytest.raises(DataError, match="a row for each list"):
        ranks_of(np.arange(3))
