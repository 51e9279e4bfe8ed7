"""Members of the verification panel: each scores (query, segment) pairs in its own way.

The paper's panel is three cross-encoders; the offline panel is three scorers of different kinds.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from posbias.errors import ConfigError
from posbias.options import check_options


class PanelScores(NamedTuple):
    """Raw scores of n queries and their documents' segments, and what the member did not read.

    raw: (n, 3); cut: (n, 3) tokens of the pair beyond the member's limit.
    """

    raw: np.ndarray
    cut: np.ndarray


class PanelMember(Protocol):
    """Scores each query against the segments of its own document."""

    name: str

    def score(self, queries: Sequence[str], documents: np.ndarray) -> PanelScores:
        """Return the scores; documents: (n,) 0-based index into the segment table."""
        ...


class Bm25Member:
    """BM25 with every segment of the corpus as one passage."""

    def __init__(self, name: str, segments: Sequence[tuple[str, ...]], options: dict) -> None:
        from posbias.retrieval.bm25 import Bm25

        check_options(f"verification.panel.{name}.options", Bm25, options, given=1)
        self.name = name
        self.parts = len(segments[0])
        self.index = Bm25([text for texts in segments for text in texts], **options)

    def score(self, queries: Sequence[str], documents: np.ndarray) -> PanelScores:
        passages = documents[:, None] * self.parts + np.arange(self.parts)
        raw = np.stack(
            [self.index.scores(query, rows) for query, rows in zip(queries, passages, strict=True)]
        )
        return PanelScores(raw, np.zeros(raw.shape, dtype=int))


class CosineMember:
    """Cosine between the sentence-transformers vectors of the query and of the segment.

    Segments are encoded once, when a query first needs one of their document.
    """

    def __init__(
        self, name: str, segments: Sequence[tuple[str, ...]], model: Path, batch_size: int
    ) -> None:
        from posbias.models.encoder import load_encoder

        self.name, self.segments, self.batch_size = name, segments, batch_size
        self.encoder = load_encoder(model)

    def _vectors(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the texts' vectors, and how many tokens of each the encoder cuts."""
        vectors = self.encoder.encode(
            texts, batch_size=self.batch_size, normalize_embeddings=True, show_progress_bar=False
        )
        lengths = map(len, self.encoder.tokenizer(texts, truncation=False)["input_ids"])
        most = self.encoder.max_seq_length or np.inf
        return vectors, np.array([max(length - most, 0) for length in lengths], dtype=int)

    def score(self, queries: Sequence[str], documents: np.ndarray) -> PanelScores:
        used, rows = np.unique(documents, return_inverse=True)
        texts = [text for index in used for text in self.segments[index]]
        shape = (len(used), len(self.segments[0]))
        segment_vectors, segment_cut = self._vectors(texts)
        query_vectors, query_cut = self._vectors(list(queries))
        return PanelScores(
            np.einsum("npd,nd->np", segment_vectors.reshape(*shape, -1)[rows], query_vectors),
            segment_cut.reshape(shape)[rows] + query_cut[:, None],
        )


MemberFactory = Callable[[str, Sequence[tuple[str, ...]], dict], PanelMember]


def _bm25(name: str, segments: Sequence[tuple[str, ...]], options: dict) -> PanelMember:
    return Bm25Member(name, segments, options)


def _cosine(name: str, segments: Sequence[tuple[str, ...]], options: dict) -> PanelMember:
    check_options(f"verification.panel.{name}.options", CosineMember, options, given=2)
    return CosineMember(name, segments, **options)


def _cross_encoder(name: str, segments: Sequence[tuple[str, ...]], options: dict) -> PanelMember:
    from posbias.queries.cross_encoder import CrossEncoderMember

    check_options(f"verification.panel.{name}.options", CrossEncoderMember, options, given=2)
    return CrossEncoderMember(name, segments, **options)


MEMBERS: dict[str, MemberFactory] = {
    "bm25": _bm25,
    "cosine": _cosine,
    "cross_encoder": _cross_encoder,
}
# A word's weight under BM25 depends on all documents; the others see a pair alone.
WHOLE_CORPUS = ("bm25",)


def make_member(
    name: str, kind: str, segments: Sequence[tuple[str, ...]], options: dict
) -> PanelMember:
    """Build a panel member by kind; raises ConfigError listing the known kinds.

    segments: those of each document that may be asked for, of all if `needs_corpus` says so.
    """
    if kind not in MEMBERS:
        raise ConfigError(
            f"verification.panel.{name}: kind {kind!r} does not exist; "
            f"known: {', '.join(sorted(MEMBERS))}."
        )
    return MEMBERS[kind](name, segments, options)


def needs_corpus(kinds: Iterable[str]) -> bool:
    """Say whether a member of these kinds scores a pair by more than the pair itself."""
    return any(kind in WHOLE_CORPUS for kind in kinds)
