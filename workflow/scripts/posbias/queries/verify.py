"""Multi-reranker verification: keep a query only if all members prefer its target segment.

The rule is a conjunction over members and the strata of the paper's Table 6 use the minimum
margin, so a query whose margin is negative under one member has failed whatever the others say:
the cascade spares them. Failed queries carry the margins known so far; all others carry all.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError
from posbias.logs import Heartbeat
from posbias.queries.activations import Activation
from posbias.queries.margins import consensus_margin, target_margins
from posbias.queries.panel import PanelMember

log = logging.getLogger(__name__)

CHUNK = 2048  # queries between two signs of life
NAMED = 5  # queries in a message


@dataclass(frozen=True)
class Verification:
    """What the panel said of n queries.

    raw: (members, n, 3) raw scores, NaN where the cascade spared a member; cut: (members, n, 3)
    tokens of the pair that the member did not read; margins: (members, n) on the activated scale,
    NaN like raw; consensus: (n,) minimum over members; pairs_scored: (query, segment) pairs scored.
    """

    members: tuple[str, ...]
    raw: np.ndarray
    cut: np.ndarray
    margins: np.ndarray
    consensus: np.ndarray
    pairs_scored: int


def verify(
    query_ids: Sequence[str],
    queries: Sequence[str],
    documents: np.ndarray,
    targets: np.ndarray,
    panel: Sequence[tuple[Callable[[], PanelMember], Activation]],
    cascade: bool,
    name: str = "verify",
) -> Verification:
    """Score queries with each member in turn and return margins (section 3.1.3).

    documents: (n,) 0-based index of each query's document; targets: (n,) 0-based segment.
    A member is built only when its turn comes, so that one model is in memory at a time.
    `name` heads the progress lines. Raises DataError with the ids of queries that a member gave
    no finite score.
    """
    n, parts = len(queries), len(POSITIONS)
    raw = np.full((len(panel), n, parts), np.nan)
    cut = np.zeros((len(panel), n, parts), dtype=np.int32)
    margins = np.full((len(panel), n), np.nan)
    # Queries of one document stay together, so that a chunk meets few documents.
    alive = np.argsort(documents, kind="stable")
    names, scored = [], 0
    for number, (build, activation) in enumerate(panel):
        member = build()
        names.append(member.name)
        heartbeat = Heartbeat(f"{name}, {member.name}", total=len(alive))
        for first in range(0, len(alive), CHUNK):
            rows = alive[first : first + CHUNK]
            scores = member.score([queries[i] for i in rows], documents[rows])
            check_finite(scores.raw, [query_ids[i] for i in rows], f"{name}, {member.name}")
            raw[number, rows], cut[number, rows] = scores
            heartbeat.beat(first + len(rows))
        margins[number, alive] = target_margins(activation(raw[number, alive]), targets[alive])
        scored += parts * len(alive)
        kept = alive[margins[number, alive] >= 0]
        log.info("%s: %s scored %d queries, %d with margin >= 0",
                 name, member.name, len(alive), len(kept))  # fmt: skip
        if cascade:
            alive = kept
    return Verification(
        members=tuple(names),
        raw=raw,
        cut=cut,
        margins=margins,
        consensus=consensus_margin(margins),
        pairs_scored=scored,
    )


def check_finite(raw: np.ndarray, query_ids: Sequence[str], place: str) -> None:
    """Raise DataError naming the queries with a score that is no finite number; raw: (n, 3)."""
    bad = np.flatnonzero(~np.isfinite(raw).all(axis=1))
    if len(bad):
        named = ", ".join(query_ids[row] for row in bad[:NAMED])
        more = f" and {len(bad) - NAMED} more" if len(bad) > NAMED else ""
        raise DataError(
            f"{place}: no finite score for {named}{more}; look at their texts, or let the model "
            "compute in another dtype (float16 overflows first)."
        )
