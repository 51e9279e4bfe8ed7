"""The reference that sees no order: the cosine of query and passage vectors."""

from typing import TYPE_CHECKING

import numpy as np

from posbias.listwise.collection import Collection

if TYPE_CHECKING:
    from torch import Tensor


class CosineScorer:
    """Scores every passage by itself, so that no slot can matter; nothing is trained."""

    largest_window = 2**31

    def scores(self, collection: Collection, queries: np.ndarray, passages: np.ndarray) -> "Tensor":
        """Return (B, k) cosines in slot order."""
        import torch

        asked = torch.from_numpy(collection.query_vectors[queries])
        offered = torch.from_numpy(collection.passage_vectors[passages])
        return (asked[:, None, :] * offered).sum(dim=-1)
