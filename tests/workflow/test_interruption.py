"""A run cut off in the middle of training goes on where it stopped, to the same bytes."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from runs import LIMIT, RESULTS, differences, environment, namespace, snakemake, succeed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def begin_training(copy: Path) -> None:
    """Take everything away that comes after the training sets."""
    for folder in ("models", "evaluation", "benchmark"):
        shutil.rmtree(copy / RESULTS / folder)
    for name in ("claims.json", "claims.txt", "verify.json"):
        (copy / RESULTS / name).unlink()
    for figure in (copy / "figures").glob("*.*"):
        if figure.name != "README.md":
            figure.unlink()


def whole_state(copy: Path) -> bool:
    """Say whether a training has left a state from which it can go on."""
    return any(
        (folder / "trainer_state.json").exists() and (folder / "rng_state.pth").exists()
        for folder in copy.glob(f"{RESULTS}/resume/*/*/checkpoint-*")
    )


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


def interrupt(copy: Path, with_signal: signal.Signals) -> int:
    """Run, and send a signal to the run and its jobs once a training has left a state."""
    with (copy / "broken.txt").open("w") as output:
        driver = subprocess.Popen(
            [*namespace("--net"), *snakemake()],
            cwd=copy,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        limit = time.monotonic() + LIMIT
        while driver.poll() is None and not whole_state(copy) and time.monotonic() < limit:
            time.sleep(0.01)
        try:
            os.killpg(driver.pid, with_signal)
            code = driver.wait(timeout=120)
        except (ProcessLookupError, subprocess.TimeoutExpired) as fault:
            pytest.fail(f"{fault!r}\n{(copy / 'broken.txt').read_text()[-4000:]}")
    while at_work(copy) and time.monotonic() < limit:
        time.sleep(0.1)
    assert at_work(copy) == []
    return code


def resumed(copy: Path) -> list[str]:
    logs = (copy / "logs/shrunken/train_retriever").glob("*.log")
    return [log.name for log in logs if "resuming from" in log.read_text("utf-8")]


@pytest.mark.parametrize("with_signal", [signal.SIGKILL, signal.SIGINT], ids=["kill", "ctrl-c"])
def test_an_interrupted_run_goes_on_to_the_same_bytes(reference, finished, with_signal):
    begin_training(finished)
    code = interrupt(finished, with_signal)
    assert code != 0, "the run ended before it could be interrupted"
    assert whole_state(finished), "the states to resume from are gone"
    if with_signal == signal.SIGKILL:
        succeed(finished, *snakemake("--unlock"))
    succeed(finished, *snakemake())
    assert resumed(finished) != []
    assert not [p for p in (finished / RESULTS / "resume").rglob("*") if p.is_file()]
    assert differences(reference, finished) == []
