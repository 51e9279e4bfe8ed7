"""Made-up runs: which state each job is in, what the table says, what is kept for machines."""

import json
from collections import Counter
from pathlib import Path

import pytest

from job_files import benchmarks, job
from posbias.report.run_jobs import Job, state_of
from posbias.report.run_logs import read_run_logs
from posbias.report.run_status import status_of
from posbias.report.run_status_text import run_line, status_record, status_text
from posbias.report.run_traces import Marker, Process, Traces, read_traces
from run_traces_files import NOON, PLANNED, failed, job_log, lock, mark, run_log

STATIONS = ["corpus", "training", "figures"]
DRIVER = Process(7, ("python", "/v/bin/snakemake"), NOON - 600)
SIZES = {"results/mini": 1_500_000_000, "downloads": 0}


def make(name, pending=True, missing=True, station="training", rule="train_retriever"):
    """Return a job of a rule, with one output."""
    log = f"logs/mini/{rule}/{name}.log"
    return Job(rule, station, (f"out/{name}",), log, f"resume/{name}", 1, pending, missing)


def traces(markers=None, locked=True, processes=(DRIVER,), **queue):
    return Traces(locked, markers or {}, processes, **queue)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder in which nothing has run; commands are in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stand(folder, jobs, seen=None):
    """Return the status of some jobs at noon."""
    logs = read_run_logs(folder / ".snakemake/log")
    seen = seen or read_traces(folder)
    return status_of(jobs, STATIONS, seen, logs, folder / "benchmarks", NOON, 2)


def text(status):
    return status_text("Scale mini: everything", status, SIZES, 2_000_000_000, NOON)


def test_a_job_is_named_by_its_rule_and_wildcards():
    assert make("bert-begin").name == "train_retriever/bert-begin"
    assert Job("a", "s", ("o",), "logs/mini/a.log", None, 1, True, True).name == "a"
    assert Job("a", "s", ("o",), None, None, 1, True, True).name == "a"


def test_done_and_pending(folder):
    assert state_of(make("a", pending=False, missing=False), traces(), {}) == "done"
    assert state_of(make("a"), traces(), {}) == "pending"
    assert state_of(make("a", missing=False), traces(), {}) == "pending", "an input has changed"


def test_what_ended_since_snakemake_was_asked_is_done(folder):
    job_log(folder, "out/a", "made")
    assert state_of(make("a"), traces(), {}) == "done"


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        (traces({"out/a": Marker(NOON)}), "running"),
        (traces({"out/a": Marker(NOON - 9999)}), "cut off"),
        (traces({"out/a": Marker(NOON)}, processes=()), "cut off"),
        (traces({"out/a": Marker(NOON)}, locked=False), "cut off"),
        (traces({"out/a": Marker(NOON)}, processes=None), "running"),
        (traces({"out/a": Marker(NOON, "17")}, queue={"17": "PENDING Priority"}), "queued"),
        (traces({"out/a": Marker(NOON, "17")}, queue={"17": "RUNNING"}, processes=()), "running"),
        (traces({"out/a": Marker(NOON, "17")}, queue_known=True, processes=()), "cut off"),
        (traces({"out/a": Marker(NOON, "17")}, processes=()), "running"),
    ],
)
def test_a_job_that_began(folder, seen, state):
    for pending in (True, False):
        assert state_of(make("a", pending=pending), seen, {}) == state


def test_a_run_of_every_state(folder):
    jobs = [
        make("c", pending=False, missing=False, station="corpus", rule="build_corpus"),
        make("a"), make("b"), make("x"), make("d", pending=False, missing=False),
        make("f", station="figures", rule="make_psi_table"),
    ]  # fmt: skip
    benchmarks(folder / "benchmarks", {"train_retriever/d.tsv": [job(100)]})
    job_log(folder, "logs/mini/train_retriever/x.log", "11:59:00 no\n11:59:01 error: nan\n")
    run_log(folder, PLANNED + failed("train_retriever", "out/x", jobs[3].log, NOON))
    status = stand(folder, jobs, traces({"out/a": Marker(NOON - 40)}))
    assert status.counts == {
        "corpus": Counter(done=1),
        "training": Counter(done=1, running=1, pending=1, failed=1),
        "figures": Counter(pending=1),
    }
    # a has run for 40 of 100 seconds, b and x will take 100; on the four cores of the last run
    assert status.left["training"].core_seconds == 260 and status.all_left.longest == 100
    told = text(status)
    assert "process 7" in told and "0 of 4 steps" in told
    assert "train_retriever/a for 0:40" in told and "1:40+" in told
    assert "not counted, as no job of the same rule is done yet: 1 job (1 make_psi_table)" in told
    assert "Failed: train_retriever/x" in told and "died with <Signals.SIGKILL: 9>" in told
    assert "  | 11:59:01 error: nan" in told
    assert "results/mini 1.50 GB, downloads 0.00 GB; 2.0 GB free" in told
    assert max(map(len, told.splitlines())) < 140


def test_every_job_counts_once_and_every_station_stands_in_its_place(folder):
    jobs = [make(f"j{i}", station=("figures", "training")[i % 2]) for i in range(7)]
    status = stand(folder, jobs)
    assert list(status.counts) == ["training", "figures"]
    assert sum(sum(count.values()) for count in status.counts.values()) == 7


def test_a_killed_run(folder):
    lock(folder)
    mark(folder, "out/a")
    run_log(folder, PLANNED)
    status = stand(folder, [make("a"), make("b")])
    assert [job.name for job in status.of("cut off")] == ["train_retriever/a"]
    told = text(status)
    assert "snakemake --unlock" in told and "Cut off" in told
    assert "killed, or goes on elsewhere" in told


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (traces(locked=False), "No run is going on; none has been begun here."),
        (traces(), "A run is going on: process 7"),
        (traces(processes=None), "Processes cannot be seen here"),
        (
            traces(processes=(Process(9, ("python", "/x/.snakemake/scripts/t.py"), NOON),)),
            "its jobs go on (processes 9)",
        ),
    ],
)
def test_the_first_line_says_what_is_known(seen, words):
    assert words in run_line(seen, None, NOON)


def test_a_slurm_run_without_its_driver(folder):
    run_log(folder, PLANNED.replace("Provided cores: 4", "SLURM run ID: 1b2c"))
    markers = {"out/a": Marker(NOON, "17"), "out/b": Marker(NOON, "18")}
    seen = traces(
        markers,
        processes=(),
        queue={"17": "RUNNING", "18": "PENDING PartitionTimeLimit"},
        queue_known=True,
    )
    status = stand(folder, [make("a"), make("b")], seen)
    told = text(status)
    assert "scancel -n 1b2c" in told and "1 of them wait in SLURM's queue" in told
    assert "(1 PartitionTimeLimit; a job above a partition's limit never starts" in told
    assert status.cores == 1 and status.counts["training"] == Counter(running=1, queued=1)


def test_a_job_that_waits_its_turn_is_not_said_to_wait_for_ever(folder):
    run_log(folder, PLANNED.replace("Provided cores: 4", "SLURM run ID: 1b2c"))
    queue = {"17": "PENDING QOSMaxJobsPerUserLimit"}
    seen = traces({"out/a": Marker(NOON, "17")}, processes=(), queue=queue, queue_known=True)
    told = text(stand(folder, [make("a")], seen))
    assert "(1 QOSMaxJobsPerUserLimit)" in told and "never starts" not in told


def test_where_slurm_does_not_answer_its_jobs_are_not_forgotten(folder):
    run_log(folder, PLANNED.replace("Provided cores: 4", "SLURM run ID: 1b2c"))
    markers = {"out/a": Marker(NOON, "17")}
    told = text(stand(folder, [make("a")], traces(markers, processes=())))
    assert "scancel -n 1b2c where SLURM answers, snakemake --unlock" in told
    gone = traces(markers, processes=(), queue_known=True)
    assert "scancel" not in text(stand(folder, [make("a")], gone))


def test_a_failed_job_that_runs_again_is_running(folder):
    job_log(folder, "logs/mini/train_retriever/x.log", "11:59:00 no\n")
    run_log(folder, PLANNED + failed("train_retriever", "out/x", make("x").log, NOON))
    assert stand(folder, [make("x")], traces()).of("failed") == [make("x")]
    assert stand(folder, [make("x")], traces({"out/x": Marker(NOON)})).of("failed") == []
    made = make("x", missing=False)
    assert stand(folder, [made], traces()).of("pending") == [made], "it was made since"


def test_what_snakemake_would_pass_over_is_named(folder):
    job_log(folder, "logs/mini/train_retriever/x.log", "11:59:00 no\n")
    run_log(folder, PLANNED + failed("train_retriever", "out/x", make("x").log, NOON))
    status = stand(folder, [make("x", False), make("y", False)], traces(locked=False))
    assert status.of("failed") == [make("x", False)] and status.of("pending") == [make("y", False)]
    assert [job.name for job in status.lost()] == ["train_retriever/x", "train_retriever/y"]
    assert "add --forcerun train_retriever\n" in text(status)
    assert stand(folder, [make("x")], traces(locked=False)).lost() == [], "it is run again"


def test_what_is_passed_over_is_not_said_to_be_made_again(folder):
    """A forced job that was killed leaves a mark, and what was made from it before."""
    told = text(stand(folder, [make("x", False)], traces({"out/x": Marker(NOON)}, processes=())))
    assert "not made again by the next run" in told and "Cut off" not in told


def test_a_job_stopped_by_hand_is_cut_off(folder):
    words = "12:00:00 interrupted; the next run goes on from here\n"
    job_log(folder, "logs/mini/train_retriever/x.log", words)
    run_log(folder, PLANNED + failed("train_retriever", "out/x", make("x").log, NOON))
    assert stand(folder, [make("x")], traces(locked=False)).of("cut off") == [make("x")]


def test_nothing_to_make(folder):
    assert text(stand(folder, [])) == "Scale mini: everything: nothing to make.\n"


def test_many_jobs_are_listed_in_short(folder):
    jobs = [make(f"j{i}") for i in range(40)]
    seen = traces({f"out/j{i}": Marker(NOON) for i in range(40)}, processes=())
    told = text(stand(folder, jobs, seen))
    assert "… 28 more" in told and len(told.splitlines()) < 30


def test_the_record_is_json_and_says_the_same(folder):
    job_log(folder, "logs/mini/train_retriever/a.log", "11:59:59 train a 5/9 eta 0:30\n")
    status = stand(
        folder, [make("a"), make("b", False, False)], traces({"out/a": Marker(NOON - 40)})
    )
    told = json.loads(json.dumps(status_record("t", status, SIZES, 5, NOON)))
    (station,) = told["stations"]
    assert (station["done"], station["running"], station["cut_off"]) == (1, 1, 0)
    (running,) = told["running"]
    assert (running["job"], running["done"], running["total"]) == ("train_retriever/a", 5, 9)
    assert running["seconds_left"] == 29.0 and told["left"]["seconds"] == 29.0
    assert told["bytes"] == {"results/mini": 1_500_000_000, "downloads": 0, "free": 5}
    assert told["run"]["process"] == 7 and told["run"]["slurm_jobs"] is None
