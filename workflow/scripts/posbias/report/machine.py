"""The machine and the packages of a run, as far as they can be told; None for what cannot."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

GPU_QUERY = ["--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
GPU_FIELDS = ("name", "memory", "driver")
PATIENCE = 30  # seconds
ASKED, ABSENT, FAILED = (
    "asked of nvidia-smi",
    "nvidia-smi is not on the search path",
    "nvidia-smi was asked and failed",
)


def cpu_model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str | None:
    """Return the name of the processor."""
    if cpuinfo.is_file():
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
        named = re.search(r"^model name\s*:\s*(\S.*)$", text, re.MULTILINE)
        if named:
            return named[1].strip()
    return platform.processor() or None


def memory_bytes() -> int | None:
    """Return the bytes of main memory."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def usable_cores() -> int | None:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count()


def gpus() -> tuple[list[dict[str, str]] | None, str]:
    """Return name, memory and driver of each NVIDIA GPU, and how they were looked for.

    Without the driver's program there is none that a job could use; None where it fails.
    """
    program = shutil.which("nvidia-smi")
    if program is None:
        return [], ABSENT
    try:
        told = subprocess.run(
            [program, *GPU_QUERY], capture_output=True, text=True, timeout=PATIENCE, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None, FAILED
    rows = [[part.strip() for part in line.split(",")] for line in told.stdout.splitlines()]
    found = [dict(zip(GPU_FIELDS, row, strict=True)) for row in rows if len(row) == len(GPU_FIELDS)]
    return found, ASKED


def system_text() -> str:
    """Return the system and the number of its kernel's version, less what its builder appends."""
    version = re.match(r"\d+(\.\d+)*", platform.release())
    return f"{platform.system()} {version[0] if version else ''}".strip()


def machine() -> dict[str, Any]:
    """Return processor, cores, memory, GPUs, system and Python of this machine; no names of it."""
    found, how = gpus()
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        "memory_bytes": memory_bytes(),
        "gpus": found,
        "gpus_looked_for": how,
        "system": system_text(),
        "architecture": platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def pinned(lock: Path) -> dict[str, str]:
    """Return the versions that a lock file pins, as "name==version" lines, by name."""
    lines = Path(lock).read_text(encoding="utf-8").splitlines()
    found = (re.match(r"([\w.-]+)\s*==\s*([^\s;#]+)", line.strip()) for line in lines)
    return {match[1]: match[2] for match in found if match}


def installed(name: str) -> str | None:
    """Return the version of an installed package."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def versions_of(names: Iterable[str], lock: Path) -> dict[str, str]:
    """Return the installed version of packages, or else the one that a lock pins, by name.

    What neither knows is left out; "-", "_" and "." and case make no other name.
    """
    pins = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pinned(lock).items()}
    told = {
        name: installed(name) or pins.get(re.sub(r"[-_.]+", "-", name).lower()) for name in names
    }
    return {name: version for name, version in told.items() if version}


def packages(lock: Path, beyond: tuple[str, ...] = ("torch",)) -> list[dict[str, str | None]]:
    """Return name, pinned and installed version of what a lock names, and of packages `beyond` it.

    Installed is None for what the environment of this process lacks.
    """
    pins = dict.fromkeys(beyond) | pinned(lock)
    return [
        {"name": name, "pinned": pins[name], "installed": installed(name)} for name in sorted(pins)
    ]
