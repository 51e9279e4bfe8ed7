"""States from which a long job goes on: of one process at a time, and of one origin."""

import contextlib
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from posbias.errors import DataError, PosbiasError
from posbias.files import named_disk_faults, read_json, sha256_file, write_json
from posbias.locks import NoLocksError, take_lock

log = logging.getLogger(__name__)

ORIGIN = "origin.json"  # in a folder of states: what they came from
STAMP = ".snakemake_timestamp"  # which Snakemake writes into folders
HASHED = 64 * 2**20  # bytes of a file that is hashed at each start of a job


def _lock(path: Path, folder: Path) -> int | None:
    try:
        return take_lock(path, folder)
    except NoLocksError as fault:
        log.warning("%s: a second run of this job would not be noticed", fault)
        return None


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep a folder of states to one process, by a lock file beside it that is removed at the end.

    Raises LockedError if another process holds it. Where the file system has no locks a warning
    is all.
    """
    folder = Path(folder)
    path = folder.with_name(f".{folder.name}.lock")
    try:
        with named_disk_faults(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = _lock(path, folder)
    except OSError as fault:  # something of that name that is no file or folder
        place = fault.filename or path
        raise PosbiasError(f"{place}: {fault.strerror}; remove it and run again.") from fault
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        if descriptor is not None:
            os.close(descriptor)


def contents(path: Path) -> list[tuple[str, int, str | int]]:
    """Return name, size and SHA-256 of a file, or of each file of a folder.

    Of a file that is large, the time of its change stands for its hash.
    """
    path = Path(path)
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return [
        (
            file.relative_to(path.parent).as_posix(),
            (size := file.stat().st_size),
            sha256_file(file) if size <= HASHED else file.stat().st_mtime_ns,
        )
        for file in files
        if file.is_file() and file.name != STAMP
    ]


def of_one_origin(folder: Path, origin: dict[str, str]) -> None:
    """Remove states that came of other code or other inputs, which would be mixed with new ones.

    origin: hashes by the names of what the states rest on. It is noted in the folder.
    """
    folder = Path(folder)
    note = folder / ORIGIN
    if folder.is_dir() and any(folder.iterdir()):
        noted = _noted(note)
        if noted == origin:
            return
        other = [name for name in origin if noted.get(name) != origin[name]]
        log.info("%s: made with other %s; starting anew", folder, ", ".join(other) or "things")
    with contextlib.suppress(FileNotFoundError):
        folder.unlink() if folder.is_symlink() or folder.is_file() else shutil.rmtree(folder)
    write_json(note, origin)


def _noted(note: Path) -> dict[str, str]:
    try:
        noted = read_json(note)
    except (DataError, OSError):
        return {}
    return noted if isinstance(noted, dict) else {}
