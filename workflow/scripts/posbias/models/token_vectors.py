"""Token vectors for bodies trained from scratch: principal components of a trained encoder's.

They give words their meaning, so that the little training of the mini scale is spent on where to
look in a document. They carry no position.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from posbias.errors import ConfigError, DataError

if TYPE_CHECKING:
    import torch


def principal_token_vectors(weights: Path, width: int, std: float) -> "torch.Tensor":
    """Return (vocabulary, width) vectors with the given standard deviation over all entries.

    weights: a safetensors file with exactly one word embedding table; width: at most the width
    of that table. The sign of each component is fixed (its largest entry is positive), so that
    the result does not depend on the linear algebra library.
    """
    import torch
    from safetensors import safe_open

    with safe_open(str(weights), framework="pt") as tensors:
        names = [name for name in tensors.keys() if name.endswith("word_embeddings.weight")]  # noqa: SIM118
        if len(names) != 1:
            raise DataError(f"{weights}: {len(names)} word embedding tables, expected one.")
        table = tensors.get_tensor(names[0]).double()
    if width > table.shape[1]:
        raise ConfigError(
            f"hidden size {width} exceeds the {table.shape[1]} components of the token vectors in "
            f"{weights}; choose a smaller hidden size."
        )
    centred = table - table.mean(dim=0)
    values, vectors = torch.linalg.eigh(centred.T @ centred)
    axes = vectors[:, values.argsort(descending=True)[:width]]
    signs = axes.gather(0, axes.abs().argmax(dim=0, keepdim=True)).sign()
    reduced = centred @ (axes * signs)
    return (reduced * (std / reduced.std())).float()
