"""A tape of the scores of windows, from which a killed evaluation goes on.

An evaluation asks for the same windows in the same order each time that it runs. So what a killed
one had scored is played back in that order, and only the rest is computed.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from posbias.files import content_hash, files_state
from posbias.kept_arrays import keep_arrays, kept_arrays

log = logging.getLogger(__name__)

SECONDS = 5.0  # of scoring that a kill may cost at most, beside the batch under way
# What a language model counts while it reads windows; see systems.reading_record.
COUNTED = ("windows_read", "answers_off_letters", "windows_shortened")

Windows = tuple[np.ndarray, np.ndarray]  # rows of queries (B,) and of passages (B, k)


def _digest(who: str, windows: Windows) -> bytes:
    queries, passages = (part.astype("<i8").tobytes() for part in windows)
    whole = b"\0".join((who.encode("utf-8"), str(windows[1].shape).encode(), queries, passages))
    return hashlib.blake2b(whole, digest_size=16).digest()


class ScoreTape:
    """Plays back the scores of batches of windows in the order in which they were recorded.

    folder: of this tape alone; its name must change whenever any score could. Pieces of the tape
    are files that appear whole. Where another batch is asked for than was recorded, or a piece is
    damaged, the rest of the tape is dropped and recorded anew.
    """

    def __init__(
        self,
        folder: Path,
        seconds: float = SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder, self.seconds, self.now = Path(folder), seconds, now
        self.played = 0  # batches
        self._pieces = 0  # read or written so far
        self._recorded: Iterator[tuple[bytes, np.ndarray, list[int]]] | None = self._read()
        self._new: list[tuple[bytes, np.ndarray, list[int]]] = []
        self._last = now()

    def _piece(self, number: int) -> Path:
        return self.folder / f"{number:06d}.npz"

    def _read(self) -> Iterator[tuple[bytes, np.ndarray, list[int]]]:
        while (path := self._piece(self._pieces)).is_file():
            piece = _batches(path)
            if piece is None:
                self._drop_from_here()
                return
            self._pieces += 1
            yield from piece

    def scores(
        self, who: str, scorer: Any, windows: Windows, compute: Callable[[], np.ndarray]
    ) -> np.ndarray:
        """Return the scores (B, k) of a batch of windows: from the tape, or computed and recorded.

        who: whose scores these are. What the scorer would have counted while it read the windows
        is added to its counts.
        """
        digest = _digest(who, windows)
        recorded = next(self._recorded, None) if self._recorded else None
        if recorded and recorded[0] == digest:
            self.played += 1
            for name, counted in zip(COUNTED, recorded[2], strict=True):
                if counted:
                    setattr(scorer, name, getattr(scorer, name) + counted)
            return recorded[1]
        if self._recorded:
            self._begin_recording(whole=recorded is None)
        before = _counts(scorer)
        found = compute()
        counted = [after - at for after, at in zip(_counts(scorer), before, strict=True)]
        self._new.append((digest, found, counted))
        if self.now() - self._last >= self.seconds:
            self._write()
        return found

    def _begin_recording(self, whole: bool) -> None:
        self._recorded = None
        self._last = self.now()
        if self.played:
            log.info("resuming from %d batches of windows that were scored before", self.played)
        if not whole:
            log.warning("%s: holds other windows from here on; scoring these", self.folder)
            self._pieces -= 1  # the piece in which they differ
            self._drop_from_here()

    def _drop_from_here(self) -> None:
        number = self._pieces
        while (path := self._piece(number)).is_file():
            path.unlink()
            number += 1

    def _write(self) -> None:
        digests, scores, counts = zip(*self._new, strict=True)
        keep_arrays(
            self._piece(self._pieces),
            digests=np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, 16),
            shapes=np.array([of.shape for of in scores], dtype=np.int64),
            scores=np.concatenate([of.ravel() for of in scores]),
            counts=np.array(counts, dtype=np.int64),
        )
        self._pieces += 1
        self._new, self._last = [], self.now()


def _batches(path: Path) -> list[tuple[bytes, np.ndarray, list[int]]] | None:
    held = kept_arrays(path, ("digests", "shapes", "scores", "counts"))
    if held is None:
        return None
    ends = np.cumsum(held["shapes"].prod(axis=1))
    scores = np.split(held["scores"], ends[:-1])
    return [
        (digest.tobytes(), of.reshape(shape), counted.tolist())
        for digest, of, shape, counted in zip(
            held["digests"], scores, held["shapes"], held["counts"], strict=True
        )
    ]


def _counts(scorer: Any) -> list[int]:
    return [getattr(scorer, name, 0) for name in COUNTED]


def tape_of(resume_dir: Path | None, settings: Any, inputs: Iterable[Path]) -> ScoreTape | None:
    """Return the tape of an evaluation below `resume_dir`; None without such a folder.

    settings: a JSON value; inputs: files and folders. It is another tape if any of them changed.
    """
    if resume_dir is None:
        return None
    states = [files_state(path) for path in inputs]
    return ScoreTape(Path(resume_dir) / content_hash([settings, states], length=32))
