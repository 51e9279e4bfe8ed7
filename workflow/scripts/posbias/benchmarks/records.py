"""The one common record of a position-grouped test collection, and its checks."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError
from posbias.files import read_jsonl
from posbias.retrieval.trec import Qrels, read_qrels


@dataclass(frozen=True)
class BenchmarkDocument:
    """One passage of the corpus."""

    doc_id: str
    text: str

    def record(self) -> dict:
        return asdict(self)


@dataclass(frozen=True)
class BenchmarkQuery:
    """One query, the document that answers it, and where in it the evidence lies.

    position: the third of the document. `answer_start` and `answer_end` are half-open 0-based
    code points of the document, or None where the evidence has no known offsets.
    """

    query_id: str
    text: str
    doc_id: str
    position: str
    answer_start: int | None
    answer_end: int | None

    def record(self) -> dict:
        return asdict(self)


@dataclass(frozen=True)
class Benchmark:
    """Documents and queries in the order of their files, and the judgements."""

    documents: list[BenchmarkDocument]
    queries: list[BenchmarkQuery]
    qrels: Qrels


def _check_ids(ids: Iterable[object], what: str, source: Path) -> None:
    seen: set[str] = set()
    for number, one in enumerate(ids, start=1):
        if not isinstance(one, str) or not one:
            raise DataError(f"{source}: {what} {number} has the id {one!r}; expected a text.")
        if one in seen:
            raise DataError(f"{source}: {what} {one!r} occurs twice; give each an id of its own.")
        seen.add(one)


def _check_text(text: object, what: str, source: Path) -> None:
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"{source}: {what} has no text ({text!r}); mend or remove the record.")


def check_documents(documents: Sequence[BenchmarkDocument], source: Path) -> None:
    """Raise DataError naming file and record: no document, an id twice, a text that is empty."""
    if not documents:
        raise DataError(f"{source}: the corpus is empty.")
    _check_ids((document.doc_id for document in documents), "document", source)
    for document in documents:
        _check_text(document.text, f"document {document.doc_id!r}", source)


def _check_span(query: BenchmarkQuery, text: str, spans: bool, source: Path) -> None:
    span = (query.answer_start, query.answer_end)
    where = f"{source}: query {query.query_id!r}"
    if span == (None, None):
        if spans:
            raise DataError(f"{where} has no evidence span, which this step needs.")
    elif not all(type(end) is int for end in span) or not 0 <= span[0] < span[1] <= len(text):
        raise DataError(
            f"{where}: [{span[0]}, {span[1]}) is not a range of its document, "
            f"which has {len(text)} code points."
        )


def check_queries(
    queries: Sequence[BenchmarkQuery],
    documents: Sequence[BenchmarkDocument],
    source: Path,
    spans: bool = False,
) -> None:
    """Raise DataError naming file and record: what `check_documents` finds, an unknown document,
    an unknown position, a span outside the document; with `spans` also a query without a span."""
    if not queries:
        raise DataError(f"{source}: there is no query.")
    _check_ids((query.query_id for query in queries), "query", source)
    texts = {document.doc_id: document.text for document in documents}
    for query in queries:
        _check_text(query.text, f"query {query.query_id!r}", source)
        if query.position not in POSITIONS:
            raise DataError(
                f"{source}: query {query.query_id!r} has the position {query.position!r}; "
                f"expected one of {', '.join(POSITIONS)}."
            )
        if query.doc_id not in texts:
            raise DataError(
                f"{source}: query {query.query_id!r} belongs to document {query.doc_id!r}, "
                "which the corpus lacks."
            )
        _check_span(query, texts[query.doc_id], spans, source)


def check_qrels(
    qrels: Qrels,
    queries: Sequence[BenchmarkQuery],
    documents: Sequence[BenchmarkDocument],
    source: Path,
) -> None:
    """Raise DataError naming file and record: a judgement on an unknown query or document, and a
    query without a judgement."""
    query_ids = {query.query_id for query in queries}
    doc_ids = {document.doc_id for document in documents}
    for query_id, judged in qrels.items():
        if query_id not in query_ids:
            raise DataError(f"{source}: query {query_id!r} is judged but is not among the queries.")
        for doc_id in judged:
            if doc_id not in doc_ids:
                raise DataError(
                    f"{source}: query {query_id!r}: document {doc_id!r} is judged but the corpus "
                    "lacks it."
                )
    for query in queries:
        if query.query_id not in qrels:
            raise DataError(f"{source}: query {query.query_id!r} has no judgement.")


def read_benchmark(corpus: Path, queries: Path, qrels: Path, spans: bool = False) -> Benchmark:
    """Read and check a test collection: JSON lines of documents and queries, and TREC qrels.

    spans: demand an evidence span of every query. Raises DataError naming file and record.
    """
    documents = [
        BenchmarkDocument(record["doc_id"], record["text"])
        for record in read_jsonl(corpus, required=("doc_id", "text"))
    ]
    check_documents(documents, corpus)
    fields = tuple(BenchmarkQuery.__dataclass_fields__)
    read_queries = [
        BenchmarkQuery(**{field: record[field] for field in fields})
        for record in read_jsonl(queries, required=fields)
    ]
    check_queries(read_queries, documents, queries, spans)
    judgements = read_qrels(qrels)
    check_qrels(judgements, read_queries, documents, qrels)
    return Benchmark(documents, read_queries, judgements)
