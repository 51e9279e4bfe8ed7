"""Evidence pairs from a table with the columns query, document and passage."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from posbias.benchmarks.inputs import find_tables, table_rows, text_id
from posbias.benchmarks.option_checks import Check
from posbias.benchmarks.records import check_text
from posbias.representation.evidence_cut import EvidencePair, cut_evidence, find_evidence

OPTIONS: dict[str, Check] = {}
COLUMNS = ("query", "document", "passage")
IDS = ("query_id", "doc_id")


def _id(value: object, text: str) -> str:
    return text_id(text) if value is None else str(value)


def table_pairs(files: Sequence[Path], counts: Counter) -> Iterator[EvidencePair]:
    """Yield a pair for each row of Parquet files or JSON lines, as a stream.

    Columns query, document, passage, and, if there are such, query_id and doc_id. counts: takes
    up how many rows were read, and how many dropped and why. Raises DataError naming file and row
    for a text that is missing or cannot be written.
    """
    counts.update(dict.fromkeys(("read", "repeated", "not_found", "whole_document"), 0))
    seen: set[tuple[str, str]] = set()
    for file in find_tables(files, "evidence pairs"):
        for number, row in table_rows(file, COLUMNS, IDS):
            counts["read"] += 1
            for name in COLUMNS:
                check_text(row[name], f"row {number}: {name}", file)
            query, document, passage = (row[name] for name in COLUMNS)
            doc_id = _id(row.get("doc_id"), document)
            query_id = _id(row.get("query_id"), f"{query}\n{passage}")
            if (query_id, doc_id) in seen:
                counts["repeated"] += 1
                continue
            seen.add((query_id, doc_id))
            found = find_evidence(document, passage)
            if found is None:
                counts["not_found"] += 1
                continue
            parts = cut_evidence(*found)
            if parts is None:
                counts["whole_document"] += 1
                continue
            yield EvidencePair(query_id, query, doc_id, *parts)
