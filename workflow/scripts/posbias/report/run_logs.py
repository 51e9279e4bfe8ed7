"""What Snakemake wrote of its runs into .snakemake/log: what was planned, done, and failed."""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

KEPT_LINES = 8  # of a failed job's log
INTERRUPTED = "interrupted; the next run goes on from here"  # what adapter.start ends with

TIME = re.compile(r"\[(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\]")
FAILED = re.compile(r"\s*Error in rule (\w+)")
GROUPED = re.compile(r" {8}rule (\w+):")  # of a failed group; elsewhere rules stand further left
FIELD = re.compile(r"\s+(output|log): (.*)")
ENDED = re.compile(r"^Command .* (died with <[^>]*>|returned non-zero exit status \d+)\.?$")
STEPS = re.compile(r"(\d+) of (\d+) steps \(.*\) done")
HINT = " (check log file(s) for error details)"


@dataclass(frozen=True)
class Failure:
    """One failed job: its rule, outputs, logs, when (seconds since 1970), how its process ended."""

    rule: str
    outputs: tuple[str, ...]
    logs: tuple[str, ...]
    at: float
    ended: str | None

    @property
    def interrupted(self) -> bool:
        """Whether the job ended because the run was stopped by hand."""
        return any(INTERRUPTED in line for line in self.last_lines(1))

    def last_lines(self, number: int = KEPT_LINES) -> list[str]:
        """Return the last lines of the first log that has any."""
        return next(filter(None, (last_lines(Path(log), number) for log in self.logs)), [])


@dataclass(frozen=True)
class RunLog:
    """One run: its log file, cores, steps done of those planned, SLURM's run ID, its failures."""

    path: Path
    cores: int | None
    done: int
    planned: int | None
    slurm_run: str | None
    failures: tuple[Failure, ...]


def last_lines(path: Path, number: int = KEPT_LINES) -> list[str]:
    """Return the last lines of a text file that are not empty; none of a file that is not there."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4000 - 400 * number))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return []
    return [line.rstrip() for line in text.splitlines() if line.strip()][-number:]


def _seconds(told: str) -> float:
    try:
        return time.mktime(time.strptime(told, "%a %b %d %H:%M:%S %Y"))
    except ValueError:  # no such day
        return 0.0


def _failures(lines: Iterable[str]) -> Iterator[Failure]:
    at, told = 0.0, None  # how a process ended is told before its failure
    block: dict[str, tuple[str, ...]] = {}
    rule, ended = None, None
    for line in [*lines, "[end]"]:
        begun = FAILED.match(line) or GROUPED.fullmatch(line)
        if begun or line.startswith("["):
            if rule and "output" in block:
                yield Failure(rule, block["output"], block.get("log", ()), at, ended)
            rule, ended, block = (begun[1], told, {}) if begun else (None, None, {})
            told = None if begun else told
        if stamped := TIME.match(line):
            at = _seconds(stamped[1])
        elif rule and (field := FIELD.fullmatch(line)):
            block.setdefault(field[1], tuple(field[2].removesuffix(HINT).split(", ")))
        elif end := ENDED.search(line):
            told = end[1]


def read_run_log(path: Path) -> RunLog:
    """Return what one log file of Snakemake's tells; what it does not tell is None or empty."""
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.splitlines()
    cores = re.search(r"^Provided cores: (\d+)", text, re.MULTILINE)
    total = re.search(r"^total +(\d+)$", text, re.MULTILINE)
    run = re.search(r"^SLURM run ID: (\S+)$", text, re.MULTILINE)
    steps = [match for line in lines if (match := STEPS.fullmatch(line))]
    return RunLog(
        path,
        int(cores[1]) if cores else None,
        int(steps[-1][1]) if steps else 0,
        int(total[1]) if total else None,
        run[1] if run else None,
        tuple(_failures(lines)),
    )


def read_run_logs(folder: Path, newest: int = 50) -> list[RunLog]:
    """Return the logs of the newest runs, oldest first; none if nothing has ever run.

    A run that found nothing to do, or no lock, planned nothing and is left out.
    """
    paths = [path for path in sorted(Path(folder).glob("*.snakemake.log")) if path.is_file()]
    paths = paths[-newest:]
    return [log for log in map(read_run_log, paths) if log.planned is not None]


def last_failures(logs: Iterable[RunLog]) -> dict[str, Failure]:
    """Return the newest failure of each job, by every output of it.

    A failure is left out if its log was begun anew or removed since: the job was tried again.
    """
    found = {name: f for log in logs for f in log.failures for name in f.outputs}
    return {name: failure for name, failure in found.items() if not _tried_again(failure)}


def _tried_again(failure: Failure, grace: float = 5.0) -> bool:
    """Say whether the job's own log is newer than the failure, by more than clocks differ."""
    times = [Path(log).stat().st_mtime for log in failure.logs if Path(log).is_file()]
    return not times or max(times) > failure.at + grace
