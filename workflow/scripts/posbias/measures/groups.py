"""Position groups of queries: by third of the document, or by where the evidence lies in it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from posbias.benchmarks.records import Benchmark, BenchmarkQuery
from posbias.corpus.bins import rises
from posbias.corpus.segments import POSITIONS
from posbias.errors import ConfigError, DataError
from posbias.options import check_options

PLACE = "benchmarks: groups"
ZONES = FRONT, MID, BACK = "front", "mid", "back"


@dataclass(frozen=True)
class Grouping:
    """Query ids per group, in the order of the groups; what was left out, and why.

    counted_twice: queries that lie in more than one group.
    """

    groups: dict[str, list[str]]
    dropped: Counter = field(default_factory=Counter)
    counted_twice: int = 0


def _place(
    queries: Iterable[BenchmarkQuery],
    names: Sequence[str],
    place: Callable[[BenchmarkQuery], Sequence[str] | str],
) -> Grouping:
    """Put queries into the groups that `place` names, or count them under the reason it gives."""
    groups: dict[str, list[str]] = {name: [] for name in names}
    dropped: Counter = Counter()
    counted_twice = 0
    for query in queries:
        found = place(query)
        if isinstance(found, str):
            dropped[found] += 1
            continue
        for name in found:
            groups[name].append(query.query_id)
        counted_twice += len(found) > 1
    return Grouping(groups, dropped, counted_twice)


def by_thirds(queries: Iterable[BenchmarkQuery]) -> Grouping:
    """Group queries by the thirds of the document that hold their evidence (section 3.1.1).

    A query whose evidence lies in several thirds counts in each of them.
    """

    def place(query: BenchmarkQuery) -> Sequence[str] | str:
        for position in query.positions:
            if position not in POSITIONS:
                raise DataError(
                    f"query {query.query_id!r}: position {position!r} is not one of "
                    f"{', '.join(POSITIONS)}."
                )
        return query.positions or "no known third"

    return _place(queries, POSITIONS, place)


def _edges(name: str, edges: Sequence[float], least: int = 2) -> None:
    numbers = all(isinstance(e, int | float) and not isinstance(e, bool) for e in edges)
    if not numbers or len(edges) < least or not rises(edges):
        raise ConfigError(
            f"{PLACE}.{name}.edges must rise strictly and hold at least {least}; found {edges}."
        )


def by_characters(queries: Iterable[BenchmarkQuery], edges: Sequence[int]) -> Grouping:
    """Group queries by `answer_start` (0-based code point), as SQuAD-PosQ does.

    Each pair of neighbouring edges is a group and both its ends belong to it, so that a start on
    an inner edge counts in two groups. Raises ConfigError for edges that do not rise.
    """
    _edges("characters", edges)
    ranges = {f"{low}-{high}": (low, high) for low, high in pairwise(edges)}

    def place(query: BenchmarkQuery) -> Sequence[str] | str:
        start = query.answer_start
        if start is None:
            return "no answer offset"
        found = [name for name, (low, high) in ranges.items() if low <= start <= high]
        return found or f"start outside {edges[0]}-{edges[-1]}"

    return _place(queries, list(ranges), place)


def _bin_edges(option: str, count: int) -> np.ndarray:
    if type(count) is not int or not 2 <= count <= 100:
        raise ConfigError(f"{PLACE}.{option} must be a whole number, 2 to 100, is {count!r}.")
    return np.linspace(0, 1, count + 1)


def _bin_of(midpoint: float, edges: np.ndarray) -> int:
    """Return the bin, from 0, of a share of the document; an inner edge ends the bin before it."""
    return max(int(np.searchsorted(edges, midpoint, side="left")) - 1, 0)


def by_relative_bins(queries: Iterable[BenchmarkQuery], count: int) -> Grouping:
    """Group queries by the middle of their evidence, in `count` equal bins of the document.

    As PosIR does: a middle on an inner edge belongs to the bin that ends there, 0 to the first.
    Raises ConfigError for a count that is not from 2 to 100.
    """
    edges = _bin_edges("bins.count", count)
    digits = 2 if 100 % count == 0 else 3
    names = [f"{low:.{digits}f}-{high:.{digits}f}" for low, high in pairwise(edges)]

    def place(query: BenchmarkQuery) -> Sequence[str] | str:
        if query.midpoint is None:
            return "no known middle"
        return [names[_bin_of(query.midpoint, edges)]]

    return _place(queries, names, place)


def by_zones(queries: Iterable[BenchmarkQuery], segments: int, at_each_end: int) -> Grouping:
    """Group queries by the middle of their evidence: front, mid and back of the document.

    Front and back are `at_each_end` of its equal segments each, mid the others (appendix E: two
    of five). A middle on an inner edge belongs to the segment that ends there. Raises ConfigError
    for segments that are not from 2 to 100, or of which none is left for mid.
    """
    edges = _bin_edges("zones.segments", segments)
    if type(at_each_end) is not int or not 1 <= at_each_end < segments / 2:
        raise ConfigError(
            f"{PLACE}.zones.at_each_end must be a whole number of at least 1 that leaves some of "
            f"the {segments} segments for the mid, is {at_each_end!r}."
        )

    def place(query: BenchmarkQuery) -> Sequence[str] | str:
        if query.midpoint is None:
            return "no known middle"
        segment = _bin_of(query.midpoint, edges)
        if segment < at_each_end:
            return [FRONT]
        return [BACK] if segment >= segments - at_each_end else [MID]

    return _place(queries, ZONES, place)


def by_lengths(queries: Iterable[BenchmarkQuery], edges: Sequence[int]) -> Grouping:
    """Group queries by the length of their document in tokens, as PosIR counts them.

    Each edge ends a group and belongs to it; the last group, above the last edge, has no end.
    Raises ConfigError for edges that do not rise.
    """
    _edges("lengths", edges)
    names = [*(f"{low}-{high}" for low, high in pairwise(edges)), f">{edges[-1]}"]

    def place(query: BenchmarkQuery) -> Sequence[str] | str:
        tokens = query.document_tokens
        if tokens is None:
            return "no known length"
        group = int(np.searchsorted(edges, tokens, side="left")) - 1
        return [names[group]] if group >= 0 else f"length of at most {edges[0]}"

    return _place(queries, names, place)


GROUPINGS: dict[str, Callable[..., Grouping]] = {
    "thirds": by_thirds,
    "characters": by_characters,
    "bins": by_relative_bins,
    "lengths": by_lengths,
    "zones": by_zones,
}


def groupings(
    benchmark: Benchmark, groups: Mapping[str, Mapping[str, Any] | None]
) -> dict[str, Grouping]:
    """Return the groupings that a benchmark's block of the config names, in its order.

    groups: options by name of GROUPINGS; none for a benchmark without positions. Raises
    ConfigError for an unknown name or option.
    """
    found = {}
    for name, options in groups.items():
        if name not in GROUPINGS:
            raise ConfigError(f"{PLACE}: {name!r} is not one of {', '.join(GROUPINGS)}.")
        check_options(f"{PLACE}.{name}", GROUPINGS[name], options or {}, given=1)
        found[name] = GROUPINGS[name](benchmark.queries, **(options or {}))
    return found
