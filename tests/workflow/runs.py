"""Copies of the checkout in which tests run the workflow, and what such a run says."""

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

SHRUNKEN = "tests/workflow/shrunken.yaml"
RESULTS = "results/shrunken"
NOT_COPIED = shutil.ignore_patterns(
    ".*", "__pycache__", "results", "figures", "logs", "benchmarks", "htmlcov"
)


def copy_checkout(root: Path, target: Path) -> Path:
    """Copy the files that git knows or would add to `target`; without git, all but what runs make.

    The copy has no history, so that figures say "commit unknown" in every one of them.
    """
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-coz", "--exclude-standard"], capture_output=True
    ) if shutil.which("git") else None  # fmt: skip
    if listed is None or listed.returncode:
        shutil.copytree(root, target, ignore=NOT_COPIED)
        shutil.copytree(root / "profiles", target / "profiles", dirs_exist_ok=True)
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
        "NO_COLOR": "1",
    }


@functools.cache
def namespace(*flags: str) -> tuple[str, ...] | None:
    """Return the command that runs another in a namespace of its own, None where not permitted."""
    for command in (("unshare", *flags), ("unshare", "-r", *flags)):
        if (
            shutil.which("unshare")
            and not subprocess.run([*command, "true"], capture_output=True).returncode
        ):
            return command
    return None


def offline() -> tuple[str, ...]:
    """Return what to put before a command to take its network away, nothing where not permitted."""
    return namespace("-n") or ()


def run(copy: Path, *command: str, before: tuple[str, ...] | None = None, timeout: float = 600):
    """Run a command in a copy, without network if possible; output and errors come as one text."""
    return subprocess.run(
        [*(offline() if before is None else before), *command],
        cwd=copy,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=timeout,
    )
