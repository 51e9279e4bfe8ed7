"""The files of MS MARCO, as its makers publish them or as public copies of them are laid out.

Documents, passages and queries are lines of text with tabs between columns, or JSON lines or
Parquet in BEIR's layout; judgements have four columns, or BEIR's three below a header.
"""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from posbias.benchmarks.inputs import find_files, named, table_rows
from posbias.errors import DataError
from posbias.logs import Heartbeat

TEXT = (".tsv", ".txt", ".tsv.gz", ".txt.gz")
TABLES = (".parquet", ".jsonl", ".jsonl.gz")
IDS = ("_id", "doc_id", "query_id")
TEXTS = ("text", "body")
JUDGED = (("query-id", "corpus-id", "score"), ("query_id", "doc_id", "relevance"))
BEIR_HEADER = list(JUDGED[0])


def files_of(files: Sequence[Path], what: str, pattern: str) -> list[Path]:
    """Return the files whose path ends as the pattern says, in given files and folders.

    Raises DataError naming the option `what` where there is none, or one of a format not read.
    """
    found = [file for file in find_files(files, "*") if file.match(pattern)]
    if not found:
        raise DataError(f"{named(files)}: no file matches {what}: {pattern!r}; mend the option.")
    for file in found:
        if not file.name.endswith((*TEXT, *TABLES)):
            raise DataError(
                f"{file}: chosen by {what}: {pattern!r}, but only {', '.join((*TEXT, *TABLES))} "
                "are read; unpack it, or mend the option."
            )
    return found


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each line, unpacked where the name ends in .gz."""
    beat = Heartbeat(f"{path.name}, bytes", path.stat().st_size)
    with path.open("rb") as raw:
        try:
            lines = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
            for number, line in enumerate(lines, start=1):
                where = f"{path}, line {number}"
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as fault:
                    raise DataError(f"{where}: not UTF-8 ({fault}); fetch it again.") from fault
                yield where, text.rstrip("\r\n")
                if number % 1024 == 0:
                    beat.beat(raw.tell())
        except (gzip.BadGzipFile, EOFError, zlib.error) as fault:
            raise DataError(
                f"{path}: not a whole gzip file ({fault}); fetch the file again."
            ) from fault


def _columns(path: Path, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield place and columns of each line; the last column may hold tabs."""
    for where, line in _lines(path):
        row = line.split("\t", len(names) - 1)
        if len(row) != len(names):
            raise DataError(
                f"{where}: {len(row)} columns, expected {len(names)}: {', '.join(names)}."
            )
        yield where, row


def _first(record: dict[str, Any], names: Sequence[str], where: str) -> str:
    for name in names:
        if name in record:
            value = "" if record[name] is None else record[name]
            if not isinstance(value, str | int):
                break
            return str(value)
    raise DataError(f"{where}: expected a text in {' or '.join(names)}; found {', '.join(record)}.")


def read_texts(
    files: Sequence[Path], names: Sequence[str], title_separator: str | None = None
) -> Iterator[tuple[str, str]]:
    """Yield id and text of every document, passage or query, as a stream.

    names: the columns of lines with tabs, such as id, url, title, text. title_separator: what
    stands between title and text; None leaves the titles out. Raises DataError naming file and
    line for a line without these columns, and for bytes that are not UTF-8.
    """
    for file in files:
        if file.name.endswith(TEXT):
            rows = ((where, dict(zip(names, row, strict=True))) for where, row in
                    _columns(file, names))  # fmt: skip
            id_names, text_names = ("id",), ("text",)
        else:
            rows = ((f"{file}, row {number}", row) for number, row in
                    table_rows(file, (), (*IDS, *TEXTS, "title")))  # fmt: skip
            id_names, text_names = IDS, TEXTS
        for where, row in rows:
            text = _first(row, text_names, where)
            title = "" if title_separator is None else row.get("title") or ""
            yield (
                _first(row, id_names, where),
                (title_separator or "").join(part for part in (title, text) if part.strip()),
            )


def _judgement(row: Sequence[str], where: str) -> tuple[str, str, int]:
    query_id, doc_id, grade = row
    try:
        return query_id, doc_id, int(float(grade))
    except ValueError as fault:
        raise DataError(f"{where}: the grade {grade!r} is not a number.") from fault


def read_judged(files: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield query and document, or passage, of each judgement above 0, as a stream.

    Raises DataError naming file and line for a line that is no judgement.
    """
    for file in files:
        for query_id, doc_id, grade in _judgements(file):
            if grade > 0:
                yield query_id, doc_id


def _judgements(file: Path) -> Iterator[tuple[str, str, int]]:
    if file.name.endswith(TEXT):
        beir = False
        for number, (where, line) in enumerate(_lines(file)):
            row = line.split()
            if number == 0 and row == BEIR_HEADER:
                beir = True
                continue
            if len(row) != (3 if beir else 4):
                raise DataError(
                    f"{where}: {len(row)} columns; a judgement has query, 0, document and grade, "
                    f"or {', '.join(BEIR_HEADER)} below a line that names them."
                )
            yield _judgement((row[0], row[-2], row[-1]), where)
        return
    for number, row in table_rows(file, (), [name for names in JUDGED for name in names]):
        where = f"{file}, row {number}"
        names = next((names for names in JUDGED if all(name in row for name in names)), None)
        if names is None:
            raise DataError(
                f"{where}: found {', '.join(row)}; a judgement has {', '.join(BEIR_HEADER)}."
            )
        yield _judgement([str(row[name]) for name in names], where)
