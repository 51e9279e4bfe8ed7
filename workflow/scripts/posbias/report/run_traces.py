"""Traces of a run in its folder and on this machine: lock, marks of begun jobs, processes, queue.

Nothing here writes, and a trace that cannot be read is said to be unknown.
"""

import base64
import binascii
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

JOB_SCRIPTS = ".snakemake/scripts/"  # where Snakemake puts what a job runs
PENDING = "PENDING"
PATIENCE = 20  # seconds that SLURM may take to answer


@dataclass(frozen=True)
class Marker:
    """A job that was begun and has not ended: since when (seconds since 1970), SLURM's number."""

    since: float
    external: str | None = None


@dataclass(frozen=True)
class Process:
    """A process at work in the run's folder: its number, command, and when it began."""

    number: int
    command: tuple[str, ...]
    since: float

    @property
    def drives(self) -> bool:
        """Whether it is Snakemake itself, and not one of its jobs on a cluster's node."""
        named = any(Path(word).name == "snakemake" for word in self.command[:3])
        return named and "--mode" not in self.command

    @property
    def works(self) -> bool:
        """Whether it is a job that Snakemake began."""
        return any(JOB_SCRIPTS in word for word in self.command)


@dataclass(frozen=True)
class Traces:
    """All of them.

    processes: those in the folder, None where the system does not tell. queue: states of SLURM's
    jobs by their numbers. queue_known: whether SLURM has answered.
    """

    locked: bool
    markers: Mapping[str, Marker]
    processes: tuple[Process, ...] | None
    queue: Mapping[str | None, str] = field(default_factory=dict)
    queue_known: bool = False

    @property
    def driver(self) -> Process | None:
        """The Snakemake that holds the lock, if it is seen on this machine."""
        drivers = [process for process in self.processes or () if process.drives]
        return min(drivers, key=lambda one: one.since) if self.locked and drivers else None

    @property
    def orphans(self) -> tuple[Process, ...]:
        """Jobs that go on without the Snakemake that began them."""
        return () if self.driver else tuple(p for p in self.processes or () if p.works)

    def could_run(self, marker: Marker, grace: float = 5.0) -> bool:
        """Say whether the job of a mark may be running, as far as can be seen.

        SLURM's jobs are asked for in the queue, if it answers. A driver does not run what was
        begun before it started.
        """
        if marker.external is not None and self.queue_known:
            return False
        if self.driver:
            return marker.since >= self.driver.since - grace
        return self.locked and (self.processes is None or marker.external is not None)


def _external(mark: str) -> str | None:
    try:
        told = json.loads(mark)
    except ValueError:  # being written
        return None
    number = told.get("external_jobid") if isinstance(told, dict) else None
    return str(number) if isinstance(number, str | int) else None


def read_markers(folder: Path) -> dict[str, Marker]:
    """Return the outputs of jobs that began and did not end, from .snakemake/incomplete.

    The name of a mark is the output's in Base64, cut into folders where it is long.
    """
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        try:
            coded = "".join(part.removeprefix("@") for part in path.relative_to(folder).parts)
            name = base64.urlsafe_b64decode(coded).decode("utf-8")
            told = _external(path.read_text("utf-8"))
            found[name] = Marker(path.stat().st_mtime, told)
        except (OSError, ValueError, binascii.Error):  # just ended; a folder; no mark
            continue
    return found


def is_locked(folder: Path) -> bool:
    """Say whether a Snakemake holds the lock, or was killed while it did."""
    return any(Path(folder).glob("*.lock"))


def _since(entry: Path, booted: float) -> float:
    # After the command's name, which may hold anything, the 20th field is the start in ticks.
    ticks = (entry / "stat").read_text().rpartition(")")[2].split()[19]
    return booted + int(ticks) / os.sysconf("SC_CLK_TCK")


def processes_in(folder: Path, proc: Path = Path("/proc")) -> tuple[Process, ...] | None:
    """Return the processes of this machine whose working folder this is; None if it cannot tell."""
    try:
        told = (proc / "stat").read_text().splitlines()
        booted = float(next(line for line in told if line.startswith("btime")).split()[1])
    except (OSError, StopIteration):
        return None
    found = []
    for entry in proc.glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink() == folder.resolve():
                words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
                found.append(Process(int(entry.name), tuple(words[:-1]), _since(entry, booted)))
        except (OSError, IndexError, ValueError):  # another user's, or it has just ended
            continue
    return tuple(found)


def slurm_queue(runs: Iterable[str]) -> dict[str | None, str] | None:
    """Return the state of each queued or running SLURM job of some runs, by its number.

    One that is PENDING has the reason behind it, after a blank. runs: IDs that Snakemake gave its
    runs, which are their jobs' names. None if SLURM does not answer here.
    """
    names = sorted(set(runs))
    if not names or not shutil.which("squeue"):
        return None
    command = ["squeue", "--noheader", "--name", ",".join(names), "--format", "%i|%T|%r"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if told.returncode:
        return None
    rows = [line.strip().split("|") for line in told.stdout.splitlines()]
    return {
        row[0]: f"{PENDING} {row[2]}" if row[1] == PENDING else row[1]
        for row in rows
        if len(row) == 3
    }


def read_traces(folder: Path, runs: Iterable[str] = ()) -> Traces:
    """Return the traces of runs in a folder.

    runs: SLURM's run IDs. Marks come last: what ends in between is done, not cut off.
    """
    state = Path(folder) / ".snakemake"
    queue = slurm_queue(runs)
    processes = processes_in(Path(folder))
    locked = is_locked(state / "locks")
    markers = read_markers(state / "incomplete")
    return Traces(locked, markers, processes, queue or {}, queue is not None)
