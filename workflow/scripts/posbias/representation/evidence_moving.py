"""The evidence moved through its document, and what that does to a retriever's score (section 6).

The paper names the analysis and prints its results (Tables 5 and 13); the places follow Coelho et
al. 2024, section 4.2: the i-th of n leaves (i - 1) / (n - 1) of the rest before the evidence.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from posbias.errors import ConfigError
from posbias.measures.intervals import percentile_interval, resampled_column_means

SNAPS = ("words", "characters")
INTERVAL_KIND = "bootstrap over pairs"
_BLANKS = re.compile(r"\s+")


class Moved(NamedTuple):
    """A document, and where in it the evidence stands: half-open 0-based code points."""

    text: str
    start: int
    end: int


def _check(positions: int, snap: str) -> None:
    if type(positions) is not int or positions < 2:
        raise ConfigError(f"positions must be a whole number of at least 2, is {positions!r}.")
    if snap not in SNAPS:
        raise ConfigError(f"snap {snap!r} is not one of {', '.join(SNAPS)}.")


def _nearest(borders: Sequence[int], step: int, length: int, steps: int) -> int:
    """Return the border nearest to step * length / steps, the left one of two equally near."""
    right = bisect_left(borders, step * length, key=lambda border: border * steps)
    if right == 0:
        return borders[0]
    before, after = borders[right - 1], borders[right]
    goes_left = step * length - before * steps <= after * steps - step * length
    return before if goes_left else after


def insertion_offsets(rest: str, positions: int, snap: str) -> list[int]:
    """Return where the evidence enters the rest: `positions` code points, from 0 to its length.

    They are uniformly spaced, each moved to the nearest place allowed, the left of two equally
    near: with snap "characters" any, with "words" where a word begins, or the end. Raises
    ConfigError for another snap, or fewer than 2 positions. Section 6, Tables 5 and 13.
    """
    _check(positions, snap)
    borders: Sequence[int] = range(len(rest) + 1)
    if snap == "words":
        borders = sorted({0, len(rest), *(blank.end() for blank in _BLANKS.finditer(rest))})
    return [_nearest(borders, step, len(rest), positions - 1) for step in range(positions)]


def _parts(passage: str) -> tuple[str, str, str]:
    """Return the blanks before the evidence of a passage, the evidence, the blanks after it."""
    evidence = passage.strip()
    lead = passage[: len(passage) - len(passage.lstrip())]
    return lead, evidence, passage[len(lead) + len(evidence) :]


def _words_beside(rest: str, offset: int) -> tuple[bool, bool]:
    """Say whether words of the rest reach up to an offset: from before it, from after it."""
    return bool(rest[:offset][-1:].strip()), bool(rest[offset : offset + 1].strip())


def _put(rest: str, offset: int, lead: str, evidence: str, trail: str) -> Moved:
    start = offset + len(lead)
    text = rest[:offset] + lead + evidence + trail + rest[offset:]
    return Moved(text, start, start + len(evidence))


def place(rest: str, passage: str, offset: int) -> Moved:
    """Put the evidence into the rest at an offset, in code points.

    Where a word of the rest stands at one side only, the blanks at the ends of the passage go
    between it and the evidence. No character is added or lost, and so words may grow together
    where the passage has no blanks.
    """
    lead, evidence, trail = _parts(passage)
    word_before, word_after = _words_beside(rest, offset)
    if word_before != word_after:
        lead, trail = (lead + trail, "") if word_before else ("", lead + trail)
    return _put(rest, offset, lead, evidence, trail)


def place_apart(rest: str, passage: str, offset: int, home: int) -> Moved:
    """Put the evidence into the rest at an offset where a word begins or the rest ends.

    home: where the passage stood; there the document is as it was. Elsewhere the evidence goes in
    as by `place`, and what would grow together is set apart by one blank: the evidence and the
    words beside it, and the ends of the rest that met when the evidence was taken out. So at most
    two blanks are added, and none where the evidence stood between blanks. Our choice.
    """
    if offset == home:
        return _put(rest, home, *_parts(passage))
    if all(_words_beside(rest, home)):
        rest = f"{rest[:home]} {rest[home:]}"
        offset += offset > home
    moved = place(rest, passage, offset)
    before, after = moved.text[: moved.start], moved.text[moved.end :]
    lead, trail = (" " if side.strip() else "" for side in (before[-1:], after[:1]))
    start = moved.start + len(lead)
    evidence = moved.text[moved.start : moved.end]
    return Moved(before + lead + evidence + trail + after, start, start + len(evidence))


def move_evidence(rest: str, passage: str, home: int, positions: int, snap: str) -> list[Moved]:
    """Return the document with its evidence at each of the positions, first to last.

    rest: the document without the evidence, whose order stays; passage: the evidence; home: where
    in the rest it stood, in code points. With snap "characters" the characters stay those of the
    document and words may be cut or grow together; with "words" neither, by at most two blanks
    more (`place_apart`). Raises ConfigError as `insertion_offsets`. Section 6, Tables 5 and 13.
    """
    offsets = insertion_offsets(rest, positions, snap)
    if snap == "words":
        return [place_apart(rest, passage, offset, home) for offset in offsets]
    return [place(rest, passage, offset) for offset in offsets]


def moving_record(
    cosines: np.ndarray, resamples: int, level: float, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the mean cosine at each position, peak, lowest and range, with intervals.

    cosines: (pairs, positions). Positions count from 1; of equal means the first is the peak, or
    the lowest. range: highest less lowest mean. A resample draws whole pairs, so that a pair's
    cosines stay together. The range is an extreme, which noise raises: its interval lies above 0
    even where no position matters. Section 6, Tables 5 and 13.
    """
    cosines = np.asarray(cosines, dtype=np.float64)
    means = cosines.mean(axis=0)
    resampled = resampled_column_means(cosines, resamples, rng)
    points = []
    for position, (mean, column) in enumerate(zip(means, resampled.T, strict=True), start=1):
        low, high = percentile_interval(column, level)
        points.append({"position": position, "mean": float(mean), "low": low, "high": high})
    low, high = percentile_interval(np.ptp(resampled, axis=1), level)
    return {
        "points": points,
        "peak": int(means.argmax()) + 1,
        "lowest": int(means.argmin()) + 1,
        "range": float(np.ptp(means)),
        "range_low": low,
        "range_high": high,
    }
