"""The registry of listwise scorers: a language model, or a decoder over passage embeddings."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from posbias.errors import ConfigError
from posbias.listwise.collection import Collection
from posbias.options import check_options

if TYPE_CHECKING:
    from torch import Tensor

PLACE = "listwise.scorer"


class ListwiseScorer(Protocol):
    """A torch module that scores all passages of a window at once, by slot."""

    largest_window: int

    def scores(
        self, collection: Collection, queries: np.ndarray, passages: np.ndarray
    ) -> "Tensor": ...

    def training_scores(
        self,
        collection: Collection,
        queries: np.ndarray,
        passages: np.ndarray,
        orders: np.ndarray,
    ) -> tuple["Tensor", "Tensor"]: ...

    def save(self, folder: Path) -> None: ...


def _build_passage_embedding(
    collection: Collection, options: dict[str, Any], model: Path | None
) -> ListwiseScorer:
    from posbias.listwise.passage_embedding import PassageEmbeddingScorer

    if collection.passage_vectors is None:
        raise ConfigError(f"{PLACE}: passage_embedding needs the vectors of the passages.")
    own = {"width": collection.passage_vectors.shape[1]}
    check_options(f"{PLACE}.options", PassageEmbeddingScorer, options, own=own)
    scorer = PassageEmbeddingScorer(**own, **options)
    scorer.project_on_principal(collection.passage_vectors)
    return scorer


def _load_passage_embedding(folder: Path, options: dict[str, Any]) -> ListwiseScorer:
    from posbias.listwise.passage_embedding import PassageEmbeddingScorer

    return PassageEmbeddingScorer.load(folder)


def _build_causal_lm(
    collection: Collection, options: dict[str, Any], model: Path | None
) -> ListwiseScorer:
    if model is None:
        raise ConfigError(f"{PLACE}: causal_lm starts from a checkpoint; give its folder.")
    return _load_causal_lm(model, options)


def _load_causal_lm(folder: Path, options: dict[str, Any]) -> ListwiseScorer:
    from posbias.listwise.causal_lm import CausalLmScorer

    check_options(f"{PLACE}.options", CausalLmScorer.load, options, given=1)
    return CausalLmScorer.load(folder, **options)


KINDS = {
    "causal_lm": (_build_causal_lm, _load_causal_lm),
    "passage_embedding": (_build_passage_embedding, _load_passage_embedding),
}


def _of_kind(kind: str) -> tuple:
    if kind not in KINDS:
        raise ConfigError(f"{PLACE}.kind: {kind!r} does not exist; known: {', '.join(KINDS)}.")
    return KINDS[kind]


def build_scorer(
    kind: str, collection: Collection, options: dict[str, Any], seed: int, model: Path | None = None
) -> ListwiseScorer:
    """Build a scorer to be trained; random weights depend on the seed alone.

    collection: what it will be trained on; model: the checkpoint that a language model starts
    from. Raises ConfigError for an unknown kind or option.
    """
    import torch

    build, _ = _of_kind(kind)
    torch.manual_seed(seed)
    return build(collection, options, model)


def load_scorer(kind: str, folder: Path, options: dict[str, Any]) -> ListwiseScorer:
    """Load a trained scorer, onto an accelerator where there is one.

    Raises ConfigError for an unknown kind, DataError for a bad folder.
    """
    import torch

    _, load = _of_kind(kind)
    return load(folder, options).eval().to("cuda" if torch.cuda.is_available() else "cpu")
