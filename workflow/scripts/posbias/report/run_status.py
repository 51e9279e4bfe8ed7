"""How a run stands, station by station: from the jobs that Snakemake names and a run's traces."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from posbias.report.run_jobs import Job, State, states_of
from posbias.report.run_left import Left, left_of, mean_seconds
from posbias.report.run_logs import Failure, RunLog, last_failures
from posbias.report.run_progress import Progress, progress_of
from posbias.report.run_traces import Traces

STATES: tuple[State, ...] = get_args(State)
BROKEN: tuple[State, ...] = ("failed", "cut off")
TO_DO = frozenset(STATES) - {"done"}


@dataclass(frozen=True)
class Running:
    """A running job, the seconds that it has run, and how far it says it is."""

    job: Job
    elapsed: float
    progress: Progress | None


@dataclass(frozen=True)
class Status:
    """A run as it stands.

    counts: jobs by station and state, stations in the order of the data's journey. left: what each
    station will still take. cores: how many work side by side. last: the newest run, if any.
    """

    states: Mapping[Job, State]
    counts: Mapping[str, Counter]
    running: Sequence[Running]
    failures: Mapping[Job, Failure]
    left: Mapping[str, Left]
    cores: int
    traces: Traces
    last: RunLog | None

    def of(self, state: State) -> list[Job]:
        """Return the jobs in a state."""
        return [job for job, found in self.states.items() if found == state]

    def lost(self) -> list[Job]:
        """Return the jobs that have made nothing and that the next run would still pass over."""
        waiting = (job for job, state in self.states.items() if state in ("pending", *BROKEN))
        return [job for job in waiting if job.lost()]

    @property
    def all_left(self) -> Left:
        """What everything will still take."""
        return Left(
            sum(one.core_seconds for one in self.left.values()),
            max((one.longest for one in self.left.values()), default=0.0),
            tuple(rule for one in self.left.values() for rule in one.unknown),
        )


def _since(job: Job, traces: Traces) -> float | None:
    return min((traces.markers[o].since for o in job.outputs if o in traces.markers), default=None)


def status_of(
    jobs: Iterable[Job],
    stations: Sequence[str],
    traces: Traces,
    logs: Sequence[RunLog],
    benchmarks: Path,
    now: float,
    machine_cores: int,
) -> Status:
    """Put together how a run stands.

    jobs: those of the workflow's graph, done or not. stations: in their order. logs: of
    Snakemake's runs, oldest first. benchmarks: folder of the scale's. now: seconds since 1970.
    machine_cores: what a run would have that does not say how many cores it has.
    """
    failed_by_output = last_failures(logs)
    states = states_of(jobs, traces, failed_by_output)
    counts: dict[str, Counter] = {name: Counter() for name in stations}
    for job, state in states.items():
        counts.setdefault(job.station, Counter())[state] += 1
    running = []
    for job in (one for one, state in states.items() if state == "running"):
        since = _since(job, traces) or now
        running.append(
            Running(job, max(0.0, now - since), progress_of(job.resume_dir, job.log, since, now))
        )
    told = {one.job: one for one in running}
    last = logs[-1] if logs else None
    cores = last.cores if last and last.cores else None
    cores = cores or max(len(running), 1 if last and last.slurm_run else machine_cores)
    means = mean_seconds(benchmarks, {job.rule for job, state in states.items() if state in TO_DO})
    left = {}
    for station in counts:
        mine = [j for j, state in states.items() if j.station == station and state in TO_DO]
        left[station] = left_of(
            [
                (
                    job.rule,
                    job.threads,
                    told[job].progress.seconds_left if job in told and told[job].progress else None,
                    told[job].elapsed if job in told else 0.0,
                )
                for job in mine
            ],
            means,
            cores,
        )
    failures = {
        job: failed_by_output[job.outputs[0]] for job, state in states.items() if state == "failed"
    }
    shown = {name: count for name, count in counts.items() if count}
    return Status(states, shown, running, failures, left, cores, traces, last)
