"""Length bins in characters (retriever study, section 3.1.1)."""

import itertools
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from posbias.errors import ConfigError


class LengthBin(NamedTuple):
    """Documents of `low` up to, but not including, `high` characters."""

    low: int
    high: int

    @property
    def name(self) -> str:
        return f"{self.low}-{self.high}"


def rises(values: Sequence[float]) -> bool:
    """Say whether each value is above the one before it."""
    return all(low < high for low, high in itertools.pairwise(values))


def length_bins(edges: Sequence[int]) -> list[LengthBin]:
    """Turn strictly rising edges into half-open bins; raises ConfigError otherwise."""
    if len(edges) < 2 or not rises(edges):
        raise ConfigError(
            f"documents.bin_edges must rise strictly and hold at least two numbers, found {edges}."
        )
    return [LengthBin(a, b) for a, b in itertools.pairwise(edges)]


def bin_of(n_chars: int, edges: Sequence[int]) -> str | None:
    """Return the name of the bin that holds a text of this length, or None outside all bins."""
    index = bisect_right(edges, n_chars) - 1
    if 0 <= index < len(edges) - 1:
        return LengthBin(edges[index], edges[index + 1]).name
    return None
