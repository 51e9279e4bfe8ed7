"""States from which a long job goes on: of one process at a time, and of one origin."""

import contextlib
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from posbias.errors import PosbiasError
from posbias.files import named_disk_faults, write_text
from posbias.locks import NoLocksError, take_lock

log = logging.getLogger(__name__)

ORIGIN = "origin"  # the file in a folder of states that says what they came from


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
        raise PosbiasError(f"{path}: {fault.strerror}; remove it and run again.") from fault
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        if descriptor is not None:
            os.close(descriptor)


def of_one_origin(folder: Path, origin: str) -> None:
    """Remove states that came of other code or other inputs, which would be mixed with new ones.

    origin: a line that changes whenever code or inputs do. It is noted in the folder.
    """
    note = Path(folder) / ORIGIN
    if Path(folder).is_dir() and any(Path(folder).iterdir()):
        if note.is_file() and note.read_text("utf-8") == origin:
            return
        log.info("%s: states of other code or inputs; starting anew", folder)
        shutil.rmtree(folder)
    write_text(note, origin)
