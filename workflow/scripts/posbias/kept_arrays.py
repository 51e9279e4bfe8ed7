"""Arrays that a job keeps on disk for its next attempt; damaged ones are as good as none."""

import logging
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from posbias.files import whole_file

log = logging.getLogger(__name__)

# What reading raises of a file that a power cut has left empty, cut or torn.
UNREADABLE = (
    OSError, EOFError, KeyError, ValueError, NotImplementedError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def keep_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Write arrays by their names, whole or not at all."""
    with whole_file(path) as part, part.open("wb") as data:
        np.savez(data, **arrays)


def kept_arrays(path: Path, names: Iterable[str]) -> dict[str, np.ndarray] | None:
    """Return the arrays of these names; None, with a line in the log, of a file that is damaged."""
    try:
        with np.load(path, allow_pickle=False) as held:
            return {name: held[name] for name in names}
    except UNREADABLE as fault:
        log.warning("%s: cannot be read (%s); computing anew", path, fault)
        return None
