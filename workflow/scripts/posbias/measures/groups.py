"""Position groups of queries: by third of the document, or by where the answer starts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from posbias.benchmarks.records import BenchmarkQuery
from posbias.corpus.bins import rises
from posbias.corpus.segments import POSITIONS
from posbias.errors import ConfigError, DataError


@dataclass(frozen=True)
class Grouping:
    """Query ids per group, in the order of the groups; what was left out, and why.

    counted_twice: queries that lie in two groups.
    """

    groups: dict[str, list[str]]
    dropped: Counter = field(default_factory=Counter)
    counted_twice: int = 0


def by_thirds(queries: Iterable[BenchmarkQuery]) -> Grouping:
    """Group queries by the third of the document that holds their evidence (section 3.1.1)."""
    groups: dict[str, list[str]] = {position: [] for position in POSITIONS}
    for query in queries:
        if query.position not in groups:
            raise DataError(
                f"query {query.query_id!r}: position {query.position!r} is not one of "
                f"{', '.join(POSITIONS)}."
            )
        groups[query.position].append(query.query_id)
    return Grouping(groups)


def by_characters(queries: Iterable[BenchmarkQuery], edges: Sequence[int]) -> Grouping:
    """Group queries by `answer_start` (0-based code point), as SQuAD-PosQ does.

    Each pair of neighbouring edges is a group and both its ends belong to it, so that a start on
    an inner edge counts in two groups. Raises ConfigError for edges that do not rise.
    """
    if len(edges) < 2 or not rises(edges):
        raise ConfigError(f"character_edges must rise strictly, two at least; found {edges}.")
    ranges = {f"{low}-{high}": (low, high) for low, high in pairwise(edges)}
    groups: dict[str, list[str]] = {name: [] for name in ranges}
    dropped: Counter = Counter()
    counted_twice = 0
    for query in queries:
        if query.answer_start is None:
            dropped["no answer offset"] += 1
            continue
        found = [n for n, (low, high) in ranges.items() if low <= query.answer_start <= high]
        for name in found:
            groups[name].append(query.query_id)
        if not found:
            dropped[f"start outside {edges[0]}-{edges[-1]}"] += 1
        counted_twice += len(found) == 2
    return Grouping(groups, dropped, counted_twice)
