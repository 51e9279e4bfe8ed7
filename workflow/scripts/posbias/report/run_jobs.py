"""The jobs of a run and the five states that one can be in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from posbias.report.run_logs import Failure
from posbias.report.run_traces import PENDING, Traces

State = Literal["done", "running", "queued", "pending", "failed", "cut off"]


@dataclass(frozen=True)
class Job:
    """One job of the workflow: where it belongs, what it writes, whether it is still to do.

    threads: how many it was given. pending: whether Snakemake would run it. missing: whether none
    of its outputs exists.
    """

    rule: str
    station: str
    outputs: tuple[str, ...]
    log: str | None
    resume_dir: str | None
    threads: int
    pending: bool
    missing: bool

    @property
    def name(self) -> str:
        """The rule, with what tells its jobs apart, as in its log's name."""
        if self.log is None:
            return self.rule
        place = self.log.removesuffix(".log").split("/")
        return "/".join(place[place.index(self.rule) :]) if self.rule in place else self.rule

    def made(self) -> bool:
        """Say whether all of its outputs exist now: it may have ended since Snakemake was asked."""
        return all(Path(name).exists() for name in self.outputs)

    def lost(self) -> bool:
        """Say whether it has made nothing and Snakemake would still not run it.

        So it is if what was made from it before is still there: Snakemake notes a failed job's
        parameters as if it had ended well, and then finds nothing that has changed.
        """
        return not self.pending and self.missing and not self.made()


def state_of(job: Job, traces: Traces, failures: Mapping[str, Failure]) -> State:
    """Return the state of a job.

    traces: what a run has left or is leaving. failures: the last failure by the first output of a
    job. A job that is marked as begun runs if somebody who could run it was seen; SLURM's queue
    has the last word on a job that it knows.
    """
    marker = next((traces.markers[name] for name in job.outputs if name in traces.markers), None)
    if marker is not None:
        if marker.external in traces.queue:
            return "queued" if traces.queue[marker.external].startswith(PENDING) else "running"
        if traces.could_run(marker):
            return "running"
        return "cut off"
    if (not job.pending and not job.missing) or (job.missing and job.made()):
        return "done"
    failure = failures.get(job.outputs[0])
    if failure is None or not job.missing:
        return "pending"
    return "cut off" if failure.interrupted else "failed"


def states_of(
    jobs: Iterable[Job], traces: Traces, failures: Mapping[str, Failure]
) -> dict[Job, State]:
    """Return the state of every job, in the order of the jobs."""
    return {job: state_of(job, traces, failures) for job in jobs}
