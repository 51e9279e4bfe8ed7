"""How far jobs say they are, and how long what is left takes, in closed form."""

import json
import os
import time

import pytest

from job_files import benchmarks, job
from posbias.report.run_left import Left, left_of, mean_seconds
from posbias.report.run_progress import Progress, heartbeat, progress_of, training_progress
from run_traces_files import NOON, job_log


def training(folder, steps, told_at=NOON + 100, begun="12:00:00", first=0):
    """Write a training's progress and its log; return both places."""
    progress = folder / "resume/bert-begin/abc/progress.jsonl"
    progress.parent.mkdir(parents=True)
    progress.write_text("".join(json.dumps({"step": s, "steps": 400}) + "\n" for s in steps))
    os.utime(progress, (told_at, told_at))
    log = job_log(folder, "a.log", f"{begun} train bert/begin starts at step {first} of 400\n")
    return folder / "resume/bert-begin", log


def test_a_training_tells_steps_and_time(tmp_path):
    folder, log = training(tmp_path, [10, 100])
    # 100 steps in 100 seconds, 300 to go, told 20 seconds ago
    assert training_progress(folder, log, NOON - 30, NOON + 120) == Progress(100, 400, 280.0)


def test_a_resumed_training_has_the_pace_of_this_attempt(tmp_path):
    folder, log = training(tmp_path, [10, 200, 250], first=200)
    assert training_progress(folder, log, NOON, NOON + 100) == Progress(250, 400, 300.0)


def test_over_midnight(tmp_path):
    midnight = time.mktime((2026, 3, 3, 0, 0, 0, 0, 0, -1))
    folder, log = training(tmp_path, [100], told_at=midnight + 50, begun="23:59:10")
    assert training_progress(folder, log, NOON, midnight + 50) == Progress(100, 400, 300.0)


def test_what_an_earlier_attempt_told_does_not_count(tmp_path):
    folder, log = training(tmp_path, [100])
    assert training_progress(folder, log, NOON + 200, NOON + 300) is None
    assert training_progress(tmp_path / "none", log, NOON, NOON) is None


@pytest.mark.parametrize("last", ['{"step": 12', "", "[]", '{"loss": 1.0}'])
def test_a_line_that_is_being_written_is_passed_over(tmp_path, last):
    folder, log = training(tmp_path, [8])
    path = folder / "abc/progress.jsonl"
    path.write_text(path.read_text() + last)
    found = training_progress(folder, log, NOON, path.stat().st_mtime)
    assert (found.done, found.total) == (8, 400)


def test_a_training_without_a_beginning_has_no_time(tmp_path):
    folder, log = training(tmp_path, [8])
    log.write_text("nothing\n")
    assert training_progress(folder, log, NOON, NOON + 100) == Progress(8, 400, None)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("12:00:00 train a/b 120/500 loss 2.31 eta 1:40", Progress(120, 500, 70.0)),
        ("12:00:00 score shard 2/2: minilm 50/700 eta 1:00:10", Progress(50, 700, 3580.0)),
        ("12:00:00 encode 5/9 eta ?", Progress(5, 9, None)),
        ("12:00:00 encode 5/9 eta 0:10", Progress(5, 9, 0.0)),
        ("12:00:00 wrote 5/9 files", None),
    ],
)
def test_a_heartbeat_is_read(tmp_path, line, found):
    log = job_log(tmp_path, "a.log", f"11:00:00 first 1/2 eta 9:00\n{line}\n", NOON + 1)
    told = heartbeat(log, NOON - 100, NOON + 30)
    assert told == found or (found is None and told.total == 2)


def test_heartbeats_of_the_library_are_read(tmp_path, caplog):
    from posbias.logs import Heartbeat

    beat = Heartbeat("train x/y", 100, now=iter([0.0, 60.0]).__next__)
    with caplog.at_level("INFO"):
        beat.beat(20, "loss 1.234")
    log = job_log(tmp_path, "a.log", f"12:00:00 {caplog.records[-1].getMessage()}\n")
    assert heartbeat(log, NOON, NOON) == Progress(20, 100, 240.0)


def test_a_job_without_any_word(tmp_path):
    assert progress_of(None, None, NOON, NOON) is None
    assert progress_of(None, str(tmp_path / "none.log"), NOON, NOON) is None
    old = job_log(tmp_path, "old.log", "10:00:00 a 1/2 eta 0:10\n", NOON - 7200)
    assert progress_of(None, str(old), NOON, NOON) is None


def test_means_of_finished_jobs(tmp_path):
    benchmarks(tmp_path, {"a/x.tsv": [job(10)], "a/y.tsv": [job(30), job(20)], "b.tsv": [job(4)]})
    (tmp_path / "torn.tsv").write_text("s\th:m:s\nnot\tnumbers\n")
    (tmp_path / "empty.tsv").touch()
    found = mean_seconds(tmp_path, ["a", "b", "torn", "empty", "none"])
    assert found == {"a": 20.0, "b": 4.0}


def test_what_is_left_in_closed_form():
    jobs = [
        ("a", 1, None, 0.0),  # 20 s
        ("a", 1, 5.0, 100.0),  # says so itself
        ("a", 1, None, 50.0),  # overdue: about to end
        ("b", 8, None, 1.0),  # 3 s on all 4 cores
        ("c", 1, None, 0.0),  # never done
        ("c", 1, 7.0, 0.0),  # never done, but tells
    ]
    left = left_of(jobs, {"a": 20.0, "b": 4.0}, 4)
    assert left == Left(20 + 5 + 0 + 3 * 4 + 7, 20.0, ("c",))
    assert left.seconds(4) == 20.0 and left.seconds(1) == 44.0
    assert left_of([], {}, 4) == Left()
