"""Products of query and document vectors in double precision, on the host or on a GPU."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


class HostProducts:
    """numpy's products; vectors and scores cross as float32."""

    query_block = 256

    def put(self, vectors: np.ndarray) -> np.ndarray:
        """Return vectors (n, width) as `scores` wants them."""
        return vectors.astype(np.float64)

    def scores(self, queries: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Return products (queries, documents), summed in double and then rounded to float32."""
        return (queries @ documents.T).astype(np.float32)

    def get(self, scores: np.ndarray) -> np.ndarray:
        """Return scores as an array of numpy's."""
        return scores

    def reaching(
        self, scores: np.ndarray, floors: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, columns and values of the scores that are not below their row's floor."""
        rows, columns = np.nonzero(scores >= floors[:, None])
        return rows, columns, scores[rows, columns]


class DeviceProducts:
    """The same by torch on a device, such as "cuda"; only what is asked for comes back."""

    query_block = 4096

    def __init__(self, device: str) -> None:
        self.device = device

    def put(self, vectors: np.ndarray) -> "torch.Tensor":
        """Return vectors (n, width) as `scores` wants them."""
        import torch

        return torch.from_numpy(np.ascontiguousarray(vectors)).to(self.device).double()

    def scores(self, queries: "torch.Tensor", documents: "torch.Tensor") -> "torch.Tensor":
        """Return products (queries, documents), summed in double and then rounded to float32."""
        return (queries @ documents.T).float()

    def get(self, scores: "torch.Tensor") -> np.ndarray:
        """Return scores as an array of numpy's."""
        return scores.cpu().numpy()

    def reaching(
        self, scores: "torch.Tensor", floors: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, columns and values of the scores that are not below their row's floor."""
        import torch

        limits = torch.from_numpy(np.ascontiguousarray(floors)).to(self.device)
        rows, columns = torch.nonzero(scores >= limits[:, None], as_tuple=True)
        return tuple(found.cpu().numpy() for found in (rows, columns, scores[rows, columns]))


def products_here() -> HostProducts | DeviceProducts:
    """Return the products of the GPU that models are loaded to, or else the host's."""
    import torch

    return DeviceProducts("cuda") if torch.cuda.is_available() else HostProducts()
