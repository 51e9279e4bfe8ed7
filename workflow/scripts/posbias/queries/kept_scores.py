"""Scores of a panel member that outlive a killed job, so that the next one goes on from them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from posbias.files import content_hash
from posbias.kept_arrays import keep_arrays, kept_arrays
from posbias.queries.panel import PanelMember, PanelScores


class KeptMember:
    """A panel member that asks a folder first, and the member itself for what is not there.

    Scores are kept by a hash of all that they depend on: settings, queries and segments. settings:
    a JSON value that changes whenever the member would score otherwise. The member is built when
    it is first needed.
    """

    def __init__(
        self,
        name: str,
        build: Callable[[], PanelMember],
        segments: Sequence[tuple[str, ...]],
        settings: Any,
        folder: Path,
    ) -> None:
        self.name, self.segments, self.settings = name, segments, settings
        self.folder, self.build = Path(folder), build
        self.member: PanelMember | None = None

    def score(self, queries: Sequence[str], documents: np.ndarray) -> PanelScores:
        path = self.folder / f"{self.name}-{self._key(queries, documents)}.npz"
        kept = kept_arrays(path, ("raw", "cut")) if path.is_file() else None
        if kept is not None:
            return PanelScores(kept["raw"], kept["cut"])
        self.member = self.member or self.build()
        scores = self.member.score(queries, documents)
        if np.isfinite(scores.raw).all():  # else it is refused, and must be computed again
            keep_arrays(path, raw=scores.raw, cut=scores.cut)
        return scores

    def _key(self, queries: Sequence[str], documents: np.ndarray) -> str:
        used, rows = np.unique(documents, return_inverse=True)
        texts = [self.segments[index] for index in used]
        return content_hash([self.settings, list(queries), rows.tolist(), texts], length=32)
