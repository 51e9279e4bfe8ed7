"""How long what is left of a run will take, by the jobs of the same rule that are done."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from posbias.errors import DataError
from posbias.report.job_costs import SECONDS, read_jobs


@dataclass(frozen=True)
class Left:
    """Core-seconds and the longest job's seconds, where there is an estimate; rules without."""

    core_seconds: float = 0.0
    longest: float = 0.0
    unknown: tuple[str, ...] = ()

    def seconds(self, cores: int) -> float:
        """Return the seconds that this takes at least on so many cores."""
        return max(self.longest, self.core_seconds / cores)


def mean_seconds(folder: Path, rules: Iterable[str]) -> dict[str, float]:
    """Return the mean seconds of finished jobs of each rule that has any in this folder.

    folder: benchmarks/<scale>, a file or a folder of files per rule. A file that is no table, as
    one that is being written, is passed over: this is an estimate.
    """
    found = {}
    for rule in rules:
        took: list[float] = []
        for path in [Path(folder) / f"{rule}.tsv", *(Path(folder) / rule).rglob("*.tsv")]:
            try:
                took += [s for job in read_jobs(path) if (s := job[SECONDS]) is not None]
            except (OSError, DataError):
                continue
        if took:
            found[rule] = math.fsum(took) / len(took)
    return found


def left_of(
    jobs: Iterable[tuple[str, int, float | None, float]],
    means: Mapping[str, float],
    cores: int,
) -> Left:
    """Return what some jobs will take.

    jobs: of each its rule, threads, the seconds left that it tells itself, and seconds since it
    began. means: seconds of a job by rule. A rule without finished jobs is unknown; a job that
    takes longer than others of its rule counts as about to end.
    """
    core_seconds, longest, unknown = 0.0, 0.0, []
    for rule, threads, told, elapsed in jobs:
        if told is None and rule not in means:
            unknown.append(rule)
            continue
        seconds = max(0.0, means[rule] - elapsed) if told is None else told
        core_seconds += seconds * min(threads, cores)
        longest = max(longest, seconds)
    return Left(core_seconds, longest, tuple(unknown))
