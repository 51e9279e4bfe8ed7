"""The one common record of a position-grouped test collection, and its checks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError
from posbias.files import lone_surrogate, read_json, read_jsonl
from posbias.retrieval.trec import Qrels, read_qrels

# Documents that a query's run must not hold, such as the query itself: {query_id: [doc_id]}.
Excluded = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class BenchmarkDocument:
    """One passage of the corpus."""

    doc_id: str
    text: str

    def record(self) -> dict:
        return asdict(self)


@dataclass(frozen=True)
class BenchmarkQuery:
    """One query, its main document, and where in it the evidence lies.

    doc_id: None where no document is the main one. positions: the thirds that hold the evidence,
    in their order; none if unknown. `answer_start` and `answer_end` are half-open 0-based code
    points of the document, or None where the evidence has no known offsets. midpoint: middle of
    the evidence as a share of its document, in [0, 1]; document_tokens: length of the document as
    the data set counts it.
    """

    query_id: str
    text: str
    doc_id: str | None
    positions: tuple[str, ...]
    answer_start: int | None
    answer_end: int | None
    midpoint: float | None = None
    document_tokens: int | None = None

    def record(self) -> dict:
        """Return the fields for a JSON line, less the optional ones that are unknown."""
        fields = asdict(self) | {"positions": list(self.positions)}
        return {k: v for k, v in fields.items() if v is not None or k not in OPTIONAL}


OPTIONAL = ("midpoint", "document_tokens")
REQUIRED = tuple(name for name in BenchmarkQuery.__dataclass_fields__ if name not in OPTIONAL)


@dataclass(frozen=True)
class Benchmark:
    """Documents and queries in the order of their files, the judgements, and what to leave out."""

    documents: list[BenchmarkDocument]
    queries: list[BenchmarkQuery]
    qrels: Qrels
    excluded: Excluded = field(default_factory=dict)


def span_midpoint(start: int | None, end: int | None, length: int) -> float | None:
    """Return the middle of a half-open span as a share of its text, None if it is no span of it.

    start, end, length: characters. The result lies in [0, 1].
    """
    if not all(type(one) is int for one in (start, end)) or not 0 <= start < end <= length:
        return None
    return (start + end) / 2 / length


def third_of(midpoint: float) -> str:
    """Return the third of a document that a share of its length lies in.

    A share on an inner border belongs to the later third.
    """
    return POSITIONS[min(int(midpoint * len(POSITIONS)), len(POSITIONS) - 1)]


def check_writable(text: str, what: str, source: Path | str) -> None:
    """Raise DataError naming the source and what has a text that no file can hold."""
    found = lone_surrogate(text)
    if found:
        raise DataError(
            f"{source}: {what} holds {found}, a lone surrogate, which is half of a sign; mend or "
            "remove the record."
        )


def check_ids(ids: Iterable[object], what: str, source: Path | str) -> None:
    """Raise DataError naming the source and the first id that is no text, or occurs twice."""
    seen: set[str] = set()
    for number, one in enumerate(ids, start=1):
        if not isinstance(one, str) or not one:
            raise DataError(f"{source}: {what} {number} has the id {one!r}; expected a text.")
        check_writable(one, f"the id of {what} {number}", source)
        if one in seen:
            raise DataError(f"{source}: {what} {one!r} occurs twice; give each an id of its own.")
        seen.add(one)


def check_text(text: object, what: str, source: Path | str) -> None:
    """Raise DataError naming the source and what has no text, or one that no file can hold."""
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"{source}: {what} has no text ({text!r}); mend or remove the record.")
    check_writable(text, what, source)


def check_documents(documents: Sequence[BenchmarkDocument], source: Path | str) -> None:
    """Raise DataError naming file and record: no document, an id twice, a text that is empty."""
    if not documents:
        raise DataError(f"{source}: the corpus is empty.")
    check_ids((document.doc_id for document in documents), "document", source)
    for document in documents:
        check_text(document.text, f"document {document.doc_id!r}", source)


def _check_span(query: BenchmarkQuery, text: str | None, spans: bool, where: str) -> None:
    span = (query.answer_start, query.answer_end)
    if span == (None, None):
        if spans:
            raise DataError(f"{where} has no evidence span, which this step needs.")
    elif text is None:
        raise DataError(f"{where}: [{span[0]}, {span[1]}) is a range of no document.")
    elif not all(type(end) is int for end in span) or not 0 <= span[0] < span[1] <= len(text):
        raise DataError(
            f"{where}: [{span[0]}, {span[1]}) is not a range of its document, "
            f"which has {len(text)} code points."
        )


def _check_evidence(query: BenchmarkQuery, where: str) -> None:
    for position in query.positions:
        if position not in POSITIONS:
            raise DataError(
                f"{where} has the position {position!r}; expected one of {', '.join(POSITIONS)}."
            )
    if len(set(query.positions)) < len(query.positions):
        raise DataError(f"{where} names a position twice: {', '.join(query.positions)}.")
    if query.midpoint is not None and not 0 <= query.midpoint <= 1:
        raise DataError(
            f"{where}: the middle of its evidence lies at {query.midpoint!r} of its document; "
            "expected a share in [0, 1]."
        )


def check_queries(
    queries: Sequence[BenchmarkQuery],
    documents: Iterable[BenchmarkDocument],
    source: Path | str,
    spans: bool = False,
) -> None:
    """Raise DataError naming file and record: what `check_documents` finds, an unknown document,
    an unknown position, a span outside the document; with `spans` also a query without a span."""
    if not queries:
        raise DataError(f"{source}: there is no query.")
    check_ids((query.query_id for query in queries), "query", source)
    texts = {document.doc_id: document.text for document in documents}
    for query in queries:
        where = f"{source}: query {query.query_id!r}"
        check_text(query.text, f"query {query.query_id!r}", source)
        if query.doc_id is not None and query.doc_id not in texts:
            raise DataError(
                f"{where} belongs to document {query.doc_id!r}, which the corpus lacks."
            )
        _check_span(query, texts.get(query.doc_id), spans, where)
        _check_evidence(query, where)


def check_qrels(
    qrels: Qrels,
    queries: Sequence[BenchmarkQuery],
    documents: Sequence[BenchmarkDocument],
    source: Path | str,
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


def check_excluded(
    excluded: Excluded, query_ids: Iterable[str], qrels: Qrels, source: Path | str
) -> None:
    """Raise DataError naming file and record: an unknown query, a document that is judged too."""
    known = set(query_ids)
    for query_id, doc_ids in excluded.items():
        if query_id not in known:
            raise DataError(f"{source}: query {query_id!r} is not among the queries.")
        for doc_id in doc_ids:
            if doc_id in qrels.get(query_id, {}):
                raise DataError(
                    f"{source}: query {query_id!r}: document {doc_id!r} is both judged and to be "
                    "left out of its run."
                )


def _query(record: Mapping, where: str) -> BenchmarkQuery:
    positions = record["positions"]
    if not isinstance(positions, list) or not all(isinstance(one, str) for one in positions):
        raise DataError(f"{where}: positions is {positions!r}; expected a list of texts.")
    optional = {name: record[name] for name in OPTIONAL if name in record}
    fields = {name: record[name] for name in REQUIRED} | {"positions": tuple(positions)}
    return BenchmarkQuery(**fields, **optional)


def read_queries(path: Path) -> list[BenchmarkQuery]:
    """Read queries from JSON lines, not held against a corpus; raises DataError naming the line."""
    return [
        _query(record, f"{path}, line {number}")
        for number, record in enumerate(read_jsonl(path, required=REQUIRED), start=1)
    ]


def read_excluded(path: Path) -> Excluded:
    """Read which documents each query's run must not hold; raises DataError for another shape."""
    excluded = read_json(path)
    if not isinstance(excluded, dict) or not all(
        isinstance(doc_ids, list) and all(isinstance(one, str) for one in doc_ids)
        for doc_ids in excluded.values()
    ):
        raise DataError(f"{path}: expected an object of lists of document ids by query id.")
    return excluded


def read_benchmark(
    corpus: Path, queries: Path, qrels: Path, spans: bool = False, excluded: Path | None = None
) -> Benchmark:
    """Read and check a test collection: JSON lines of documents and queries, and TREC qrels.

    spans: demand an evidence span of every query; excluded: JSON of what each query's run must
    not hold. Raises DataError naming file and record.
    """
    documents = [
        BenchmarkDocument(record["doc_id"], record["text"])
        for record in read_jsonl(corpus, required=("doc_id", "text"))
    ]
    check_documents(documents, corpus)
    asked = read_queries(queries)
    check_queries(asked, documents, queries, spans)
    judgements = read_qrels(qrels)
    check_qrels(judgements, asked, documents, qrels)
    left_out = read_excluded(excluded) if excluded else {}
    check_excluded(left_out, (query.query_id for query in asked), judgements, excluded or qrels)
    return Benchmark(documents, asked, judgements, left_out)
