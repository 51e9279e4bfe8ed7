"""A run's status as a text for people and as a record for machines."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from posbias.logs import clock
from posbias.report.run_left import Left
from posbias.report.run_logs import RunLog
from posbias.report.run_progress import Progress
from posbias.report.run_status import STATES, Running, Status
from posbias.report.run_traces import PENDING, Traces

COLUMNS = ("done", "running", "pending", "failed", "cut off")
NAMED, NAMED_RULES = 12, 4  # jobs of a kind that are listed by name; rules in a note
GB = 1e9


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def signs_of_life(last: RunLog | None, now: float) -> str:
    """Return when the newest run last wrote to its own log."""
    if last is None:
        return "there is no log of a run"
    at = last.path.stat().st_mtime
    return f"its log was last written {clock(max(0.0, now - at))} ago ({last.path})"


def run_line(traces: Traces, last: RunLog | None, now: float) -> str:
    """Return whether a run is going on, as far as this machine can see, and what to do if not."""
    steps = ""
    if last and last.planned:
        steps = f"; {last.done} of {last.planned} steps of what it was asked for"
    if traces.driver:
        process = traces.driver
        return (
            f"A run is going on: process {process.number}, since {_moment(process.since)}{steps}."
        )
    if not traces.locked:
        return f"No run is going on{'' if last else '; none has been begun here'}."
    orphans = ", ".join(str(process.number) for process in traces.orphans)
    if orphans:
        return (
            f"The run was killed, its jobs go on (processes {orphans}): end them, as what a job "
            "makes without its Snakemake is made again; then snakemake --unlock and start again."
        )
    if traces.queue and last:
        return (
            f"{len(traces.queue)} jobs of SLURM run {last.slurm_run} are queued or running; the "
            "Snakemake that submitted them is not on this machine. If it was killed: "
            f"scancel -n {last.slurm_run}, snakemake --unlock, then start again."
        )
    where = (
        "Processes cannot be seen here"
        if traces.processes is None
        else "No Snakemake is at work here on this machine"
    )
    slurm = last.slurm_run if last and not traces.queue_known else None
    cancel = f"scancel -n {slurm} where SLURM answers, " if slurm else ""
    return (
        f"The folder is locked. {where}: the run was killed, or goes on elsewhere; "
        f"{signs_of_life(last, now)}. If it was killed: {cancel}snakemake --unlock, then start "
        "again."
    )


def left_text(left: Left, cores: int) -> str:
    """Return the time that is left; '?' where nothing is known, '+' where a part is not."""
    if not left.core_seconds and not left.unknown:
        return ""
    if not left.core_seconds:
        return "?"
    return clock(left.seconds(cores)) + ("+" if left.unknown else "")


def progress_text(one: Running) -> str:
    """Return how far a running job is."""
    told: Progress | None = one.progress
    if told is None:
        return f"for {clock(one.elapsed)}"
    eta = "" if told.seconds_left is None else f", {clock(told.seconds_left)} left"
    return f"for {clock(one.elapsed)}, {told.done:,} of {told.total:,}{eta}"


def _table(status: Status) -> list[str]:
    width = max(map(len, (*status.counts, "station", "everything")))
    rows = [
        (name, count, left_text(status.left[name], status.cores))
        for name, count in status.counts.items()
    ]
    everything = sum(status.counts.values(), start=Counter())
    rows.append(("everything", everything, left_text(status.all_left, status.cores)))
    head = f"{'station':<{width}}" + "".join(f"{name:>9}" for name in COLUMNS) + f"{'left':>10}"
    lines = [head, "-" * len(head)]
    for name, count, left in rows:
        numbers = {**count, "pending": count["pending"] + count["queued"]}
        lines.append(
            f"{name:<{width}}"
            + "".join(f"{numbers.get(column) or '':>9}" for column in COLUMNS)
            + f"{left:>10}"
        )
    lines.insert(-1, lines[1])
    return lines


def _reasons(traces: Traces) -> str:
    """Return why jobs wait, by SLURM's own words: some of these reasons never pass."""
    waiting = [said.split(maxsplit=1) for said in traces.queue.values() if said.startswith(PENDING)]
    reasons = Counter(said[1] for said in waiting if len(said) == 2)
    told = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
    never = any(r.startswith("Partition") or r.endswith("PerJobLimit") for r in reasons)
    hint = "; a job above a partition's limit never starts: see docs/cluster.md" if never else ""
    return f" ({told}{hint})" if told else ""


def _notes(status: Status) -> list[str]:
    lines = []
    left = status.all_left
    if left.core_seconds:
        lines.append(
            f"left: at best, {status.cores} core{'s' * (status.cores != 1)} or jobs at a time, by "
            "what jobs of the same rule took and running ones say"
        )
    if left.unknown:
        rules = Counter(left.unknown)
        most = ", ".join(f"{number} {rule}" for rule, number in rules.most_common(NAMED_RULES))
        lines.append(
            f"+ or ?: not counted, as no job of the same rule is done yet: {len(left.unknown)} "
            f"job{'s' * (len(left.unknown) != 1)} ({most}{', …' * (len(rules) > NAMED_RULES)})"
        )
    queued = len(status.of("queued"))
    if queued:
        lines.append(f"pending: {queued} of them wait in SLURM's queue{_reasons(status.traces)}")
    return lines


def _first(names: Sequence[str]) -> list[str]:
    more = [f"  … {len(names) - NAMED} more"] if len(names) > NAMED else []
    return [*names[:NAMED], *more]


def status_text(title: str, status: Status, sizes: Mapping[str, int], free: int, now: float) -> str:
    """Return the status as lines.

    title: what the run is about. sizes: bytes by folder. free: bytes of the disk. now: seconds
    since 1970.
    """
    if not status.counts:
        return f"{title}: nothing to make.\n"
    lines = [f"{title}, {_moment(now)}", run_line(status.traces, status.last, now), ""]
    lines += [*_table(status), *_notes(status)]
    running = [f"  {one.job.name} {progress_text(one)}" for one in status.running]
    lost = status.lost()
    cut = [f"  {job.name}" for job in status.of("cut off") if job not in lost]
    if running:
        lines += ["", "Running:", *_first(running)]
    if cut:
        lines += ["", "Cut off, made again by the next run (trainings from their last state):"]
        lines += _first(cut)
    if lost:
        rules = " ".join(dict.fromkeys(job.rule for job in lost))
        lines += [
            "",
            "Missing, and not made again by the next run, as what was made from them before is "
            f"still there (and stale, if the configuration has changed): add --forcerun {rules}",
            *_first([f"  {job.name}" for job in lost]),
        ]
    for job, failure in status.failures.items():
        how = f", {failure.ended}" if failure.ended else ""
        lines += ["", f"Failed: {job.name}, {_moment(failure.at)}{how}; {', '.join(failure.logs)}"]
        lines += [f"  | {line}" for line in failure.last_lines()]
    made = ", ".join(f"{name} {size / GB:.2f} GB" for name, size in sizes.items())
    lines += ["", f"Disk: {made}; {free / GB:.1f} GB free"]
    return "\n".join(lines) + "\n"


def status_record(
    title: str, status: Status, sizes: Mapping[str, int], free: int, now: float
) -> dict[str, Any]:
    """Return the status as a record: seconds, bytes, counts, names; null for what is not known."""
    told = {one.job: one for one in status.running}

    def left(of: Left) -> dict[str, Any]:
        return {"seconds": of.seconds(status.cores), "without": sorted(of.unknown)}

    def job_record(one: Running) -> dict[str, Any]:
        known = one.progress
        return {
            "job": one.job.name,
            "seconds": one.elapsed,
            "done": known.done if known else None,
            "total": known.total if known else None,
            "seconds_left": known.seconds_left if known else None,
            "log": one.job.log,
        }

    driver = status.traces.driver
    return {
        "title": title,
        "at": now,
        "run": {
            "process": driver.number if driver else None,
            "locked": status.traces.locked,
            "processes_seen": status.traces.processes is not None,
            "jobs_without_driver": [process.number for process in status.traces.orphans],
            "slurm_run": status.last.slurm_run if status.last else None,
            "slurm_jobs": len(status.traces.queue) if status.traces.queue_known else None,
            "log": str(status.last.path) if status.last else None,
            "steps": [status.last.done, status.last.planned] if status.last else None,
            "says": run_line(status.traces, status.last, now),
        },
        "cores": status.cores,
        "stations": [
            {
                "station": name,
                **{state.replace(" ", "_"): count[state] for state in STATES},
                "left": left(status.left[name]),
            }
            for name, count in status.counts.items()
        ],
        "left": left(status.all_left),
        "running": [job_record(one) for one in told.values()],
        "cut_off": [job.name for job in status.of("cut off")],
        "lost": [job.name for job in status.lost()],
        "failed": [
            {
                "job": job.name,
                "at": failure.at,
                "ended": failure.ended,
                "logs": list(failure.logs),
                "lines": failure.last_lines(),
            }
            for job, failure in status.failures.items()
        ],
        "bytes": {**{name: int(size) for name, size in sizes.items()}, "free": int(free)},
    }
