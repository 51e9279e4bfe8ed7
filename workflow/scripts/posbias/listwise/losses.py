"""The losses of a listwise ranker that learns a teacher's order (FIRST, DebiasFirst)."""

from typing import TYPE_CHECKING, Literal

from posbias.errors import ConfigError, DataError

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

INDICES = ("rank", "slot")
REDUCTIONS = ("sum", "mean")


def ranks_of(orders: "np.ndarray | Tensor") -> "Tensor":
    """Return the rank of each slot, counted from 1: (B, k) from orders (B, k), slots best first.

    Raises DataError for a row that does not name each slot once.
    """
    import torch

    orders = torch.as_tensor(orders)
    check_lists(orders, first=0, name="order")
    return orders.argsort(dim=-1) + 1


def plackett_luce_loss(scores: "Tensor", ranks: "Tensor") -> "Tensor":
    """Return the negative log-likelihood of each teacher order, mean over its k choices: (B,).

    Each choice takes the next passage of the order by a softmax over those not yet taken. For a
    scorer that writes no text this stands in for the language-model loss, whose mean is over the
    target's tokens. scores, ranks: (B, k), by slot; ranks count from 1.
    """
    ordered = _in_full(scores).gather(-1, _best_first(scores, ranks))
    left = ordered.flip(-1).logcumsumexp(dim=-1).flip(-1)
    return (left - ordered).sum(dim=-1) / max(scores.shape[-1], 1)


def rank_loss(
    scores: "Tensor",
    ranks: "Tensor",
    *,
    index: Literal["rank", "slot"] = "rank",
    reduction: Literal["sum", "mean"] = "sum",
    pair_weights: "Tensor | None" = None,
) -> "Tensor":
    """Return the weighted pairwise loss of each list, 0 where it has no pair: (B,).

    The sum (or the mean) over all pairs with rank_i < rank_j of log(1 + exp(s_j - s_i)) / (i + j).
    Every pair counts, also one of equal scores. `i` and `j` are the teacher's ranks, as in public
    code, or the slots, as the printed formula may be read; both count from 1. scores, ranks:
    (B, k), by slot. pair_weights: (B, k, k), by slots i and j; a factor of each pair, which does
    not change what the mean divides by. Raises ConfigError for an unknown index or reduction,
    DataError for shapes that do not fit and for ranks that are not 1 to k.
    """
    import torch
    from torch.nn.functional import logsigmoid

    if index not in INDICES:
        raise ConfigError(f"index {index!r} of the rank loss: give one of {', '.join(INDICES)}.")
    if reduction not in REDUCTIONS:
        raise ConfigError(f"reduction {reduction!r}: give one of {', '.join(REDUCTIONS)}.")
    order = _best_first(scores, ranks)
    ordered = _in_full(scores).gather(-1, order)
    k = scores.shape[-1]
    better, worse = torch.triu_indices(k, k, offset=1, device=scores.device)
    losses = -logsigmoid(ordered[:, better] - ordered[:, worse])
    places = order + 1 if index == "slot" else torch.arange(1, k + 1, device=scores.device)[None]
    losses = losses / (places[:, better] + places[:, worse])
    if pair_weights is not None:
        if pair_weights.shape != (*scores.shape, k):
            raise DataError(
                f"{tuple(pair_weights.shape)} pair weights for {tuple(scores.shape)} scores: "
                "one for each list and pair of slots."
            )
        lists = torch.arange(len(scores), device=scores.device)[:, None]
        losses = losses * pair_weights.to(losses)[lists, order[:, better], order[:, worse]]
    total = losses.sum(dim=-1)
    return total / max(len(better), 1) if reduction == "mean" else total


def joint_loss(rank: "Tensor | None", lm: "Tensor | None", weight: float) -> "Tensor":
    """Return weight * rank + lm, mean over the lists (listwise study, equation 6).

    rank, lm: (B,), either of them None for a training without it. Raises ConfigError if both are
    or if the weight is no number of at least 0, DataError for a batch of no lists and for two
    numbers of lists.
    """
    if not 0 <= weight < float("inf"):
        raise ConfigError(f"the weight of the rank loss must be at least 0, found {weight}.")
    parts = [] if rank is None else [weight * rank]
    parts += [] if lm is None else [lm]
    if not parts:
        raise ConfigError("both losses of the training are off; leave one of them on.")
    if len({part.shape for part in parts}) > 1:
        shapes = " and ".join(str(tuple(part.shape)) for part in parts)
        raise DataError(f"rank and language-model losses of shapes {shapes}: one each a list.")
    if parts[0].numel() == 0:
        raise DataError("the batch holds no list; leave it out before its loss is taken.")
    return sum(parts).mean()


def _in_full(scores: "Tensor") -> "Tensor":
    """Return the scores in float32 at least: half precision loses what a sum of pairs adds up."""
    import torch

    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def _best_first(scores: "Tensor", ranks: "Tensor") -> "Tensor":
    """Return the slots of each list, best first: (B, k)."""
    if scores.shape != ranks.shape or scores.ndim != 2:
        raise DataError(
            f"{tuple(scores.shape)} scores for {tuple(ranks.shape)} ranks: one for each of the "
            "lists and slots."
        )
    check_lists(ranks, first=1, name="ranks")
    return ranks.argsort(dim=-1).to(scores.device)


def check_lists(rows: "Tensor", first: int, name: str) -> None:
    """Raise DataError unless each row holds first, first + 1, ... once each, in any order."""
    import torch

    if rows.ndim != 2:
        raise DataError(f"expected a row for each list, found the shape {tuple(rows.shape)}.")
    wanted = torch.arange(first, first + rows.shape[-1], device=rows.device)
    faults = (rows.sort(dim=-1).values != wanted).any(dim=-1).nonzero()
    if len(faults):
        row = int(faults[0])
        raise DataError(
            f"list {row} of the batch (counted from 0): the {name} {rows[row].tolist()} must hold "
            f"each number from {first} to {first + rows.shape[-1] - 1} once."
        )
