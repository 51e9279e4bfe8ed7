"""PosIR: documents of many domains and lengths, queries with the span they rest on (section 4.3).

A folder a language and domain, each with queries.parquet, corpus.parquet and qrels/test.parquet.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from posbias.benchmarks.inputs import find_files, named, parquet_rows, trec_safe
from posbias.benchmarks.loaded import Loaded, check_grade
from posbias.benchmarks.option_checks import ALL, Check, a_text, names_or_all
from posbias.benchmarks.records import (
    BenchmarkDocument,
    BenchmarkQuery,
    check_documents,
    check_queries,
    check_writable,
    third_of,
)
from posbias.errors import ConfigError, DataError
from posbias.retrieval.trec import Qrels

QUERY_COLUMNS = ("_id", "text", "pos_char_span", "pos_char_length", "pos_token_length")
OPTIONS: dict[str, Check] = {"domains": names_or_all, "language": a_text}
COUNTED = (
    "judgements_of_unknown_queries",
    "queries_with_several_relevant_documents",
    "queries_whose_document_has_another_length",
    "renamed_ids",
)


def _folders(files: Sequence[Path], language: str, domains: Sequence[str] | str) -> list[Path]:
    """Return the folders of the wanted domains, in the order of the option."""
    found = {
        file.parent.name: file.parent
        for file in find_files(files, "queries.parquet")
        if file.parent.parent.name == language
    }
    if not found:
        raise DataError(
            f"{named(files)}: holds no {language}/<domain>/queries.parquet; check the download "
            "and the option language."
        )
    if domains == ALL:
        return list(found.values())
    unknown = [domain for domain in domains if domain not in found]
    if unknown:
        raise ConfigError(
            f"benchmarks: domain(s) {', '.join(unknown)} not among those of {language}: "
            f"{', '.join(found)}."
        )
    return [found[domain] for domain in domains]


def _id(domain: str, name: Any, where: str, counts: Counter) -> str:
    if not isinstance(name, str) or not name:
        raise DataError(f"{where}: the id is {name!r}; expected a text.")
    check_writable(name, "the id", where)
    safe = trec_safe(f"{domain}/{name}")
    counts["renamed_ids"] += safe != f"{domain}/{name}"
    return safe


def _grade(score: Any, where: str) -> int:
    whole = isinstance(score, int) or (isinstance(score, float) and score.is_integer())
    if not whole:
        raise DataError(f"{where}: the score {score!r} is not a whole number.")
    check_grade(int(score), where)
    return int(score)


def _read_qrels(folder: Path, known: set[str], counts: Counter) -> Qrels:
    """Return the judgements of known queries; those of others are counted."""
    path = folder / "qrels" / "test.parquet"
    if not path.is_file():
        raise DataError(f"{path}: no such file; fetch the domain again.")
    ignored: Counter = Counter()
    qrels: Qrels = {}
    for number, row in parquet_rows(path, ("query-id", "corpus-id", "score")):
        where = f"{path}, row {number}"
        query_id = _id(folder.name, row["query-id"], where, ignored)
        doc_id = _id(folder.name, row["corpus-id"], where, ignored)
        if query_id not in known:
            counts["judgements_of_unknown_queries"] += 1
            continue
        grade = _grade(row["score"], where)
        if qrels.setdefault(query_id, {}).setdefault(doc_id, grade) != grade:
            raise DataError(f"{where}: document {doc_id!r} is judged twice, and otherwise.")
    return qrels


def _evidence(row: Mapping, where: str) -> tuple[int, int, int, int]:
    """Return start and end of the evidence, and the document's length in characters and tokens."""
    span, length, tokens = (row[name] for name in QUERY_COLUMNS[2:])
    whole = isinstance(span, list) and len(span) == 2 and all(type(end) is int for end in span)
    if not whole or not 0 <= span[0] <= span[1]:
        raise DataError(f"{where} has no evidence span: pos_char_span is {span!r}.")
    if not all(type(one) is int and one > 0 for one in (length, tokens)):
        raise DataError(
            f"{where}: pos_char_length {length!r} and pos_token_length {tokens!r} must be whole "
            "numbers above 0."
        )
    return span[0], span[1], length, tokens


def _main_document(relevant: Sequence[str], length: int, lengths: Mapping[str, int]) -> str | None:
    """Return the document that a span belongs to: the only relevant one, or the only one of its
    length; None if that leaves several or none."""
    if len(relevant) == 1:
        return relevant[0]
    fitting = [doc_id for doc_id in relevant if lengths[doc_id] == length]
    return fitting[0] if len(fitting) == 1 else None


def _read_queries(
    folder: Path,
    qrels: Qrels,
    rows: Mapping[str, dict],
    lengths: Mapping[str, int],
    counts: Counter,
) -> Iterator[BenchmarkQuery]:
    for query_id, row in rows.items():
        where = f"{folder / 'queries.parquet'}: query {query_id!r}"
        if query_id not in qrels:
            raise DataError(f"{where} has no judgement in {folder / 'qrels' / 'test.parquet'}.")
        start, end, length, tokens = _evidence(row, where)
        relevant = [doc_id for doc_id, grade in qrels[query_id].items() if grade > 0]
        counts["queries_with_several_relevant_documents"] += len(relevant) > 1
        doc_id = _main_document(relevant, length, lengths)
        counts["queries_whose_document_has_another_length"] += (
            doc_id is not None and lengths[doc_id] != length
        )
        inside = doc_id is not None and start < end <= lengths[doc_id]
        midpoint = min((start + end) / 2, length) / length
        yield BenchmarkQuery(
            query_id=query_id,
            text=row["text"],
            doc_id=doc_id,
            positions=(third_of(midpoint),),
            answer_start=start if inside else None,
            answer_end=end if inside else None,
            midpoint=midpoint,
            document_tokens=tokens,
        )


def _load_domain(folder: Path, counts: Counter) -> Loaded:
    corpus_file, queries_file = folder / "corpus.parquet", folder / "queries.parquet"
    documents = [
        BenchmarkDocument(
            _id(folder.name, row["_id"], f"{corpus_file}, row {number}", counts), row["text"]
        )
        for number, row in parquet_rows(corpus_file, ("_id", "text"))
    ]
    check_documents(documents, corpus_file)
    rows: dict[str, dict] = {}
    for number, row in parquet_rows(queries_file, QUERY_COLUMNS):
        query_id = _id(folder.name, row["_id"], f"{queries_file}, row {number}", counts)
        if query_id in rows:
            raise DataError(f"{queries_file}: query {query_id!r} occurs twice.")
        rows[query_id] = row
    qrels = _read_qrels(folder, set(rows), counts)
    lengths = {document.doc_id: len(document.text) for document in documents}
    for query_id, judged in qrels.items():
        for doc_id in judged:
            if doc_id not in lengths:
                raise DataError(
                    f"{folder / 'qrels' / 'test.parquet'}: query {query_id!r}: document "
                    f"{doc_id!r} is judged but {corpus_file} lacks it."
                )
    queries = list(_read_queries(folder, qrels, rows, lengths, counts))
    check_queries(queries, documents, queries_file)
    return Loaded(documents, queries, {query.query_id: qrels[query.query_id] for query in queries})


def load_posir(
    files: Sequence[Path],
    seed: int,
    domains: Sequence[str] | str = ALL,
    language: str = "eng-Latn",
) -> Loaded:
    """Make one collection of PosIR's domains of one language; ids become <domain>/<id>.

    The middle of `pos_char_span` over `pos_char_length` is a query's place in its document, and
    decides its third. domains: names of folders, or "all". The domains' documents are searched
    together, which the note of the corpus says; `parts` in the counts tells where each domain's
    documents begin and end.
    """
    counts: Counter = Counter(dict.fromkeys(COUNTED, 0))
    folders = _folders(files, language, domains)
    documents: list[BenchmarkDocument] = []
    queries: list[BenchmarkQuery] = []
    qrels: Qrels = {}
    parts = {}
    for folder in folders:
        domain = _load_domain(folder, counts)
        parts[folder.name] = {
            "documents": [len(documents), len(documents) + len(domain.documents)],
            "queries": len(domain.queries),
        }
        documents += domain.documents
        queries += domain.queries
        qrels |= domain.qrels
    note = None
    if len(folders) > 1:
        note = (
            f"the documents of {len(folders)} domains are searched together; "
            "the public evaluation searches each domain alone"
        )
    return Loaded(documents, queries, qrels, counts={**counts, "parts": parts}, corpus_note=note)
