"""Reranking a long list through a window that slides from its tail to its head."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from posbias.errors import ConfigError, DataError
from posbias.listwise.ordering import count_flat, order_by_score
from posbias.logs import Heartbeat

# Rows of queries (B,) and of passages (B, k) to scores (B, k), higher is better.
Score = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Tally:
    """Windows that were scored, and those of them that were flat: all scores equal."""

    windows: int
    flat: int

    def record(self) -> dict[str, int]:
        return asdict(self)


def windows(n: int, size: int, stride: int) -> list[tuple[int, int]]:
    """Return the windows over a list of n, back to front, as half-open (start, end).

    The last one starts at the head and may be short; together they cover every place. Raises
    ConfigError for a size below 1 and for a stride that stands still or leaves gaps.
    """
    if size < 1:
        raise ConfigError(f"a window holds at least 1 passage, the size is {size}.")
    if not 1 <= stride <= size:
        raise ConfigError(
            f"the stride of the window must lie between 1 and its size {size}, is {stride}: "
            "below 1 it never ends, above the size it passes over passages."
        )
    spans = []
    end = n
    while end > 0:
        start = max(0, end - size)
        spans.append((start, end))
        end = end - stride if start else 0
    return spans


def rerank_sliding(
    lists: Sequence[tuple[int, np.ndarray]],
    score: Score,
    size: int,
    stride: int,
    batch: int = 64,
    name: str = "reranking",
) -> tuple[list[np.ndarray], Tally]:
    """Return every list reranked in one pass, best first, and what was scored on the way.

    lists: (row of the query, rows of its passages in the order of the first stage); lengths may
    differ, and a query may come more than once. Windows of one length that stand at the same
    step are scored together, at most `batch` of them. One of a single passage is not scored.
    Raises DataError where a list names a passage twice or a score is not a number, ConfigError
    for a window, stride or batch that cannot work.
    """
    if batch < 1:
        raise ConfigError(f"the batch of windows must be at least 1, is {batch}.")
    queries = np.array([query for query, _ in lists], dtype=np.int64)
    ranked = [_own_copy(query, passages) for query, passages in lists]
    spans = [
        [slice(start, end) for start, end in windows(len(of_list), size, stride) if end - start > 1]
        for of_list in ranked
    ]
    heartbeat = Heartbeat(name, sum(map(len, spans)))
    scored = flat = 0
    for members in _batches(spans, batch):
        passages = np.stack([ranked[row][span] for row, span in members])
        asked = queries[[row for row, _ in members]]
        scores = np.asarray(score(asked, passages))
        try:
            order = order_by_score(scores, passages)
        except DataError as fault:
            raise DataError(f"{name}, windows of query rows {asked.tolist()}: {fault}") from fault
        for (row, span), best in zip(
            members, np.take_along_axis(passages, order, axis=1), strict=True
        ):
            ranked[row][span] = best
        flat += count_flat(scores)
        scored += len(members)
        heartbeat.beat(scored)
    warn_flat(name, flat, scored)
    return ranked, Tally(scored, flat)


def warn_flat(name: str, flat: int, scored: int) -> None:
    """Log one warning if any of the scored windows is flat."""
    if flat:
        logging.getLogger(__name__).warning(
            "%s: %d of %d windows are flat, all their scores equal; their order is that of the "
            "document indices and says nothing of the model.", name, flat, scored,
        )  # fmt: skip


def _own_copy(query: int, passages: np.ndarray) -> np.ndarray:
    copy = np.array(passages, dtype=np.int64)
    distinct, counts = np.unique(copy, return_counts=True)
    if len(distinct) < len(copy):
        raise DataError(
            f"the list of query row {query} names passage row {distinct[counts > 1][0]} more than "
            "once; give each candidate once."
        )
    return copy


def _batches(spans: list[list[slice]], batch: int) -> Iterator[list[tuple[int, slice]]]:
    """Yield (list, window) members of equal length, every list's next window step by step."""
    for step in range(max(map(len, spans), default=0)):
        by_length = defaultdict(list)
        for row, of_list in enumerate(spans):
            if step < len(of_list):
                span = of_list[step]
                by_length[span.stop - span.start].append((row, span))
        for members in by_length.values():
            for at in range(0, len(members), batch):
                yield members[at : at + batch]
