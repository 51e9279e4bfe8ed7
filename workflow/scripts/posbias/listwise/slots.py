"""The position experiment: one relevant passage, placed at every slot of its window in turn."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from posbias.errors import ConfigError, DataError
from posbias.listwise.collection import Collection
from posbias.listwise.lists import relevant_rows
from posbias.listwise.ordering import count_flat, order_by_score
from posbias.listwise.windows import Score, Tally, warn_flat
from posbias.logs import Heartbeat
from posbias.retrieval.trec import Qrels


def eligible_lists(
    lists: Sequence[tuple[int, np.ndarray]],
    collection: Collection,
    qrels: Qrels,
    window: int,
    limit: int,
    dropped: Counter,
) -> list[tuple[int, np.ndarray, int]]:
    """Return (query row, the other passages in first-stage order, the relevant one), up to `limit`.

    Only queries with one relevant passage, which must be among the first `window` candidates of
    a full window: the paper does not say what becomes of the others. `dropped` counts them by
    reason. Raises DataError where none is left.
    """
    chosen = []
    for query, passages in lists:
        shown = passages[:window]
        relevant = relevant_rows(collection, qrels, query)
        if len(shown) < window:
            dropped[f"fewer than {window} candidates"] += 1
        elif len(relevant) != 1:
            dropped["not exactly one relevant passage"] += 1
        elif relevant[0] not in shown:
            dropped[f"relevant passage not among the first {window}"] += 1
        elif len(chosen) == limit:
            dropped["above the limit"] += 1
        else:
            chosen.append((query, shown[shown != relevant[0]], int(relevant[0])))
    if not chosen:
        raise DataError(
            f"no query has its one relevant passage among {window} candidates "
            f"({dict(dropped)}); give more queries or another first stage."
        )
    return chosen


def placed(others: np.ndarray, relevant: int | np.ndarray, slot: int) -> np.ndarray:
    """Return the window with the relevant passage at `slot` (0-based), the others in their order.

    others: (k - 1,) and one relevant passage, or (n, k - 1) and n of them. Raises ConfigError
    for a slot outside the window.
    """
    if not 0 <= slot <= others.shape[-1]:
        raise ConfigError(f"slot {slot} lies outside a window of {others.shape[-1] + 1}.")
    return np.insert(others, slot, relevant, axis=-1)


def ranks_by_slot(
    chosen: Sequence[tuple[int, np.ndarray, int]], score: Score, name: str
) -> tuple[np.ndarray, Tally]:
    """Return the rank (from 1) of the relevant passage per query and slot: (queries, slots).

    chosen: as from `eligible_lists`, all of one window.
    """
    queries = np.array([query for query, _, _ in chosen], dtype=np.int64)
    relevant = np.array([row for _, _, row in chosen], dtype=np.int64)
    others = np.stack([rows for _, rows, _ in chosen])
    window = others.shape[1] + 1
    ranks = np.empty((len(chosen), window), dtype=np.int64)
    heartbeat, flat = Heartbeat(name, window), 0
    for slot in range(window):
        shown = placed(others, relevant, slot)
        scores = score(queries, shown)
        order = order_by_score(scores, shown)
        ranks[:, slot] = np.argmax(order == slot, axis=1) + 1
        flat += count_flat(scores)
        heartbeat.beat(slot + 1)
    warn_flat(name, flat, ranks.size)
    return ranks, Tally(ranks.size, flat)
