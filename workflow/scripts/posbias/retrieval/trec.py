"""Runs and qrels as TREC files that every evaluator reads in the same order.

trec_eval ignores the rank column, holds scores as float32 and orders equal ones by the name of
the document. So a run of ours never holds two equal scores of one query, also not as float32.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from posbias.errors import DataError
from posbias.files import whole_file

# Documents of each query in rank order with their scores, and the grades of judged documents.
Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]


def strictly_decreasing(scores: np.ndarray) -> np.ndarray:
    """Round scores in rank order to float32, each nudged down until it lies below the one before.

    Raises DataError where the scores rise or leave the range of float32.
    """
    scores = np.asarray(scores)
    if not np.all(scores[1:] <= scores[:-1]):
        raise DataError("the scores rise along the ranks, or one is not a number.")
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
        if not np.all(single[1:] < single[:-1]):
            lowest = np.float32(-np.inf)
            for rank in range(1, len(single)):
                if single[rank] >= single[rank - 1]:
                    single[rank] = np.nextafter(single[rank - 1], lowest)
    if not np.all(np.isfinite(single)):
        raise DataError("a score is beyond the range of float32.")
    return single


def make_run(
    query_ids: Sequence[str],
    doc_ids: Sequence[str] | Mapping[int, str],
    indices: Iterable[np.ndarray],
    scores: Iterable[np.ndarray],
) -> Run:
    """Turn document indices and scores in rank order, one array a query, into a run.

    doc_ids: the name of each index. A query without hits is left out, as a TREC file cannot hold
    it. Raises DataError for a query, or a document within a query, that occurs twice, and for
    scores out of order.
    """
    run: Run = {}
    for query_id, of_query, with_scores in zip(query_ids, indices, scores, strict=True):
        if query_id in run:
            raise DataError(f"query {query_id!r} occurs twice; give each query an id of its own.")
        if len(of_query) == 0:
            continue
        try:
            values = strictly_decreasing(with_scores)
        except DataError as fault:
            raise DataError(f"query {query_id!r}: {fault}") from fault
        ranked = [doc_ids[index] for index in of_query]
        run[query_id] = dict(zip(ranked, values.tolist(), strict=True))
        if len(run[query_id]) < len(ranked):
            raise DataError(f"query {query_id!r}: a document is ranked twice.")
    return run


def check_run(run: Run) -> None:
    """Raise DataError unless every query's scores fall strictly, as float32, in the run's order."""
    for query_id, ranked in run.items():
        with np.errstate(over="ignore"):
            values = np.fromiter(ranked.values(), dtype=np.float64).astype(np.float32)
        if not np.all(np.isfinite(values)):
            doc_id = list(ranked)[np.flatnonzero(~np.isfinite(values))[0]]
            raise DataError(
                f"run, query {query_id!r}: the score of document {doc_id!r} is not a number of "
                "float32; look for a diverged model."
            )
        flat = np.flatnonzero(values[1:] >= values[:-1])
        if len(flat):
            first, second = list(ranked)[flat[0] : flat[0] + 2]
            raise DataError(
                f"run, query {query_id!r}: the score of {second!r} does not lie below that of "
                f"{first!r} before it (as float32); evaluators would order them by name."
            )


def _column(text: str, what: str) -> str:
    if text.split() != [text]:
        raise DataError(
            f"{what} {text!r} is empty or holds white space, which a TREC file cannot; rename it."
        )
    return text


def write_run(path: Path, run: Run, tag: str) -> None:
    """Write a run as `query Q0 document rank score tag`; raises DataError for a bad id or score."""
    check_run(run)
    _column(tag, "run tag")
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as lines:
        for query_id, ranked in run.items():
            _column(query_id, "query id")
            for rank, (doc_id, score) in enumerate(ranked.items(), start=1):
                _column(doc_id, "document id")
                lines.write(f"{query_id} Q0 {doc_id} {rank} {float(score)!r} {tag}\n")


def write_qrels(path: Path, qrels: Qrels) -> None:
    """Write judgements as `query 0 document grade`; raises DataError for an id with white space."""
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as lines:
        for query_id, judged in qrels.items():
            _column(query_id, "query id")
            for doc_id, grade in judged.items():
                lines.write(f"{query_id} 0 {_column(doc_id, 'document id')} {grade}\n")


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    with Path(path).open(encoding="utf-8") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                row = line.split()
                if len(row) != len(columns):
                    raise DataError(
                        f"{path}, line {number}: {len(row)} columns, "
                        f"expected {len(columns)}: {' '.join(columns)}."
                    )
                yield number, row
        except UnicodeDecodeError as fault:
            raise DataError(f"{path}: not UTF-8 text ({fault}).") from fault


def _add(table: dict[str, dict], query_id: str, doc_id: str, value: float, where: str) -> None:
    of_query = table.setdefault(query_id, {})
    if doc_id in of_query:
        raise DataError(f"{where}: query {query_id!r} names document {doc_id!r} a second time.")
    of_query[doc_id] = value


def read_run(path: Path) -> Run:
    """Read a run in the order of its lines; raises DataError naming file, line and fault."""
    run: Run = {}
    for number, row in _rows(path, ("query", "Q0", "document", "rank", "score", "tag")):
        where = f"{path}, line {number}"
        try:
            score = float(row[4])
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise DataError(f"{where}: the score {row[4]!r} is not a finite number.")
        _add(run, row[0], row[2], score, where)
    return run


def read_qrels(path: Path) -> Qrels:
    """Read judgements; raises DataError naming file, line and fault, also for a grade like 0.9."""
    qrels: Qrels = {}
    for number, row in _rows(path, ("query", "0", "document", "grade")):
        where = f"{path}, line {number}"
        try:
            grade = int(row[3])
        except ValueError as fault:
            raise DataError(f"{where}: the grade {row[3]!r} is not a whole number.") from fault
        _add(qrels, row[0], row[2], grade, where)
    return qrels
