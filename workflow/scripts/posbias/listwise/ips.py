"""The rank loss with inverse propensity scores (listwise study, equation 4)."""

from typing import TYPE_CHECKING, Literal

from posbias.errors import DataError
from posbias.listwise.losses import check_lists, rank_loss
from posbias.listwise.propensity import ItemWeights

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor


def pair_weights(weights: "np.ndarray | Tensor", ranks: "Tensor", *, normalise: bool) -> "Tensor":
    """Return the weight of each pair, the product of its two items': (B, k, k), by slots i and j.

    weights: (k, k) [slot, rank], both from 0; ranks: (B, k), by slot, the teacher's, from 1;
    normalise: bring the mean over all pairs of the batch to 1. Raises DataError for lists of
    another length than the matrix, as the paper does not say which propensities they have, and
    for ranks that are not 1 to k.
    """
    import torch

    weights = torch.as_tensor(weights, device=ranks.device)
    k = weights.shape[-1]
    if weights.shape != (k, k) or ranks.ndim != 2 or ranks.shape[-1] != k:
        raise DataError(
            f"lists of shape {tuple(ranks.shape)} for propensities of shape "
            f"{tuple(weights.shape)}: inverse propensities are for full lists only; count the "
            "others and leave them out."
        )
    check_lists(ranks, first=1, name="ranks")
    items = weights[torch.arange(k, device=ranks.device), ranks - 1]
    pairs = items[:, :, None] * items[:, None, :]
    if normalise and k > 1 and len(ranks):
        others = ~torch.eye(k, dtype=torch.bool, device=ranks.device)
        pairs = pairs / pairs[:, others].mean()
    return pairs


def ips_rank_loss(
    scores: "Tensor",
    ranks: "Tensor",
    weights: ItemWeights,
    *,
    index: Literal["rank", "slot"] = "rank",
    reduction: Literal["sum", "mean"] = "sum",
) -> "Tensor":
    """Return the rank loss with each pair weighted by its inverse propensities: (B,).

    scores, ranks: (B, k), by slot; ranks are the teacher's, from 1. Where the ranker has no bias,
    relative weights give exactly the plain loss. Raises what `rank_loss` and `pair_weights` do.
    """
    pairs = pair_weights(weights.weights, ranks, normalise=weights.normalise)
    return rank_loss(scores, ranks, index=index, reduction=reduction, pair_weights=pairs)
