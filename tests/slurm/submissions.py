"""What is run on the cluster, and by which command lines."""

import re
import signal
import subprocess
import time
from pathlib import Path

import yaml
from one_machine import Cluster
from runs import LIMIT, RESULTS, environment, snakemake, succeed

# One retriever on two benchmarks, so that a group has two jobs; steps enough to be killed within.
CHANGE = """\
training: {epochs: 2}
retrievers: {selected: [bert]}
analyses: {pooling: {retriever: bert, poolings: [cls]}}
"""
SETTINGS = ("begin", "middle", "end", "uniform")
BENCHMARKS = ("wiki_heldout", "wiki_fine")
EVALUATED = tuple(f"{RESULTS}/evaluation/{name}/bert/begin/measures.json" for name in BENCHMARKS)
TRAINED = f"{RESULTS}/models/bert/begin"
BEFORE_TRAINING = (
    *(f"{RESULTS}/balance/{setting}.jsonl" for setting in SETTINGS),
    *(f"{RESULTS}/benchmarks/{name}/corpus.jsonl" for name in BENCHMARKS),
)
# A site's own profile over ours: tests ask more often, and wait for no network file system.
SITE = {"slurm-init-seconds-before-status-checks": 3, "latency-wait": 5, "jobs": 10}


def locally(*targets: str) -> list[str]:
    """Return the command line of a run on this machine."""
    return snakemake(*targets, overlays=("change.yaml",))


def submitting(*targets: str) -> list[str]:
    """Return the command line of a run on the cluster; how many CPUs jobs get is in the profile."""
    command = locally(*targets)
    at = command.index("--cores")
    del command[at : at + 2]
    return [*command, "--profile", "profiles/slurm-a100", "--profile", "site"]


def write_site(copy: Path, **more: object) -> None:
    """Write the profile of a site into a copy; `more` replaces keys of profiles/slurm-a100."""
    (copy / "site").mkdir(exist_ok=True)
    (copy / "site/profile.yaml").write_text(yaml.safe_dump({**SITE, **more}))


def run_name(output: str) -> str:
    """Return the name that all jobs of a run have, which Snakemake prints at the start."""
    return re.search(r"SLURM run ID: (\S+)", output)[1]


def in_training(copy: Path) -> bool:
    """Say whether a training has left a state from which it can go on."""
    return any(copy.glob(f"{RESULTS}/resume/bert-*/*/checkpoint-*/posbias.json"))


def kill_driver_in_training(copy: Path) -> str:
    """Start a run on the cluster, kill its driver in the trainings; return the name of its jobs."""
    output = copy / "broken.txt"
    with output.open("w") as written:
        driver = subprocess.Popen(
            submitting(*EVALUATED),
            cwd=copy,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
        )
        limit = time.monotonic() + LIMIT
        while driver.poll() is None and not in_training(copy) and time.monotonic() < limit:
            time.sleep(0.05)
        driver.send_signal(signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL, output.read_text()[-4000:]
    return run_name(output.read_text())


def recover(copy: Path, cluster: Cluster, name: str) -> None:
    """Do what docs/cluster.md says to do after a driver died, up to the new run."""
    cluster.ask("scancel", "-n", name)
    limit = time.monotonic() + 60
    while cluster.queued(name):
        assert time.monotonic() < limit, "the jobs do not end"
        time.sleep(0.2)
    succeed(copy, *submitting("--unlock"), more=cluster.environment)
