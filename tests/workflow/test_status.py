"""The status of a real run: going on, killed, cut off, failed; and that it touches nothing."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from runs import (
    LIMIT,
    RESULTS,
    SHRUNKEN,
    environment,
    fail,
    jobs,
    namespace,
    snakemake,
    succeed,
    write_overlay,
)
from test_interruption import at_work

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

TARGET = f"{RESULTS}/models/bert/begin"
JOB = "train_retriever/bert-begin"
LONG = "training: {epochs: 150, save_every: 500}\n"


def status(copy: Path, *overlays: str, targets: tuple[str, ...] = ()) -> tuple[str, dict]:
    """Return what the command says of a copy, in words and as a record."""
    configs = f"[config.yaml, {', '.join((SHRUNKEN, *overlays))}]"
    wanted = ("--targets", json.dumps(targets)) if targets else ()
    place = copy.parent / "status.json"
    command = ("python", "workflow/scripts/status.py", "--configs", configs, *wanted)
    said = succeed(copy, *command, "--json", str(place))
    return said, json.loads(place.read_text("utf-8"))


def station(told: dict, name: str) -> dict[str, int]:
    """Return the jobs of a station by state, without those that are none."""
    (found,) = (one for one in told["stations"] if one["station"] == name)
    return {state: n for state, n in found.items() if isinstance(n, int) and n}


def state_of_files(copy: Path) -> dict[str, tuple[int, int]]:
    """Return time and size of every file that a run or Snakemake keeps in a copy."""
    return {
        str(path): (path.lstat().st_mtime_ns, path.lstat().st_size)
        for folder in (".snakemake", "results", "figures", "logs", "benchmarks")
        for path in sorted((copy / folder).rglob("*"))
        if not path.is_dir()
    }


def progressed(copy: Path) -> bool:
    """Say whether the training has told a step."""
    return any(p.stat().st_size for p in copy.glob(f"{RESULTS}/resume/*/*/progress.jsonl"))


def test_of_a_finished_run_all_is_done_and_nothing_is_touched(reference):
    before = state_of_files(reference)
    said, told = status(reference)
    assert state_of_files(reference) == before
    ran = jobs((reference / "run.txt").read_text("utf-8"))
    assert sum(one["done"] for one in told["stations"]) == sum(ran.values()) - ran["all"]
    assert not any(told[key] for key in ("running", "cut_off", "failed"))
    assert told["left"] == {"seconds": 0, "without": []} and "No run is going on" in said
    names = [one["station"] for one in told["stations"]]
    assert names == [name for name in ORDER if name in names] and len(names) > 15
    size = sum(p.stat().st_size for p in (reference / RESULTS).rglob("*") if p.is_file())
    assert told["bytes"][RESULTS] == size


ORDER = (
    "downloads", "encoders", "corpus", "queries", "verification", "balance", "training",
    "benchmarks", "evaluation", "analyses", "listwise_data", "listwise_training",
    "listwise_evaluation", "release", "figures", "curves", "data_tables", "standard_tables",
    "representation_figures", "listwise_figures", "verdicts", "comparison", "checklist",
)  # fmt: skip


def test_a_run_is_followed_until_it_is_cut_off(finished):
    overlay = write_overlay(finished, LONG)
    with (finished / "long.txt").open("w") as output:
        driver = subprocess.Popen(
            [*namespace("--net"), *snakemake(TARGET, overlays=(overlay,))],
            cwd=finished,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        limit = time.monotonic() + LIMIT
        while not progressed(finished) and driver.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
        said, told = status(finished, overlay, targets=(TARGET,))
        assert driver.poll() is None, (finished / "long.txt").read_text()[-4000:]
        assert told["run"]["process"] == driver.pid and told["run"]["steps"] == [0, 1]
        (running,) = told["running"]
        assert running["job"] == JOB and 0 < running["done"] < running["total"]
        assert running["seconds_left"] > 0 and JOB in said
        assert station(told, "training") == {"running": 1}

        driver.kill()
        driver.wait()
        said, told = status(finished, overlay, targets=(TARGET,))
        assert told["run"]["process"] is None and "its jobs go on" in said
        orphans = told["run"]["jobs_without_driver"]
        assert orphans and set(orphans) <= set(at_work(finished))
    finally:
        for process in at_work(finished):
            os.kill(process, signal.SIGKILL)
    while at_work(finished) and time.monotonic() < limit:
        time.sleep(0.1)

    before = state_of_files(finished)
    said, told = status(finished, overlay, targets=(TARGET,))
    assert state_of_files(finished) == before
    assert told["cut_off"] == [JOB] and station(told, "training") == {"cut_off": 1}
    assert "snakemake --unlock" in said and told["run"]["locked"]
    assert station(told, "balance") == {"done": 1}


def test_a_failed_job_is_shown_with_the_last_lines_of_its_log(finished):
    overlay = write_overlay(finished, "balance: {least: 100000}\n")
    fail(finished, *snakemake(TARGET, overlays=(overlay,)))
    said, told = status(finished, overlay, targets=(TARGET,))
    (failed,) = told["failed"]
    log = finished / "logs/shrunken/balance_settings.log"
    assert failed["job"] == "balance_settings" and "exit status 1" in failed["ended"]
    assert failed["lines"] and failed["lines"][-1] == log.read_text("utf-8").splitlines()[-1]
    assert failed["lines"][-1] in said
    assert station(told, "balance") == {"failed": 1}
    # What was trained before is still there, and is to be made anew all the same.
    assert told["lost"] == [] and station(told, "training") == {"pending": 1}


def test_a_wrong_configuration_is_named(fresh):
    overlay = write_overlay(fresh, "balnce: {least: 1}\n")
    configs = f"[config.yaml, {SHRUNKEN}, {overlay}]"
    output = fail(fresh, "python", "workflow/scripts/status.py", "--configs", configs)
    assert "balnce" in output
