"""Files of data sets from elsewhere: found in folders, read as a stream, their faults named."""

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from posbias.errors import DataError
from posbias.files import stream_jsonl
from posbias.logs import HEARTBEAT_SECONDS, Heartbeat

log = logging.getLogger(__name__)
ROWS_AT_A_TIME = 1024
TABLES = ("*.parquet", "*.jsonl", "*.jsonl.gz")


def find_files(paths: Sequence[Path], *patterns: str) -> list[Path]:
    """Return the given files, and those below given folders whose name matches a pattern.

    Files stand in the order of `paths`; those of one folder by name, but "train" comes first, as
    the splits of a data set do. Hidden files and the manifests of downloads are passed over.
    Raises DataError for a path that does not exist.
    """
    found = []
    for path in map(Path, paths):
        if path.is_dir():
            below = [
                file
                for file in path.rglob("*")
                if file.is_file()
                and file.name != "manifest.json"
                and any(fnmatch(file.name, pattern) for pattern in patterns)
                and not any(part.startswith(".") for part in file.relative_to(path).parts)
            ]
            found += sorted(below, key=lambda file: (not file.name.startswith("train"), str(file)))
        elif path.is_file():
            found.append(path)
        else:
            raise DataError(f"{path}: no such file or folder; check `files` of the benchmark.")
    return found


def named(paths: Iterable[Path]) -> str:
    """Return the paths as an error names them."""
    return ", ".join(map(str, paths))


def json_lines(path: Path, required: Sequence[str] = ()) -> Iterator[tuple[int, dict]]:
    """Yield (line from 1, record) of JSON lines, also of a .gz file; the log tells how far it is.

    Raises DataError naming file, line, fault and remedy.
    """
    beat = time.monotonic()
    for number, record in enumerate(stream_jsonl(path, required), start=1):
        if number % ROWS_AT_A_TIME == 0 and time.monotonic() - beat > HEARTBEAT_SECONDS:
            beat = time.monotonic()
            log.info("%s: %d lines read", path.name, number)
        yield number, record


def _python_rows(path: Path, before: int, batch: Any) -> list[dict[str, Any]]:
    """Return the rows of a batch; raises DataError naming the first that cannot be one."""
    try:
        return batch.to_pylist()
    except ValueError:
        for at in range(batch.num_rows):
            try:
                batch.slice(at, 1).to_pylist()
            except ValueError as fault:
                raise DataError(
                    f"{path}, row {before + at + 1}: cannot be read ({fault}); write it again."
                ) from fault
        raise


def parquet_rows(
    path: Path, required: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (row from 1, the wanted columns) of a Parquet file, a batch at a time.

    optional: columns that a row lacks if the file does. Raises DataError for a file that is no
    Parquet, for columns that are missing or stand twice, and for a row that is no Python value,
    such as text that is not UTF-8.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            found = file.schema_arrow.names
            missing = [name for name in required if name not in found]
            if missing:
                raise DataError(
                    f"{path}: the column(s) {', '.join(missing)} are missing; wanted "
                    f"{', '.join(required)}, found {', '.join(found)}."
                )
            columns = [*required, *(name for name in optional if name in found)]
            twice = [name for name in columns if found.count(name) > 1]
            if twice:
                raise DataError(
                    f"{path}: the column(s) {', '.join(twice)} stand twice; write the file with "
                    "one of each."
                )
            beat = Heartbeat(f"{path.name}, rows", file.metadata.num_rows)
            number = 0
            for batch in file.iter_batches(ROWS_AT_A_TIME, columns=columns):
                for row in _python_rows(path, number, batch):
                    number += 1
                    yield number, row
                beat.beat(number)
    except (pyarrow.ArrowException, OSError) as fault:
        raise DataError(f"{path}: cannot be read as Parquet ({fault}); fetch it again.") from fault


def table_rows(
    path: Path, required: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number from 1, record) of a Parquet file or of JSON lines, by the file's name."""
    if path.suffix == ".parquet":
        return parquet_rows(path, required, optional)
    return json_lines(path, required)


def find_tables(
    paths: Sequence[Path], what: str, wanted: Callable[[Path], bool] = lambda file: True
) -> list[Path]:
    """Return the Parquet or JSON-lines files of one table in given files and folders.

    wanted: says of a file whether it belongs to the table. Raises DataError where there is none,
    or where both formats lie side by side.
    """
    found = [file for file in find_files(paths, *TABLES) if wanted(file)]
    if not found:
        raise DataError(f"{named(paths)}: holds no Parquet file or JSON lines of {what}.")
    check_one_format(found, what)
    return found


def check_one_format(files: Sequence[Path], what: str) -> None:
    """Raise DataError where Parquet files and others lie side by side."""
    if len({file.suffix == ".parquet" for file in files}) > 1:
        raise DataError(
            f"{named(files)}: {what} in two formats; name those files that are to be read."
        )


def text_id(text: str) -> str:
    """Return an id for a text that depends on nothing else: 16 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def trec_safe(name: str) -> str:
    """Return an id without white space, which TREC files cannot hold.

    White space becomes %XX of its UTF-8 bytes, and so does %, so that no two ids become one.
    """
    if "%" not in name and name.split() == [name]:
        return name
    return "".join(
        "".join(f"%{byte:02X}" for byte in sign.encode()) if sign == "%" or sign.isspace() else sign
        for sign in name
    )
