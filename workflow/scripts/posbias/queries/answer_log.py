"""The append-only log of paid answers: a run that is killed anywhere never pays for one twice.

One JSON object a line. An answer is found by a fingerprint of its key, its prompt and the model's
settings, so that an answer to another prompt or of another model is never taken for it. Lines are
only ever added; the sum of their dollars is what the study has cost so far.
"""

import contextlib
import hashlib
import json
import logging
import os
import threading
import time
from dataclasses import fields
from pathlib import Path

from posbias.errors import DataError, PosbiasError
from posbias.files import named_disk_faults
from posbias.locks import NoLocksError, take_lock
from posbias.queries.chat import ChatAnswer, ChatRequest

log = logging.getLogger(__name__)

SYNC_SECONDS = 1.0  # a killed process loses nothing; a power cut loses at most this much
# An answer whose fault may pass is never found here, so that nothing is kept of this.
ANSWER_FIELDS = tuple(field.name for field in fields(ChatAnswer) if field.name != "passing")


def fingerprint(settings: dict, request: ChatRequest) -> str:
    """Return 32 hexadecimal digits of the key, the prompt and the model's settings.

    Raises DataError if the key or the prompt cannot be sent as UTF-8.
    """
    parts = (request.key, request.prompt, json.dumps(settings, sort_keys=True))
    digest = hashlib.blake2b(digest_size=16)
    try:
        for part in parts:
            encoded = part.encode("utf-8")
            digest.update(len(encoded).to_bytes(8, "big") + encoded)
    except UnicodeEncodeError as fault:
        raise DataError(
            f"request {request.key!r}: its text is not valid Unicode ({fault.reason} at "
            f"{fault.start}); mend the document."
        ) from fault
    return digest.hexdigest()


def _short(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8"), digest_size=16).digest()


class AnswerLog:
    """Answers by fingerprint, on disk; only offsets are held in memory.

    Used as `with log:`, which takes the lock and reads what was added since the last time.
    dollars: what all lines have cost; torn: last lines cut because a kill had left them unfinished.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.dollars, self.torn = 0.0, 0
        self._mutex = threading.Lock()
        self._lock_file: int | None = None
        self._file: int | None = None
        self._forget()

    def _forget(self) -> None:
        self.dollars = 0.0
        self._places: dict[bytes, int] = {}
        self._keys: set[bytes] = set()
        self._end = self._lines = 0

    def __enter__(self) -> "AnswerLog":
        with named_disk_faults(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock_file = self._locked()
            try:
                self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
                self._synced = time.monotonic()
                self._catch_up()
            except BaseException:
                self._close()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        with self._mutex:
            try:
                with named_disk_faults(self.path):
                    self.sync()
            finally:
                self._close()

    def _locked(self) -> int:
        try:
            return take_lock(self.path.with_name(f".{self.path.name}.lock"), self.path)
        except NoLocksError as fault:
            raise PosbiasError(
                f"{fault}, so that two runs could pay for the same answers; put the log on another "
                "disk."
            ) from fault

    def _close(self) -> None:
        for descriptor in (self._file, self._lock_file):
            if descriptor is not None:
                os.close(descriptor)  # which gives the lock back
        self._file = self._lock_file = None

    def _catch_up(self) -> None:
        if os.fstat(self._file).st_size < self._end:  # another file has taken its place
            self._forget()
        with self.path.open("rb") as lines:
            lines.seek(self._end)
            for raw in lines:
                number = self._lines + 1
                if not raw.endswith(b"\n"):
                    self._mend_last(raw, number)
                    break
                self._take(self._parsed(raw, number), self._end)
                self._end += len(raw)
                self._lines = number

    def _mend_last(self, raw: bytes, number: int) -> None:
        """Keep a last line that only lacks its line end; cut one that a kill has torn."""
        try:
            record = self._parsed(raw, number)
        except DataError:
            os.ftruncate(self._file, self._end)
            self.torn += 1
            log.warning("%s: cut an unfinished last line (%d bytes)", self.path, len(raw))
            return
        _write(self._file, b"\n")
        self._take(record, self._end)
        self._end += len(raw) + 1
        self._lines = number

    def _parsed(self, raw: bytes, number: int) -> dict:
        try:
            record = json.loads(raw)
            missing = {"dollars", "final", "fingerprint", *ANSWER_FIELDS} - record.keys()
            if missing:
                raise ValueError(f"without {', '.join(sorted(missing))}")
            bytes.fromhex(record["fingerprint"])
            float(record["dollars"])
        except (ValueError, AttributeError, TypeError) as fault:
            raise DataError(
                f"{self.path}, line {number}: not an answer ({fault}); mend the line, or delete "
                "it: its request is then asked and paid again."
            ) from fault
        return record

    def _take(self, record: dict, place: int) -> None:
        self.dollars += record["dollars"]
        if record["final"]:
            self._places[bytes.fromhex(record["fingerprint"])] = place
            self._keys.add(_short(record["key"]))

    def __contains__(self, mark: str) -> bool:
        return bytes.fromhex(mark) in self._places

    def knows(self, key: str) -> bool:
        """Say whether the key has a final answer, be it to another prompt or of another model."""
        return _short(key) in self._keys

    def find(self, mark: str) -> ChatAnswer | None:
        """Return the final answer of a fingerprint, or None."""
        place = self._places.get(bytes.fromhex(mark))
        if place is None:
            return None
        raw = b""
        while b"\n" not in raw:
            piece = os.pread(self._file, 4096, place + len(raw))
            if not piece:
                raise DataError(f"{self.path}: was cut while it was read; run again.")
            raw += piece
        record = json.loads(raw[: raw.index(b"\n")])
        return ChatAnswer(**{name: record[name] for name in ANSWER_FIELDS})

    def append(self, mark: str, answer: ChatAnswer, dollars: float, final: bool = True) -> None:
        """Add one answer at once; one that is not final is never found: it is asked again.

        Raises PosbiasError if the disk is full; the log then ends with the line before.
        """
        held = {name: getattr(answer, name) for name in ANSWER_FIELDS}
        record = {"fingerprint": mark, **held, "dollars": dollars, "final": final}
        raw = json.dumps(record, allow_nan=False).encode("ascii") + b"\n"
        with self._mutex, named_disk_faults(self.path):
            try:
                _write(self._file, raw)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, self._end)
                raise
            self._take(record, self._end)
            self._end += len(raw)
            self._lines += 1
            if time.monotonic() - self._synced > SYNC_SECONDS:
                self.sync()

    def sync(self) -> None:
        """Bring all that was added so far to the disk itself."""
        os.fsync(self._file)
        self._synced = time.monotonic()


def _write(descriptor: int, raw: bytes) -> None:
    while raw:
        raw = raw[os.write(descriptor, raw) :]
