"""A run cut off in the middle of training goes on where it stopped, to the same bytes."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from runs import (
    BENCHMARK,
    LIMIT,
    LISTWISE_FIGURES,
    RESULTS,
    differences,
    environment,
    namespace,
    snakemake,
    succeed,
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
    verdicts = ("claims.json", "claims.txt", "verify.json")
    take_away(copy, LISTWISE_FIGURES, *verdicts, *(f"listwise/{pattern}" for pattern in takes))
    return ()


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


def take_signals() -> None:
    """Hear Ctrl-C also where the tests run in a shell's background, which is deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupt(copy: Path, targets: tuple[str, ...], with_signal: signal.Signals) -> int:
    """Run, and send a signal to the run and its jobs once a training has left a state."""
    with (copy / "broken.txt").open("w") as output:
        driver = subprocess.Popen(
            [*namespace("--net"), *snakemake(*targets)],
            cwd=copy,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=take_signals,
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


def resumed(copy: Path, rule: str) -> list[str]:
    """Name the logs of a rule that tell of a state from which its job went on."""
    logs = (copy / "logs/shrunken" / rule).glob("*.log")
    return [log.name for log in logs if "resuming from" in log.read_text("utf-8")]


@pytest.mark.parametrize(
    ("rule", "begin", "with_signal"),
    [
        ("train_retriever", begin_retrievers, signal.SIGKILL),
        ("train_retriever", begin_retrievers, signal.SIGINT),
        ("train_reranker", begin_rerankers, signal.SIGKILL),
    ],
    ids=["kill", "ctrl-c", "kill reranker"],
)
def test_an_interrupted_run_goes_on_to_the_same_bytes(
    reference, finished, rule, begin, with_signal
):
    targets = begin(finished)
    code = interrupt(finished, targets, with_signal)
    assert code != 0, "the run ended before it could be interrupted"
    assert whole_state(finished), "the states to resume from are gone"
    if with_signal == signal.SIGKILL:
        succeed(finished, *snakemake("--unlock"))
    succeed(finished, *snakemake(*targets))
    assert resumed(finished, rule) != []
    assert not [p for p in (finished / RESULTS / "resume").rglob("*") if p.is_file()]
    assert differences(reference, finished) == []
