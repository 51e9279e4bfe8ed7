"""Locks that end with their process, however it ends: two runs never write the same state."""

import contextlib
import fcntl
import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from posbias.errors import PosbiasError
from posbias.files import named_disk_faults

log = logging.getLogger(__name__)


class LockedError(PosbiasError):
    """Another process writes to the same file or folder."""


class NoLocksError(PosbiasError):
    """The file system knows no locks."""


def take_lock(path: Path, locked: Path) -> int:
    """Lock the file `path`, write who we are into it, and return its descriptor: closing unlocks.

    locked: what the lock is for, to be named in faults. Raises LockedError at once if another
    process holds the lock, NoLocksError where the file system has none.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            owner = os.read(descriptor, 200).decode("utf-8", "replace").strip() or "unknown"
            os.close(descriptor)
            raise LockedError(
                f"{locked}: another run (process {owner}) is writing to it; wait for its end or "
                "stop it, then run again."
            ) from fault
        except OSError as fault:
            os.close(descriptor)
            raise NoLocksError(
                f"{path}: this file system has no locks ({fault.strerror})"
            ) from fault
        if _is_there(path, descriptor):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()} on {socket.gethostname()}".encode())
            return descriptor
        os.close(descriptor)  # its last owner removed the file between our two steps


def _is_there(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep a folder of states to one process, by a lock file beside it that is removed at the end.

    Raises LockedError if another process holds it. Where the file system has no locks a warning
    is all.
    """
    folder = Path(folder)
    path = folder.with_name(f".{folder.name}.lock")
    descriptor = None
    with named_disk_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = take_lock(path, folder)
        except NoLocksError as fault:
            log.warning("%s: a second run of this job would not be noticed", fault)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        if descriptor is not None:
            os.close(descriptor)
