"""Scores of windows by a trained scorer, as plain arrays, and their training-free calibration."""

from collections.abc import Callable
from functools import partial

import numpy as np

from posbias.listwise.collection import Collection
from posbias.listwise.score_tape import ScoreTape
from posbias.listwise.scorers import ListwiseScorer
from posbias.listwise.windows import Score

PLACEHOLDER = "placeholder"  # document id of the passage without content


def window_score(
    scorer: ListwiseScorer,
    collection: Collection,
    batch: int,
    tape: ScoreTape | None = None,
    who: str = "",
) -> Score:
    """Return a function from query rows (B,) and passage rows (B, k) to scores (B, k), float64.

    At most `batch` windows are in the model at a time. tape: plays back what a killed run has
    scored; who: the scorer's name on it.
    """
    import torch

    def of_batch(queries: np.ndarray, passages: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return scorer.scores(collection, queries, passages).double().cpu().numpy()

    def score(queries: np.ndarray, passages: np.ndarray) -> np.ndarray:
        parts = []
        for at in range(0, len(queries), batch):
            windows = (queries[at : at + batch], passages[at : at + batch])
            compute = partial(of_batch, *windows)
            parts.append(tape.scores(who, scorer, windows, compute) if tape else compute())
        return np.concatenate(parts) if parts else np.zeros(passages.shape)

    return score


def calibrated(score: Score, placeholder: int) -> Score:
    """Subtract what the same slots score for the same query when nothing stands in them.

    placeholder: row of a passage without content. What is left of a score is owed to the
    passages; the part that slots get for themselves is gone (the idea of arXiv 2604.10150).
    """
    empty: dict[tuple[int, int], np.ndarray] = {}

    def without_slots(queries: np.ndarray, passages: np.ndarray) -> np.ndarray:
        k = passages.shape[1]
        new = np.array(sorted({q for q in queries.tolist() if (q, k) not in empty}), dtype=np.int64)
        if len(new):
            of_new = score(new, np.full((len(new), k), placeholder, dtype=np.int64))
            empty.update(((q, k), row) for q, row in zip(new.tolist(), of_new, strict=True))
        of_slots = np.array([empty[q, k] for q in queries.tolist()]).reshape(passages.shape)
        return score(queries, passages) - of_slots

    return without_slots


INFERENCE: dict[str, Callable[[Score, int], Score]] = {
    "plain": lambda score, placeholder: score,
    "calibrated": calibrated,
}
