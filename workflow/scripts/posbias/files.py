"""Files that appear whole or not at all, and JSON lines whose faults are named by line."""

import contextlib
import errno
import gzip
import hashlib
import json
import os
import secrets
import shutil
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from posbias.errors import DataError, PosbiasError

NEARLY_FULL = 2**20  # bytes
PROCESS = secrets.token_hex(4)
# What reading JSON raises: bad syntax, bytes that are no UTF-8 and numbers with thousands of digits
# are ValueErrors; a value nested thousands deep exhausts the stack.
NO_JSON = (ValueError, RecursionError)


def _part(path: Path) -> Path:
    # Process numbers alone repeat: in containers, and on the nodes of a cluster.
    return path.with_name(f".{path.name}.{os.getpid()}-{PROCESS}.part")


@contextlib.contextmanager
def named_disk_faults(path: Path) -> Iterator[None]:
    """Turn a full or read-only disk met while writing `path` into a PosbiasError with a remedy."""
    try:
        yield
    except PosbiasError:
        raise
    except Exception as fault:
        code = fault.errno if isinstance(fault, OSError) else None
        if code in (errno.ENOSPC, errno.EDQUOT) or (code is None and _disk_is_full(fault, path)):
            raise PosbiasError(
                f"{path}: no space left on the disk; the file or folder was not written. "
                "Free some space, or put the folder on another disk, and run again."
            ) from fault
        if code in (errno.EACCES, errno.EROFS):
            raise PosbiasError(
                f"{fault.filename or path}: {fault.strerror} while writing {path}; "
                "mend the rights of the file or its folder and run again."
            ) from fault
        raise


def _disk_is_full(fault: Exception, path: Path) -> bool:
    """Say whether foreign code, which hides the number of the fault, met a full disk."""
    if os.strerror(errno.ENOSPC) in str(fault):
        return True
    folder = next((parent for parent in Path(path).absolute().parents if parent.is_dir()), None)
    return folder is not None and shutil.disk_usage(folder).free < NEARLY_FULL


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; it takes the final name only after success."""
    path = Path(path)
    part = _part(path)
    try:
        # Faults are looked at before what filled the disk is removed.
        with named_disk_faults(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield part
            part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


@contextlib.contextmanager
def whole_directory(path: Path) -> Iterator[Path]:
    """Yield a folder beside `path` to fill; it takes the final name only after success."""
    path = Path(path)
    part = _part(path)
    try:
        with named_disk_faults(path):
            part.mkdir(parents=True)
            yield part
            if path.exists():
                shutil.rmtree(path)
            part.replace(path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    """Write one JSON value, indented; not-a-number is refused, as other readers reject it."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def _missing(path: Path) -> DataError:
    return DataError(f"{path}: no such file; check the name, or run the step that makes it.")


def read_json(path: Path) -> Any:
    """Read one JSON value, after a byte order mark or none; raises DataError naming the file."""
    if not Path(path).is_file():
        raise _missing(path)
    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except NO_JSON as fault:
        raise DataError(
            f"{path}: not valid JSON ({fault}); mend it, or, if a run made it, delete it and run "
            "again."
        ) from fault


def write_jsonl(path: Path, records: Iterable[dict]) -> int:
    """Write one JSON object a line, whole or not at all; return how many."""
    count = 0
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as lines:
        for record in records:
            lines.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
    return count


@contextlib.contextmanager
def _lines(path: Path) -> Iterator[BinaryIO]:
    """Open a file of lines, unpacked where its name ends in .gz; name what is no whole archive."""
    try:
        with gzip.open(path) if Path(path).suffix == ".gz" else Path(path).open("rb") as lines:
            yield lines
    except (gzip.BadGzipFile, EOFError, zlib.error) as fault:
        raise DataError(
            f"{path}: not a whole gzip file ({fault}); fetch the file again."
        ) from fault


def stream_jsonl(path: Path, required: Iterable[str] = ()) -> Iterator[dict]:
    """Yield the objects of JSON lines, unpacked where the name ends in .gz, one at a time.

    Raises DataError naming file, line (1-based), fault and remedy.
    """
    if not Path(path).is_file():
        raise _missing(path)
    required = tuple(required)
    with _lines(path) as lines:
        for number, raw in enumerate(lines, start=1):
            try:
                record = json.loads(raw)
            except NO_JSON as fault:
                raise DataError(
                    f"{path}, line {number}: not a JSON object ({fault}); "
                    "mend the line, or, if a run made the file, delete it and run again."
                ) from fault
            if not isinstance(record, dict):
                raise DataError(
                    f"{path}, line {number}: expected an object, found {type(record).__name__}."
                )
            missing = [field for field in required if field not in record]
            if missing:
                raise DataError(
                    f"{path}, line {number}: the field(s) {', '.join(missing)} are missing; "
                    f"found {', '.join(record)}."
                )
            yield record


def read_jsonl(path: Path, required: Iterable[str] = ()) -> list[dict]:
    """Read JSON lines into a list, with the checks of `stream_jsonl`."""
    return list(stream_jsonl(path, required))


def lone_surrogate(text: str) -> str | None:
    """Return the first lone surrogate of a text as U+XXXX, None if it has none.

    It is half of a sign: JSON can write it, as in "\\ud83d", but no file in UTF-8 can hold it.
    """
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as fault:
        return f"U+{ord(text[fault.start]):04X}"
    return None


def sha256_file(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file."""
    with Path(path).open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def content_hash(value: Any, length: int = 12) -> str:
    """Return a short hash of a JSON value that does not depend on the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:length]


def files_state(path: Path) -> list[tuple[str, int, int]]:
    """Return name, size and time of change of a file, or of each file of a folder.

    That is how to see that they are the same as a while ago, without reading them.
    """
    path = Path(path)
    return [
        (file.relative_to(path.parent).as_posix(), file.stat().st_size, file.stat().st_mtime_ns)
        for file in ([path] if path.is_file() else sorted(path.rglob("*")))
        if file.is_file()
    ]
