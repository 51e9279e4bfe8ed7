"""Members of the verification panel: each scores (query, segment) pairs in its own way.

The paper's panel is three cross-encoders; the offline panel is three scorers of different kinds.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from posbias.errors import ConfigError
from posbias.options import check_options


class PanelMember(Protocol):
    """Scores each query against the segments of its own document."""

    name: str

    def score(self, queries: Sequence[str], documents: np.ndarray) -> np.ndarray:
        """Return raw scores (n, 3); documents: (n,) 0-based index into the segment table."""
        ...


class Bm25Member:
    """BM25 with every segment of the corpus as one passage."""

    def __init__(self, name: str, segments: list[tuple[str, ...]], options: dict) -> None:
        from posbias.retrieval.bm25 import Bm25

        check_options(f"verification.panel.{name}.options", Bm25, options, given=1)
        self.name = name
        self.parts = len(segments[0])
        self.index = Bm25([text for texts in segments for text in texts], **options)

    def score(self, queries: Sequence[str], documents: np.ndarray) -> np.ndarray:
        passages = documents[:, None] * self.parts + np.arange(self.parts)
        return np.stack(
            [self.index.scores(query, rows) for query, rows in zip(queries, passages, strict=True)]
        )


class CosineMember:
    """Cosine between the sentence-transformers vectors of the query and of the segment.

    Segments are encoded once, when a query first needs one of their document.
    """

    def __init__(
        self, name: str, segments: list[tuple[str, ...]], model: Path, batch_size: int
    ) -> None:
        from posbias.models.encoder import load_encoder

        self.name, self.segments, self.batch_size = name, segments, batch_size
        self.encoder = load_encoder(model)

    def _vectors(self, texts: list[str]) -> np.ndarray:
        return self.encoder.encode(
            texts, batch_size=self.batch_size, normalize_embeddings=True, show_progress_bar=False
        )

    def score(self, queries: Sequence[str], documents: np.ndarray) -> np.ndarray:
        used, rows = np.unique(documents, return_inverse=True)
        texts = [text for index in used for text in self.segments[index]]
        parts = len(self.segments[0])
        segment_vectors = self._vectors(texts).reshape(len(used), parts, -1)
        query_vectors = self._vectors(list(queries))
        return np.einsum("npd,nd->np", segment_vectors[rows], query_vectors)


MemberFactory = Callable[[str, list[tuple[str, ...]], dict], PanelMember]


def _bm25(name: str, segments: list[tuple[str, ...]], options: dict) -> PanelMember:
    return Bm25Member(name, segments, options)


def _cosine(name: str, segments: list[tuple[str, ...]], options: dict) -> PanelMember:
    check_options(f"verification.panel.{name}.options", CosineMember, options, given=2)
    return CosineMember(name, segments, **options)


MEMBERS: dict[str, MemberFactory] = {"bm25": _bm25, "cosine": _cosine}


def make_member(
    name: str, kind: str, segments: list[tuple[str, ...]], options: dict
) -> PanelMember:
    """Build a panel member by kind; raises ConfigError listing the known kinds."""
    if kind not in MEMBERS:
        raise ConfigError(
            f"verification.panel.{name}: kind {kind!r} does not exist; "
            f"known: {', '.join(sorted(MEMBERS))}."
        )
    return MEMBERS[kind](name, segments, options)
