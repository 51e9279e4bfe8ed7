"""Marks, locks, processes, SLURM's queue: what is seen, and what is said to be unknown."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from posbias.report.run_traces import (
    Marker,
    Process,
    Traces,
    is_locked,
    processes_in,
    read_markers,
    read_traces,
    slurm_queue,
)
from run_traces_files import NOON, lock, mark

DRIVER = Process(7, ("/venv/bin/python", "/venv/bin/snakemake", "--cores", "2"), NOON)


def test_marks_give_back_the_names_of_outputs_however_long(tmp_path):
    names = ["results/mini/models/bert/begin", "a", "results/" + "x/ü" * 150, "b c.txt"]
    for name in names:
        mark(tmp_path, name, external="17")
    found = read_markers(tmp_path / ".snakemake/incomplete")
    assert found == {name: Marker(NOON, "17") for name in names}
    assert read_markers(tmp_path / "nowhere") == {}


def test_a_mark_that_is_being_written_counts_and_a_stray_file_does_not(tmp_path):
    mark(tmp_path, "a")
    folder = tmp_path / ".snakemake/incomplete"
    for path in folder.iterdir():
        path.write_text('{"exter')
    (folder / "migration_underway").touch()
    assert list(read_markers(folder)) == ["a"]


def test_a_lock_is_seen(tmp_path):
    assert not is_locked(tmp_path / ".snakemake/locks")
    lock(tmp_path)
    assert is_locked(tmp_path / ".snakemake/locks")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no /proc on this machine")
def test_a_process_in_the_folder_is_seen_with_its_command_and_start(tmp_path):
    script = tmp_path / ".snakemake/scripts/tmp1.train_retriever.py"
    script.parent.mkdir(parents=True)
    script.write_text("print('up', flush=True); input()")
    with subprocess.Popen(
        [sys.executable, str(script)], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        (found,) = processes_in(tmp_path)
        child.communicate(b"\n")
    assert found.number == child.pid and found.works and not found.drives
    assert abs(found.since - time.time()) < 60
    assert processes_in(tmp_path) == ()
    assert processes_in(tmp_path, tmp_path / "no_proc") is None


@pytest.mark.parametrize(
    ("command", "drives"),
    [
        ("/v/bin/python /v/bin/snakemake --cores 2", True),
        ("/v/bin/python -m snakemake --cores 2", True),
        ("/v/bin/python3 -m snakemake --snakefile S --mode remote", False),
        ("/v/bin/python workflow/scripts/status.py --targets [snakemake]", False),
        ("vim notes about snakemake", False),
    ],
)
def test_what_drives_a_run(command, drives):
    assert Process(1, tuple(command.split()), 0.0).drives is drives


def test_a_driver_needs_the_lock_and_runs_only_what_it_began():
    seen = Traces(True, {}, (DRIVER,))
    assert seen.driver == DRIVER and seen.orphans == ()
    assert seen.could_run(Marker(NOON + 1)) and not seen.could_run(Marker(NOON - 60))
    assert Traces(False, {}, (DRIVER,)).driver is None  # a dry run beside a finished one


def test_without_a_driver_jobs_are_orphans_or_cut_off():
    job = Process(9, ("python", "/x/.snakemake/scripts/tmp2.train_retriever.py"), NOON)
    killed = Traces(True, {}, (job,))
    assert killed.driver is None and killed.orphans == (job,)
    assert not Traces(True, {}, ()).could_run(Marker(NOON))
    assert not Traces(False, {}, None).could_run(Marker(NOON))


def test_what_cannot_be_seen_may_be_running():
    assert Traces(True, {}, None).could_run(Marker(NOON))
    assert Traces(True, {}, ()).could_run(Marker(NOON, "17")), "its driver may be elsewhere"
    answered = Traces(True, {}, (), {}, queue_known=True)
    assert not answered.could_run(Marker(NOON, "17")), "SLURM does not know it any more"


def fake_squeue(folder, monkeypatch, script):
    path = folder / "squeue"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_the_queue_is_asked_for_the_runs_by_name(tmp_path, monkeypatch):
    fake_squeue(
        tmp_path,
        monkeypatch,
        f'echo "$@" > {tmp_path}/asked; '
        r'printf "17|RUNNING|None\n18_2|PENDING|PartitionTimeLimit\n"',
    )
    assert slurm_queue(["run-b", "run-a", "run-b"]) == {
        "17": "RUNNING",
        "18_2": "PENDING PartitionTimeLimit",
    }
    assert "--name run-a,run-b" in (tmp_path / "asked").read_text()


@pytest.mark.parametrize("script", ["exit 1", "echo garbled; exit 3"])
def test_a_queue_that_does_not_answer_is_unknown(tmp_path, monkeypatch, script):
    fake_squeue(tmp_path, monkeypatch, script)
    assert slurm_queue(["run-a"]) is None
    assert read_traces(tmp_path, ["run-a"]).queue_known is False


def test_without_slurm_or_without_its_runs_nothing_is_asked(tmp_path, monkeypatch):
    fake_squeue(tmp_path, monkeypatch, f"touch {tmp_path}/asked")
    assert slurm_queue([]) is None and not (tmp_path / "asked").exists()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert slurm_queue(["run-a"]) is None
