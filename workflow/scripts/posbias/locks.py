"""Locks that end with their process, however it ends."""

import fcntl
import os
import socket
from pathlib import Path

from posbias.errors import PosbiasError


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
