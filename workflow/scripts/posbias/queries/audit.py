"""The segment-wise audit: do verified queries have one answering segment (App. B.3, Table 7)?

Queries are drawn from each stratum of the consensus margin, and a judge is asked about each of
their three segments by itself. The cascade of the verification changes no stratum: it spares
members only of queries that have failed, whose consensus is then negative all the same.
"""

import bisect
import heapq
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from posbias.corpus.segments import POSITIONS
from posbias.errors import ConfigError, DataError
from posbias.keyed import keyed_digest, keyed_generator
from posbias.measures.intervals import mean_record
from posbias.queries.judges import Verdict

FAILED = "failed"
MEASURES = ("target_yes", "distractor_no", "exclusive")


class Strata:
    """Half-open ranges of the consensus margin: below 0, between thresholds, from the last on.

    names: such as failed, 0-0.1, 0.1-0.2, >=0.2. Raises ConfigError for thresholds that do not
    rise from 0 or above.
    """

    def __init__(self, thresholds: Sequence[float]) -> None:
        if sorted(set(thresholds)) != list(thresholds) or not thresholds or thresholds[0] < 0:
            raise ConfigError(
                f"verification.thresholds: must rise from 0 or above, found {list(thresholds)}."
            )
        self.edges = [0.0, *(t for t in thresholds if t > 0)]
        between = [f"{low:g}-{high:g}" for low, high in itertools.pairwise(self.edges)]
        self.names = [FAILED, *between, f">={self.edges[-1]:g}"]

    def of(self, margin: float) -> str:
        """Return the stratum of a margin."""
        return self.names[bisect.bisect_right(self.edges, margin)]


class Drawn(NamedTuple):
    """A query that is to be audited; position: of its target segment."""

    query_id: str
    position: str
    stratum: str
    consensus: float


def draw(
    scores: Iterable[dict], strata: Strata, per_stratum: int, seed: int
) -> tuple[list[Drawn], Counter]:
    """Draw queries of each stratum by a keyed hash; return them by stratum, and how many there are.

    scores: records with query_id, position and consensus. All of a stratum are drawn where it
    holds no more. Whether a query is drawn depends on the stratum's queries, not on their order.
    Raises DataError for a query without a margin, or one that stands twice; ConfigError.
    """
    if not isinstance(per_stratum, int) or isinstance(per_stratum, bool) or per_stratum < 1:
        raise ConfigError(
            f"analyses.audit.per_stratum: must be a whole number of queries, is {per_stratum!r}."
        )
    found = Counter(dict.fromkeys(strata.names, 0))
    heaps: dict[str, list] = {name: [] for name in strata.names}
    for record in scores:
        query_id, margin = record["query_id"], record["consensus"]
        if not isinstance(margin, int | float) or not math.isfinite(margin):
            raise DataError(
                f"query {query_id}: its consensus margin is {margin!r}; score the candidates again."
            )
        stratum = strata.of(margin)
        found[stratum] += 1
        # The largest hashes on top, so that they are the ones to go.
        rank = -int.from_bytes(keyed_digest(seed, "audit", query_id), "big")
        heap, entry = heaps[stratum], (rank, query_id, record["position"], margin)
        if len(heap) < per_stratum:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
    drawn = [
        Drawn(query_id, position, stratum, margin)
        for stratum, heap in heaps.items()
        for _, query_id, position, margin in sorted(heap, reverse=True)
    ]
    (query_id, times), *_ = Counter(item.query_id for item in drawn).most_common(1) or [("", 0)]
    if times > 1:
        raise DataError(f"query {query_id}: scored twice; delete the scores and score again.")
    return drawn, found


@dataclass(frozen=True)
class Audited:
    """A query and the verdicts on its document's segments, in the order of the document."""

    drawn: Drawn
    doc_id: str
    query: str
    verdicts: tuple[Verdict, ...]

    def values(self) -> dict[str, float] | None:
        """Return its share in each of MEASURES; None where a verdict is missing."""
        if any(verdict.yes is None for verdict in self.verdicts):
            return None
        said = dict(zip(POSITIONS, (verdict.yes for verdict in self.verdicts), strict=True))
        target = said.pop(self.drawn.position)
        return {
            "target_yes": float(target),
            "distractor_no": sum(not yes for yes in said.values()) / len(said),
            "exclusive": float(target and not any(said.values())),
        }

    def record(self) -> dict[str, Any]:
        """Return the line of the judgements file: what was said of each segment, and why."""
        by_position = dict(zip(POSITIONS, self.verdicts, strict=True))
        words = {True: "yes", False: "no", None: None}
        return {
            "query_id": self.drawn.query_id,
            "doc_id": self.doc_id,
            "position": self.drawn.position,
            "stratum": self.drawn.stratum,
            "consensus": self.drawn.consensus,
            "query": self.query,
            "answers": {position: words[v.yes] for position, v in by_position.items()},
            "reasoning": {p: v.reasoning for p, v in by_position.items() if v.reasoning},
            "unreadable": {p: v.unreadable for p, v in by_position.items() if v.unreadable},
        }


def measure(
    audited: Sequence[Audited], strata: Strata, resamples: int, level: float, seed: int
) -> list[dict[str, Any]]:
    """Return TargetYes, DistractorNo and Exclusive of each stratum, as shares of one (Table 7).

    n: queries with three readable verdicts, which alone count. Bootstrap intervals over them;
    None where there is none.
    """
    rows = []
    for stratum in strata.names:
        found = [item.values() for item in audited if item.drawn.stratum == stratum]
        values = [value for value in found if value is not None]
        row: dict[str, Any] = {"stratum": stratum, "n": len(values)}
        for name in MEASURES:
            rng = keyed_generator(seed, "audit", stratum, name)
            row[name] = (
                mean_record([value[name] for value in values], resamples, level, rng)
                if values
                else {"mean": None, "low": None, "high": None}
            )
        rows.append(row)
    return rows


def counts_of(audited: Sequence[Audited], found: Counter) -> dict[str, Any]:
    """Return what was there, asked and dropped; found: scored queries by stratum.

    dropped: queries of a stratum with a verdict that could not be read; unreadable: such verdicts
    by reason.
    """
    verdicts = [verdict for item in audited for verdict in item.verdicts]
    drawn = Counter(item.drawn.stratum for item in audited)
    dropped = Counter(item.drawn.stratum for item in audited if item.values() is None)
    unreadable = Counter(v.unreadable for v in verdicts if v.yes is None)
    return {
        "scored": {stratum: found[stratum] for stratum in found},
        "drawn": {stratum: drawn[stratum] for stratum in found},
        "dropped": {stratum: dropped[stratum] for stratum in found},
        "asked": len(verdicts),
        "yes": sum(verdict.yes is True for verdict in verdicts),
        "no": sum(verdict.yes is False for verdict in verdicts),
        "unreadable": dict(sorted(unreadable.items())),
    }
