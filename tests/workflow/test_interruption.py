"""A run cut off in the middle of training goes on where it stopped, to the same bytes."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from runs import (
    BENCHMARK,
    LIMIT,
    LISTWISE_FIGURES,
    RESULTS,
    differences,
    environment,
    fail,
    hashes,
    namespace,
    snakemake,
    succeed,
    write_overlay,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

TABLE = ("figures/psi_table.pdf",)
RETRIEVERS = ("bert", "tinyllama_nope")


def take_away(copy: Path, figures: tuple[str, ...], *patterns: str) -> None:
    """Take results away by their patterns, with figures."""
    found = [p for pattern in patterns for p in (copy / RESULTS).glob(pattern)]
    found += [p for name in figures for p in (copy / "figures").glob(f"{name}.*")]
    for path in found:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def begin_retrievers(copy: Path) -> tuple[str, ...]:
    """Take the table of the retriever study away, and all it needs from the training on."""
    results = copy / RESULTS
    for retriever in RETRIEVERS:
        shutil.rmtree(results / "models" / retriever)
        shutil.rmtree(results / "search" / retriever / BENCHMARK)
        shutil.rmtree(results / "evaluation" / BENCHMARK / retriever)
    take_away(copy, ("psi_table",), "truncation/*")
    return TABLE


def begin_rerankers(copy: Path) -> tuple[str, ...]:
    """Take one reranker away, and everything that comes after it."""
    takes = ("models/debiasfirst", "evaluation/*/debiasfirst.*", "measures.json")
    verdicts = ("claims.json", "claims.txt", "claims.html", "verify.json")
    take_away(copy, LISTWISE_FIGURES, *verdicts, *(f"listwise/{pattern}" for pattern in takes))
    return ()


def whole_state(copy: Path) -> bool:
    """Say whether a training has left a state from which it can go on."""
    return any(copy.glob(f"{RESULTS}/resume/*/*/checkpoint-*/posbias.json"))


def at_work(copy: Path) -> list[int]:
    """Return the processes whose working directory is the copy, where the system tells."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink() == copy.resolve():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def take_signals() -> None:
    """Hear Ctrl-C also where the tests run in a shell's background, which is deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(copy: Path, *command: str, more: dict[str, str] | None = None) -> subprocess.Popen:
    """Start a command in a copy, whose output goes to `broken.txt`.

    more: environment variables for a server on this machine, which the command can then reach.
    """
    with (copy / "broken.txt").open("a") as output:
        return subprocess.Popen(
            [*(() if more else namespace("--net")), *command],
            cwd=copy,
            env=environment() | (more or {}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=take_signals,
        )


def wait_until(copy: Path, driver: subprocess.Popen, ready: Callable[[Path], bool]) -> None:
    """Wait until a copy is in the state that is meant, while the driver runs."""
    limit = time.monotonic() + LIMIT
    while not ready(copy) and time.monotonic() < limit:
        said = (copy / "broken.txt").read_text()[-4000:]
        assert driver.poll() is None, f"the run ended before it could be interrupted\n{said}"
        time.sleep(0.01)


def wait_for_jobs(copy: Path) -> None:
    """Wait until no process is at work in a copy."""
    limit = time.monotonic() + LIMIT
    while at_work(copy) and time.monotonic() < limit:
        time.sleep(0.1)
    assert at_work(copy) == []


def interrupt(
    copy: Path, driver: subprocess.Popen, with_signal: signal.Signals, alone: bool
) -> None:
    """Send a signal to a driver, and, unless to it alone, to its jobs as a terminal would.

    After a driver that was killed alone, its jobs are still at work and are ended, as
    docs/recovery.md says.
    """
    if not alone:
        os.killpg(driver.pid, with_signal)
    else:
        driver.send_signal(with_signal)
    assert driver.wait(timeout=120) != 0, "the run ended before it could be interrupted"
    if alone:
        orphans = at_work(copy)
        assert orphans != []
        for process in orphans:
            os.kill(process, signal.SIGTERM)
    wait_for_jobs(copy)


def resumed(copy: Path, rule: str) -> list[str]:
    """Name the logs of a rule that tell of a state from which its job went on."""
    logs = (copy / "logs/shrunken" / rule).glob("*.log")
    return [log.name for log in logs if "resuming from" in log.read_text("utf-8")]


@pytest.mark.parametrize(
    ("rule", "begin", "with_signal", "alone"),
    [
        ("train_retriever", begin_retrievers, signal.SIGKILL, True),
        ("train_retriever", begin_retrievers, signal.SIGINT, False),
        ("train_reranker", begin_rerankers, signal.SIGKILL, False),
    ],
    ids=["kill the driver", "ctrl-c", "kill all, reranker"],
)
def test_an_interrupted_run_goes_on_to_the_same_bytes(
    reference, finished, rule, begin, with_signal, alone
):
    targets = begin(finished)
    driver = start(finished, *snakemake(*targets))
    wait_until(finished, driver, whole_state)
    interrupt(finished, driver, with_signal, alone)
    assert whole_state(finished), "the states to resume from are gone"
    if with_signal == signal.SIGKILL:
        succeed(finished, *snakemake("--unlock"))
    succeed(finished, *snakemake(*targets))
    assert resumed(finished, rule) != []
    assert not [p for p in (finished / RESULTS / "resume").rglob("*") if p.is_file()]
    assert differences(reference, finished) == []


def test_a_killed_evaluation_of_a_reranker_goes_on_to_the_same_bytes(finished):
    """Window by window and with many orders, it takes seconds even at this size."""
    name = f"{RESULTS}/listwise/evaluation/orders/debiasfirst"
    outputs = [f"{name}{ending}" for ending in (".parquet", ".stability.parquet", ".json")]
    change = "listwise: {batch_size: 1, evaluation: {orders: {shuffles: 60}}}"
    command = snakemake(
        *outputs, "--allowed-rules", "evaluate_orders",
        overlays=(write_overlay(finished, change),),
    )  # fmt: skip
    succeed(finished, *command)
    unbroken = hashes(finished, f"{RESULTS}/listwise/evaluation/orders")
    for output in outputs:
        (finished / output).unlink()
    driver = start(finished, *command)
    wait_until(finished, driver, lambda copy: any(copy.glob(f"{RESULTS}/resume/orders-*/*/*.npz")))
    interrupt(finished, driver, signal.SIGKILL, alone=False)
    assert not any((finished / output).exists() for output in outputs)
    succeed(finished, *snakemake("--unlock"))
    succeed(finished, *command)
    assert resumed(finished, "evaluate_orders") == ["debiasfirst.log"]
    assert hashes(finished, f"{RESULTS}/listwise/evaluation/orders") == unbroken
    assert not [p for p in (finished / RESULTS / "resume").rglob("*") if p.is_file()]


def begin_one_training(copy: Path) -> str:
    """Take one retriever away that nothing else is made from, and return its name."""
    name = f"{RESULTS}/models/bert/begin"
    shutil.rmtree(copy / name)
    return name


def test_of_two_runs_that_start_at_once_one_is_turned_away(reference, finished):
    target = begin_one_training(finished)
    command = snakemake(target)
    drivers = [start(finished, *command) for _ in range(2)]
    codes = [driver.wait(timeout=LIMIT) for driver in drivers]
    said = (finished / "broken.txt").read_text()
    assert sorted(codes) == [0, 1], said[-4000:]
    assert said.count("LockException") == 1 and "Directory cannot be locked" in said
    assert hashes(finished, target) == hashes(reference, target) != {}


def test_a_run_that_was_unlocked_by_mistake_is_not_spoilt_by_a_second_one(reference, finished):
    """`--unlock` does not ask whether the run is dead; its jobs then do."""
    target = begin_one_training(finished)
    first = start(finished, *snakemake(target))
    wait_until(finished, first, whole_state)
    os.killpg(first.pid, signal.SIGSTOP)  # it must not end before the second begins
    succeed(finished, *snakemake("--unlock"))
    said = fail(finished, *snakemake(target))
    log = (finished / "logs/shrunken/train_retriever/bert-begin.log").read_text("utf-8")
    for text in (said, log):
        assert "resume/bert-begin: another run (process " in text
    os.killpg(first.pid, signal.SIGCONT)
    assert first.wait(timeout=LIMIT) == 0, (finished / "broken.txt").read_text()[-4000:]
    assert hashes(finished, target) == hashes(reference, target) != {}
