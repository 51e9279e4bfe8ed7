"""Copies of the checkout in which tests run the workflow, and what such a run says."""

import contextlib
import csv
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SHRUNKEN = "tests/workflow/shrunken.yaml"
RESULTS = "results/shrunken"
LIMIT = 900  # seconds that one command may take on a busy machine
# Of the retriever study: figures that name retrievers, and those about data alone.
RETRIEVER_TABLES = (
    "psi_table", "fine_psi_table", "truncation", "retrievers_table", "training_table",
    "standard_table", "standard_mean_table", "evidence_moving", "evidence_moving_short",
    "reversal_table",
)  # fmt: skip
DATA_TABLES = ("pool_table", "filter_table", "audit_table")
RETRIEVER_CURVES = (
    "position_curves", "pooling_curves", "fine_position_curves", "segment_cosine",
    "segment_cosine_pair",
)  # fmt: skip
RETRIEVER_FIGURES = (
    *RETRIEVER_TABLES, *DATA_TABLES, *RETRIEVER_CURVES, "evidence_places", "paper_vs_ours",
)  # fmt: skip
BENCHMARK = "wiki_heldout"
LISTWISE_FIGURES = tuple(
    f"listwise_{item}"
    for item in (
        "causal_graph", "propensity", "training_positions", "coverage", "position_curves",
        "permutations", "ablation_curves", "table1", "table2", "table3",
    )
)  # fmt: skip
MADE_BY_RUNS = ("results", "figures", "logs", "benchmarks", "htmlcov")


def copy_checkout(root: Path, target: Path) -> Path:
    """Copy the files that git knows or would add; without git, all but what runs and tools make.

    The copy has no history, so figures name no commit and every copy's are the same.
    """
    git = ["git", "-C", str(root), "ls-files", "-coz", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True) if shutil.which("git") else None
    if listed is None or listed.returncode:

        def ignored(folder: str, names: list[str]) -> set[str]:
            made = set(MADE_BY_RUNS) if Path(folder) == root else set()
            return {n for n in names if n in made or n == "__pycache__" or re.match(r"\.[^c]", n)}

        shutil.copytree(root, target, ignore=ignored)
        return target
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)
    return target


def environment() -> dict[str, str]:
    """Return the environment of a run: this interpreter's programs first, nothing fetched."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    return {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', os.defpath)}",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "MPLBACKEND": "Agg",
    }


@functools.cache
def namespace(*flags: str) -> tuple[str, ...]:
    """Return what to put before a command to give it namespaces of its own; empty if not allowed.

    flags: of `unshare`, such as --net (no network) and --mount (own mounts).
    """
    for command in (("unshare", *flags), ("unshare", "--map-root-user", *flags)):
        if not shutil.which("unshare"):
            break
        if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return command
    return ()


@contextlib.contextmanager
def lent_copy(source: Path, copy: Path):
    """Yield a copy of a folder and remove it afterwards: the copies of a session are large."""
    shutil.copytree(source, copy)
    try:
        yield copy
    finally:
        shutil.rmtree(copy)


def run(
    copy: Path, *command: str, limit: float = LIMIT, more: dict[str, str] | None = None
) -> subprocess.CompletedProcess:
    """Run a command in a copy, without a network where possible; errors join the output.

    limit: seconds. more: environment variables for a server on this machine, which the command
    can then reach.
    """
    return subprocess.run(
        [*(() if more else namespace("--net")), *command],
        cwd=copy,
        env=environment() | (more or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=limit,
    )


def snakemake(*options: str, overlays: tuple[str, ...] = (), cores: int = 2) -> list[str]:
    """Return a shrunken run's command line; `options` (targets first) stand before the overlays."""
    return ["snakemake", *options, "--cores", str(cores), "--configfile", SHRUNKEN, *overlays]


def succeed(
    copy: Path, *command: str, limit: float = LIMIT, more: dict[str, str] | None = None
) -> str:
    """Run a command in a copy and return its output; fail with the output's end otherwise."""
    done = run(copy, *command, limit=limit, more=more)
    assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout[-6000:]}"
    return done.stdout


def fail(copy: Path, *command: str) -> str:
    """Run a command that must fail, with a message and not a traceback; return its output."""
    done = run(copy, *command)
    assert done.returncode != 0, f"{' '.join(command)}\n{done.stdout[-6000:]}"
    assert "Traceback" not in done.stdout, done.stdout[-6000:]
    return done.stdout


def jobs(output: str) -> dict[str, int]:
    """Return the number of jobs of each rule from Snakemake's table of them, empty without one."""
    table = re.search(r"^Job stats:\njob +count\n[- ]+\n((?:\w+ +\d+\n)+)", output, re.MULTILINE)
    rows = [line.split() for line in table[1].splitlines()] if table else []
    return {rule: int(count) for rule, count in rows if rule != "total"}


def write_overlay(copy: Path, text: str, name: str = "change.yaml") -> str:
    """Write a configuration overlay into a copy and return its name."""
    (copy / name).write_text(text, encoding="utf-8")
    return name


def hashes(copy: Path, *folders: str) -> dict[str, str]:
    """Return the SHA-256 of every file below some folders of a copy, by its name in the copy."""
    return {
        path.relative_to(copy).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in sorted((copy / folder).rglob("*"))
        if path.is_file()
    }


def csv_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file, all values as text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# What a run took is told in these, so that no two runs have the same.
TIMED = (f"{RESULTS}/provenance.json", "figures/checklist.md")


def differences(one: Path, other: Path) -> list[str]:
    """Name the files of results and figures that two copies do not share byte for byte.

    Files that tell how long a run took are passed over.
    """
    found = [hashes(copy, RESULTS, "figures") for copy in (one, other)]
    found = [{name: of[name] for name in of if name not in TIMED} for of in found]
    return sorted(
        name
        for name in found[0].keys() | found[1].keys()
        if found[0].get(name) != found[1].get(name)
    )
