"""How far a running job is: a training by its progress.jsonl, others by their log's heartbeat."""

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path

from posbias.report.run_logs import last_lines

STARTS = re.compile(r"(\d\d:\d\d:\d\d) .* starts at step (\d+) of \d+$")
BEAT = re.compile(r"\d\d:\d\d:\d\d .* (\d+)/(\d+)(?: .*)? eta (\?|(?:\d+:)?\d+:\d\d)$")
LOOKED_AT = 200  # lines of a log
DAY = 86400


@dataclass(frozen=True)
class Progress:
    """Steps (or documents, pairs, answers) done of all, and the seconds left if it tells."""

    done: int
    total: int
    seconds_left: float | None


def _at(clock: str, near: float) -> float:
    """Return the last moment before `near` at which a clock showed this time of the day."""
    day = time.localtime(near)
    hours, minutes, seconds = (int(part) for part in clock.split(":"))
    moment = time.mktime((*day[:3], hours, minutes, seconds, 0, 0, -1))
    return moment if moment <= near + 1 else moment - DAY


def _seconds(clock: str) -> float:
    total = 0
    for part in clock.split(":"):
        total = 60 * total + int(part)
    return float(total)


def training_progress(resume_dir: Path, log: Path, since: float, now: float) -> Progress | None:
    """Return the progress of a training; None until it has told a step since it began.

    since: when the job began, seconds since 1970. The pace is that of this attempt, as a resumed
    training begins in the middle.
    """
    files = [path for path in Path(resume_dir).glob("*/progress.jsonl")]
    files = [path for path in files if path.stat().st_mtime >= since]
    if not files:
        return None
    newest = max(files, key=lambda path: path.stat().st_mtime)
    entries = []
    for line in last_lines(newest, 2):
        try:
            entry = json.loads(line)
            entries.append((int(entry["step"]), int(entry["steps"])))
        # The last line is being written, or something else has written here.
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            continue
    if not entries:
        return None
    done, total = entries[-1]
    told_at = newest.stat().st_mtime
    begun = [match for line in last_lines(log, LOOKED_AT) if (match := STARTS.match(line))]
    if not begun:
        return Progress(done, total, None)
    advanced, took = done - int(begun[-1][2]), told_at - _at(begun[-1][1], told_at)
    if advanced <= 0 or took <= 0:
        return Progress(done, total, None)
    return Progress(done, total, max(0.0, (total - done) * took / advanced - (now - told_at)))


def heartbeat(log: Path, since: float, now: float) -> Progress | None:
    """Return what the newest heartbeat in a job's log says; None without one since it began."""
    if not log.is_file() or log.stat().st_mtime < since:
        return None
    beats = [match for line in last_lines(log, LOOKED_AT) if (match := BEAT.match(line))]
    if not beats:
        return None
    done, total, eta = beats[-1].groups()
    told = beats[-1][0].split()[0]
    left = None
    if eta != "?":
        left = max(0.0, _seconds(eta) - (now - _at(told, now)))
    return Progress(int(done), int(total), left)


def progress_of(
    resume_dir: str | None, log: str | None, since: float, now: float
) -> Progress | None:
    """Return how far a job is that runs since a moment; None if it has not told.

    Moments are seconds since 1970.
    """
    if log is None:
        return None
    found = training_progress(Path(resume_dir), Path(log), since, now) if resume_dir else None
    return found or heartbeat(Path(log), since, now)
