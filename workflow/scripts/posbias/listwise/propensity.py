"""How often a ranker puts what stands at a slot on a rank: its position bias, and the remedy."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from posbias.errors import ConfigError, DataError
from posbias.files import read_json
from posbias.keyed import keyed_generator

TIE_RULE = "score descending, then document index ascending"
MODES = ("relative", "joint", "conditional", "mean_one")
ZERO_CELLS = ("floor", "smooth", "error")


def shuffled(seed: int, query_id: str, repeat: int, k: int, use: str = "propensity") -> np.ndarray:
    """Return which of a query's k items stands at each slot: (k,), a Fisher-Yates shuffle.

    It depends on the arguments only, so that a query more or less changes no other's; `use` keeps
    the shuffles of one purpose apart from those of another.
    """
    return keyed_generator(seed, use, query_id, repeat).permutation(k)


def count_placements(orders: np.ndarray) -> np.ndarray:
    """Count how often what stood at a slot came out at a rank: (k, k) [slot, rank], from 0.

    orders: (lists, k), slots best first. Raises DataError for a row that does not name each slot
    once.
    """
    orders = np.asarray(orders)
    if orders.ndim != 2:
        raise DataError(f"expected a row of slots for each list, found the shape {orders.shape}.")
    k = orders.shape[1]
    faults = np.flatnonzero((np.sort(orders, axis=1) != np.arange(k)).any(axis=1))
    if len(faults):
        raise DataError(
            f"list {faults[0]} (counted from 0): the order {orders[faults[0]].tolist()} must name "
            f"each slot from 0 to {k - 1} once, and {len(faults) - 1} more such lists."
        )
    cells = orders.astype(np.int64) * k + np.arange(k)
    return np.bincount(cells.ravel(), minlength=k * k).reshape(k, k)


@dataclass(frozen=True, eq=False)
class Propensity:
    """The propensity matrix of a ranker, as counts (k, k) [slot, rank] over lists of k passages.

    Raises DataError for counts that are no square of whole numbers of at least 0, or all 0.
    """

    counts: np.ndarray

    def __post_init__(self) -> None:
        counts = np.array(self.counts)
        if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
            raise DataError(f"a propensity matrix is a square, found the shape {counts.shape}.")
        if counts.dtype.kind not in "iu" or (counts < 0).any():
            raise DataError("the counts of a propensity matrix must be whole numbers of at least 0")
        if not counts.any():
            raise DataError("a propensity matrix of no list says nothing; estimate it on some.")
        counts = counts.astype(np.int64)
        counts.flags.writeable = False
        # The class is frozen; this is its own way to keep a copy that nobody else can change.
        object.__setattr__(self, "counts", counts)

    @property
    def k(self) -> int:
        """Passages in a list."""
        return len(self.counts)

    @property
    def total(self) -> int:
        """Passages counted, over all lists."""
        return int(self.counts.sum())

    @property
    def n_lists(self) -> int:
        """Lists counted."""
        return self.total // self.k

    @property
    def joint(self) -> np.ndarray:
        """The propensities as printed: they sum to 1 over the whole matrix."""
        return self.counts / self.total

    @property
    def relative(self) -> np.ndarray:
        """The propensities in units of an unbiased ranker's: exactly 1 where all are equal."""
        return self.counts * self.k**2 / self.total

    @property
    def zero_cells(self) -> int:
        """Cells that no list fell into."""
        return int((self.counts == 0).sum())

    def check(self) -> None:
        """Raise DataError unless each slot and each rank was counted once in every list."""
        for axis, name in ((1, "slot"), (0, "rank")):
            sums = self.counts.sum(axis=axis)
            wrong = np.flatnonzero(sums * self.k != self.total)
            if len(wrong):
                raise DataError(
                    f"propensity matrix: {name} {wrong[0] + 1} was counted {sums[wrong[0]]} times "
                    f"and {self.total / self.k:g} is the mean; every list must count each {name} "
                    "once, so count complete lists of one length."
                )

    def to_record(self) -> dict:
        """Return what a JSON file keeps of the matrix; `from_record` reads it."""
        return {
            "k": self.k,
            "lists": self.n_lists,
            "tie_rule": TIE_RULE,
            "zero_cells": self.zero_cells,
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, object], path: Path) -> "Propensity":
        """Return the matrix of a record; `path` is the file it came from, for the message.

        Raises DataError for a field that is missing, for counts that are no complete lists, and
        where another field does not agree with the counts or with this project's tie rule.
        """
        remedy = "delete the file and estimate the propensities again."
        if not isinstance(record, Mapping) or "counts" not in record:
            raise DataError(f"{path}: no counts of a propensity matrix in it; {remedy}")
        try:
            propensity = cls(record["counts"])
            propensity.check()
        except (DataError, ValueError) as fault:
            raise DataError(f"{path}: {str(fault).rstrip('.')}; {remedy}") from fault
        for field, wanted in propensity.to_record().items():
            if field != "counts" and record.get(field) != wanted:
                raise DataError(
                    f"{path}: {field} is {record.get(field)!r}, and its counts need {wanted!r}; "
                    f"{remedy}"
                )
        return propensity


def read_propensity(path: Path, k: int) -> Propensity:
    """Read a matrix of lists of k passages; DataError names the file, also for another k."""
    found = Propensity.from_record(read_json(path), path)
    if found.k != k:
        raise DataError(
            f"{path}: propensities of lists of {found.k}, the lists here hold {k}; delete the file "
            "and estimate the propensities again."
        )
    return found


class ItemWeights(NamedTuple):
    """The weight of an item by its slot and rank, and what was done to keep it in bounds.

    weights: (k, k) [slot, rank], both from 0; normalise: whether the weights of pairs must still
    be brought to mean 1; zero_cells, floored, capped: cells without a list, below the floor, and
    above the cap.
    """

    weights: np.ndarray
    normalise: bool
    zero_cells: int
    floored: int
    capped: int


def inverse_weights(
    propensity: Propensity,
    *,
    mode: Literal["relative", "joint", "conditional", "mean_one"] = "relative",
    zero_cells: Literal["floor", "smooth", "error"] = "floor",
    floor: float = 1e-4,
    smoothing: float = 1.0,
    cap: float | None = None,
) -> ItemWeights:
    """Return the inverse propensity of each cell (listwise study, equation 4).

    mode: what a propensity is measured in, which the paper leaves open. `joint` as printed (the
    matrix sums to 1), `conditional` (each row sums to 1), `relative` (1 where there is no bias);
    an item's weight is k * k, k and 1 times the relative one. `mean_one`: relative, and pair
    weights brought to mean 1 over each batch. zero_cells: `floor` leaves them to the floor,
    `smooth` adds `smoothing` lists to every cell, `error` refuses them. floor: the least
    propensity, for every cell below it; cap: the greatest weight, None for none. Both count in
    relative units in every mode. Raises ConfigError for an option that cannot work, DataError for
    a zero cell under `error`.
    """
    _check_options(mode, zero_cells, floor, smoothing, cap)
    if zero_cells == "error" and propensity.zero_cells:
        slot, rank = np.argwhere(propensity.counts == 0)[0]
        raise DataError(
            f"no list put slot {slot + 1} on rank {rank + 1}, and {propensity.zero_cells - 1} more "
            "cells are empty: estimate on more lists, or set zero_cells to floor or smooth."
        )
    relative = propensity.relative
    if zero_cells == "smooth":
        # In this order of operations, equal counts still give exactly 1.
        even = propensity.total / propensity.k**2
        relative = (propensity.counts + smoothing) / (even + smoothing)
    weights = 1 / np.maximum(relative, floor)
    bound = math.inf if cap is None else cap
    unit = {"joint": propensity.k**2, "conditional": propensity.k}.get(mode, 1)
    return ItemWeights(
        weights=np.minimum(weights, bound) * unit,
        normalise=mode == "mean_one",
        zero_cells=propensity.zero_cells,
        floored=int((relative < floor).sum()),
        capped=int((weights > bound).sum()),
    )


def _check_options(
    mode: str, zero_cells: str, floor: float, smoothing: float, cap: float | None
) -> None:
    if mode not in MODES:
        raise ConfigError(f"mode {mode!r} of the propensities: give one of {', '.join(MODES)}.")
    if zero_cells not in ZERO_CELLS:
        raise ConfigError(f"zero_cells {zero_cells!r}: give one of {', '.join(ZERO_CELLS)}.")
    if not 0 < floor <= 1:
        raise ConfigError(f"floor must lie above 0 and be 1 (no bias) at most, found {floor}.")
    if zero_cells == "smooth" and not 0 < smoothing < math.inf:
        raise ConfigError(f"smoothing must be a number of lists above 0, found {smoothing}.")
    if cap is not None and not 1 <= cap < math.inf:
        raise ConfigError(f"cap must be at least 1 (no bias), or none at all; found {cap}.")
