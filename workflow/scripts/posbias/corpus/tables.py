"""Rows of articles from Parquet or JSON lines, a few at a time, with the checks that name a row."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from posbias.errors import ConfigError, DataError
from posbias.files import stream_jsonl

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1024
BUFFER = 2**20  # bytes of a column read at a time, so that a row group of any size fits
PLACE = "config, article_sources"
KINDS = {".parquet": "Parquet", ".jsonl": "JSON lines", ".jsonl.gz": "JSON lines"}


class Rows(NamedTuple):
    """Consecutive rows of one file: of the columns id, title and text those that were asked for.

    first: number of the first row in the file, from 1. All columns hold text, ids are not empty.
    """

    path: Path
    first: int
    batch: "pa.RecordBatch"


def text_batch(columns: Mapping[str, Sequence[str | None]]) -> "pa.RecordBatch":
    """Make a batch of text columns."""
    import pyarrow as pa

    # Offsets of 64 bits: the texts of a batch may exceed 2 GB.
    return pa.record_batch({name: pa.array(v, pa.large_string()) for name, v in columns.items()})


def find_tables(patterns: Iterable[str], places: Iterable[Path]) -> list[Path]:
    """Return the files that paths or patterns name, sorted, each once.

    places: folders to look in, for each pattern the first that has a match; without any, the
    working directory. Raises ConfigError for a place that is no folder, a pattern without a file,
    a suffix that is neither .parquet nor .jsonl(.gz), and where both kinds are mixed.
    """
    folders = [Path(place) for place in places] or [Path()]
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(f"{PLACE}: {folder} is no folder; name the one that holds the files.")
    found: set[Path] = set()
    for pattern in patterns:
        matches = next(filter(None, (_matches(folder, pattern) for folder in folders)), None)
        if not matches:
            looked = ", ".join(str(folder.absolute()) for folder in folders)
            raise ConfigError(
                f"{PLACE}: no file matches {pattern!r} in {looked}; mend files or folder."
            )
        found |= matches
    by_kind = {_kind(path): path for path in sorted(found)}
    if len(by_kind) > 1:
        raise ConfigError(
            f"{PLACE}: {' and '.join(map(str, by_kind.values()))} are of two kinds; name files of "
            f"one kind, {' or '.join(by_kind)}."
        )
    return sorted(found)


def _matches(folder: Path, pattern: str) -> set[Path]:
    if (folder / pattern).is_file():
        return {folder / pattern}
    root = Path(pattern).anchor
    relative = pattern.removeprefix(root)
    try:
        return {path for path in Path(root or folder).glob(relative) if path.is_file()}
    except ValueError as fault:
        raise ConfigError(f"{PLACE}: files: {pattern!r} is no pattern ({fault}).") from fault


def _kind(path: Path) -> str:
    for suffix, kind in KINDS.items():
        if path.name.lower().endswith(suffix):
            return kind
    raise ConfigError(f"{PLACE}: {path} is none of {', '.join(KINDS)}; narrow the pattern.")


def read_table(path: Path, columns: Mapping[str, str], fields: Sequence[str]) -> Iterator[Rows]:
    """Yield the rows of a file in their order, in memory that does not depend on its size.

    columns: what the file calls id, title and text; fields: which of the three are read. One
    thread. Raises DataError naming the file, and the row where there is one: no Parquet or JSON
    lines, a column that is missing, stands twice or is of another type, text that is not UTF-8, an
    empty id.
    """
    wanted = {field: columns[field] for field in fields}
    read = _parquet_batches if _kind(path) == "Parquet" else _json_batches
    first = 1
    for batch in read(path, wanted):
        rows = Rows(path, first, batch)
        if "id" in wanted:
            _check_ids(rows, wanted["id"])
        yield rows
        first += batch.num_rows


def _parquet_batches(path: Path, columns: Mapping[str, str]) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _parquet_faults(path), pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
        found = file.schema_arrow.names
        missing = [name for name in columns.values() if name not in found]
        if missing:
            raise DataError(
                f"{path}: the column(s) {', '.join(missing)} are missing; found "
                f"{', '.join(found)}. Name those that hold id, title and text in columns."
            )
        names = list(dict.fromkeys(columns.values()))
        twice = [name for name in names if found.count(name) > 1]
        if twice:
            raise DataError(
                f"{path}: the column(s) {', '.join(twice)} stand twice; write the file with one of "
                "each."
            )
        first = 1
        for batch in file.iter_batches(BATCH_ROWS, columns=names, use_threads=False):
            yield pa.record_batch(
                {f: _as_text(path, first, f, n, batch.column(n)) for f, n in columns.items()}
            )
            first += batch.num_rows


@contextlib.contextmanager
def _parquet_faults(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as fault:
        raise DataError(
            f"{path}: cannot be read as Parquet ({fault}); fetch or write the file again."
        ) from fault


def _as_text(path: Path, first: int, field: str, name: str, column: Any) -> Any:
    """Turn a column into text, an id of whole numbers into their digits."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    fits = pa.types.is_null(kind) or any(is_text(kind) for is_text in texts)
    if not (fits or (field == "id" and pa.types.is_integer(kind))):
        raise DataError(
            f"{path}: the column {name}, {field} of the articles, holds {kind}, no text."
        )
    found = column.cast(pa.large_string())
    try:
        found.validate(full=True)
    except pa.ArrowInvalid as fault:
        row = first + next(i for i in range(len(found)) if not _is_utf8(found.slice(i, 1)))
        raise DataError(f"{path}, row {row}: {name} is not UTF-8; write the file again.") from fault
    return found


def _is_utf8(column: Any) -> bool:
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _json_batches(path: Path, columns: Mapping[str, str]) -> Iterator["pa.RecordBatch"]:
    records = stream_jsonl(path, columns.values())
    first = 1
    while chunk := list(islice(records, BATCH_ROWS)):
        yield text_batch(
            {
                field: [
                    _json_text(path, row, field, name, record[name])
                    for row, record in enumerate(chunk, start=first)
                ]
                for field, name in columns.items()
            }
        )
        first += len(chunk)


def _json_text(path: Path, row: int, field: str, name: str, value: object) -> str | None:
    if field == "id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str | None):
        found = type(value).__name__
        raise DataError(f"{path}, line {row}: {name} must be text, is a value of type {found}.")
    if value is not None and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as fault:
            raise DataError(f"{path}, line {row}: {name} is no text ({fault}).") from fault
    return value


def _check_ids(rows: Rows, name: str) -> None:
    import pyarrow.compute as pc

    filled = pc.fill_null(pc.not_equal(pc.utf8_length(rows.batch.column("id")), 0), False)
    at = pc.index(filled, False).as_py()
    if at >= 0:
        raise DataError(
            f"{rows.path}, row {rows.first + at}: {name} is empty; give each article an id."
        )
