"""The judgements of a data set in BEIR's layout."""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from posbias.benchmarks.inputs import find_files, named
from posbias.benchmarks.loaded import check_grade
from posbias.errors import DataError
from posbias.retrieval.trec import Qrels

HEADER = ["query-id", "corpus-id", "score"]


def _file(files: Sequence[Path], split: str) -> Path:
    found = [file for file in find_files(files, "*.tsv") if file.suffix == ".tsv"]
    of_split = [file for file in found if file.stem == split]
    if len(of_split) != 1:
        raise DataError(
            f"{named(files)}: expected one {split}.tsv with the judgements, found "
            f"{named(found) or 'no .tsv at all'}."
        )
    return of_split[0]


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each line and its place; raises DataError for one that is not UTF-8."""
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, start=1):
            where = f"{path}, line {number}"
            try:
                # Spreadsheets put a byte order mark before the first line.
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as fault:
                raise DataError(f"{where}: not UTF-8 ({fault}); save the file as UTF-8.") from fault
            yield where, line.rstrip("\r\n")


def read_beir_qrels(
    files: Sequence[Path], split: str, queries: Container[str], counts: Counter
) -> Qrels:
    """Read <split>.tsv, with its header, from given files and folders.

    A row that stands there twice is counted. Raises DataError naming file and line for bytes that
    are not UTF-8, a missing header, a grade that is no whole number or above 1000, two grades for
    one pair, a query that `queries` lacks.
    """
    path = _file(files, split)
    counts["repeated_judgements"] = 0
    qrels: Qrels = {}
    lines = _lines(path)
    header = next(lines, ("", ""))[1].split("\t")
    if header != HEADER:
        raise DataError(
            f"{path}, line 1: expected the header {' '.join(HEADER)}, tabs between them; "
            f"found {' '.join(header)!r}."
        )
    for where, line in lines:
        row = line.split("\t")
        if len(row) != len(HEADER):
            raise DataError(f"{where}: {len(row)} columns, expected {len(HEADER)}.")
        query_id, doc_id, score = row
        try:
            grade = int(score)
        except ValueError as fault:
            raise DataError(f"{where}: the score {score!r} is not a whole number.") from fault
        check_grade(grade, where)
        if query_id not in queries:
            raise DataError(f"{where}: query {query_id!r} is judged but is not among the queries.")
        judged = qrels.setdefault(query_id, {})
        counts["repeated_judgements"] += doc_id in judged
        if judged.setdefault(doc_id, grade) != grade:
            raise DataError(f"{where}: document {doc_id!r} is judged twice, and otherwise.")
    if not qrels:
        raise DataError(f"{path}: holds no judgement.")
    return qrels
