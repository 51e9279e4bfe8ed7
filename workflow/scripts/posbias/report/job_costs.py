"""What each station of a run cost, from the benchmark files that Snakemake writes per job."""

import csv
import math
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from posbias.errors import DataError

SECONDS, CPU_SECONDS, MEMORY = "s", "cpu_time", "max_rss"  # Snakemake's columns; MB of 2^20 bytes
UNKNOWN = ("", "-", "NA")  # of jobs that ended before they were looked at

Job = dict[str, float | None]


def _number(text: str | None, place: str) -> float | None:
    if text is None or text.strip() in UNKNOWN:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise DataError(f"{place}: {text!r} is no amount; delete the file, which is not needed.")
    return number


def read_jobs(path: Path) -> list[Job]:
    """Return seconds, CPU seconds and memory of each run in a benchmark file, None if unknown.

    Raises DataError naming file and column for what Snakemake did not write.
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t"))
    except (UnicodeDecodeError, csv.Error) as fault:
        raise DataError(f"{path}: no table ({fault}); delete the file, which is not needed.") from (
            fault
        )
    if rows and SECONDS not in rows[0]:
        raise DataError(
            f"{path}: without a column {SECONDS!r}, so not written by Snakemake; move it elsewhere."
        )
    columns = (SECONDS, CPU_SECONDS, MEMORY)
    return [
        {name: _number(row.get(name), f"{path}, column {name!r}") for name in columns}
        for row in rows
    ]


def _known(jobs: Iterable[Job], column: str) -> list[float]:
    return [value for job in jobs if (value := job[column]) is not None]


def summed(jobs: list[Job]) -> dict[str, Any]:
    """Return the costs of several jobs; None for what no job knows, counts of what some do not."""
    seconds, cpu, memory = (_known(jobs, name) for name in (SECONDS, CPU_SECONDS, MEMORY))
    return {
        "jobs": len(jobs),
        "seconds": math.fsum(seconds) if seconds else None,
        "longest_seconds": max(seconds, default=None),
        "cpu_seconds": math.fsum(cpu) if cpu else None,
        "max_rss_mb": max(memory, default=None),
        "jobs_without_cpu_time": len(jobs) - len(cpu),
        "jobs_without_memory": len(jobs) - len(memory),
    }


def job_costs(folder: Path, rules: Collection[str]) -> dict[str, Any]:
    """Return costs per rule, by name, and in total, of the benchmark files of a run's rules.

    The file of a rule is <rule>.tsv, or lies in a folder of its name. What else lies below the
    folder was left by other runs: it is not read but counted, as `left_out`. Seconds of jobs that
    ran side by side are added, so that they are more than the time that went by. No folder: no
    stations.
    """
    folder = Path(folder)
    by_rule: dict[str, list[Job]] = {}
    left_out: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.tsv")):
        rule = path.relative_to(folder).parts[0].removesuffix(".tsv")
        if rule in rules:
            by_rule.setdefault(rule, []).extend(read_jobs(path))
        else:
            left_out[rule] += 1
    every = [job for jobs in by_rule.values() for job in jobs]
    return {
        "stations": [{"rule": rule, **summed(jobs)} for rule, jobs in sorted(by_rule.items())],
        "total": summed(every),
        "left_out": {"files": left_out.total(), "names": sorted(left_out)},
    }
