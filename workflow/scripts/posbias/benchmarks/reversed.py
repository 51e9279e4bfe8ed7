"""The mirrored copy of a collection: every document's segments in reverse order (appendix E).

Evidence of the front comes to the back and the other way round, with the same queries and words,
so that what a retriever finds by where it stands can be told from what it finds by what it says.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from posbias.benchmarks.inputs import json_lines, named
from posbias.benchmarks.loaded import Loaded
from posbias.benchmarks.option_checks import Check, whole_number
from posbias.benchmarks.records import (
    BenchmarkDocument,
    BenchmarkQuery,
    check_ids,
    check_text,
    read_excluded,
    read_queries,
    third_of,
)
from posbias.corpus.segments import equal_ranges
from posbias.errors import DataError
from posbias.retrieval.trec import read_qrels

OPTIONS: dict[str, Check] = {"segments": whole_number(2)}
COUNTED = (
    "documents_with_fewer_characters_than_segments",
    "queries_whose_evidence_is_cut",
    "queries_without_a_known_place",
)
DIGITS = 6  # decimals of a code point that are kept of a share times a length

Cuts = Sequence[tuple[int, int]]


def mirrored_text(text: str, segments: int) -> str:
    """Return the text's equal segments, the last one first, with nothing between them.

    A text with fewer code points than segments stays as it is. Where the length is a multiple of
    `segments`, mirroring twice gives the text back; elsewhere lengths of segments differ by one,
    and the second time the cuts fall elsewhere.
    """
    if len(text) < segments:
        return text
    return "".join(text[start:end] for start, end in reversed(equal_ranges(len(text), segments)))


def mirrored_point(point: float, cuts: Cuts) -> float:
    """Return where a place in the text, in code points, comes to lie when its cuts are mirrored.

    A place on an inner cut belongs to the segment that ends there, 0 to the first one.
    """
    start, end = next(cut for cut in cuts if point <= cut[1])
    return cuts[-1][1] - end + (point - start)


def mirrored_span(start: int, end: int, cuts: Cuts) -> tuple[int, int] | None:
    """Return where a half-open range of code points comes to lie, None if a cut goes through it."""
    for first, last in cuts:
        if first <= start and end <= last:
            shift = cuts[-1][1] - last - first
            return start + shift, end + shift
    return None


def _cuts(length: int | None, segments: int) -> Cuts:
    """Return the cuts of a query's document; of a nominal one of equal parts if it has none."""
    if length is None:
        return equal_ranges(segments, segments)
    return equal_ranges(length, segments if length >= segments else 1)


def mirrored_query(
    query: BenchmarkQuery, length: int | None, segments: int, counts: Counter
) -> BenchmarkQuery:
    """Return a query with its evidence where the mirrored document holds it.

    length: of its document in code points, None where it has no main document. The middle of the
    evidence moves with the segment that holds it, also where a cut goes through the evidence,
    whose offsets are then lost; the one third is that of the new middle. Where neither offsets
    nor a middle are known, no place is left. `counts` says how often.
    """
    cuts = _cuts(length, segments)
    total = cuts[-1][1]
    span = None
    if query.answer_start is not None and query.answer_end is not None:
        middle = (query.answer_start + query.answer_end) / 2
        span = mirrored_span(query.answer_start, query.answer_end, cuts)
        counts["queries_whose_evidence_is_cut"] += span is None
    elif query.midpoint is not None:
        middle = round(query.midpoint * total, DIGITS)
    else:
        counts["queries_without_a_known_place"] += 1
        return replace(query, positions=(), answer_start=None, answer_end=None)
    start, end = span or (None, None)
    midpoint = mirrored_point(middle, cuts) / total
    return replace(
        query,
        positions=(third_of(midpoint),),
        answer_start=start,
        answer_end=end,
        midpoint=midpoint,
    )


def _documents(corpus: Path) -> Iterator[BenchmarkDocument]:
    for number, record in json_lines(corpus, ("doc_id", "text")):
        check_text(record["text"], "the document", f"{corpus}, line {number}")
        yield BenchmarkDocument(record["doc_id"], record["text"])


def _mirrored(corpus: Path, segments: int) -> Iterator[BenchmarkDocument]:
    for document in _documents(corpus):
        yield replace(document, text=mirrored_text(document.text, segments))


def _lengths(
    corpus: Path, queries: Sequence[BenchmarkQuery], segments: int, counts: Counter
) -> dict[str, int]:
    """Read the corpus once for the lengths of the queries' documents; count those left alone."""
    wanted = {query.doc_id for query in queries} - {None}
    lengths = {}
    for document in _documents(corpus):
        counts["documents_with_fewer_characters_than_segments"] += len(document.text) < segments
        if document.doc_id in wanted:
            lengths[document.doc_id] = len(document.text)
    return lengths


def _check_evidence(query: BenchmarkQuery, lengths: dict[str, int], where: str) -> int | None:
    """Return the length of a query's document, None where it has none.

    Raises DataError for a document that the corpus lacks, and for evidence outside it.
    """
    if query.doc_id is not None and query.doc_id not in lengths:
        raise DataError(f"{where} belongs to document {query.doc_id!r}, which the corpus lacks.")
    length = lengths.get(query.doc_id)
    span = (query.answer_start, query.answer_end)
    if span != (None, None):
        whole = all(type(one) is int for one in span)
        if not whole or length is None or not 0 <= span[0] < span[1] <= length:
            raise DataError(
                f"{where}: [{span[0]}, {span[1]}) is not a range of its document of {length} "
                "code points; build the collection again."
            )
    if query.midpoint is not None and not 0 <= query.midpoint <= 1:
        raise DataError(
            f"{where}: the middle of its evidence lies at {query.midpoint!r}; expected a share of "
            "its document in [0, 1]."
        )
    return length


def load_reversed(files: Sequence[Path], seed: int, segments: int) -> Loaded:
    """Make the mirrored copy of a built collection, with its judgements and exclusions.

    files: its documents, queries, judgements and exclusions, in this order. segments: equal parts
    of a document in code points (appendix E: 5). The corpus is read twice, as a stream. Raises
    DataError naming file and record.
    """
    if len(files) != 4:
        raise DataError(
            "a mirrored collection is made of the documents, queries, judgements and exclusions of "
            f"another, found {len(files)} files ({named(files)})."
        )
    corpus, queries, qrels, excluded = files
    asked = read_queries(queries)
    check_ids((query.query_id for query in asked), "query", queries)
    counts: Counter = Counter(dict.fromkeys(COUNTED, 0))
    lengths = _lengths(corpus, asked, segments, counts)
    placed = []
    for query in asked:
        length = _check_evidence(query, lengths, f"{queries}: query {query.query_id!r}")
        placed.append(mirrored_query(query, length, segments, counts))
    return Loaded(
        _mirrored(corpus, segments),
        placed,
        read_qrels(qrels),
        read_excluded(excluded),
        counts=dict(counts),
        corpus_note=(
            f"each document's {segments} equal segments stand in reverse order, the last one first"
        ),
    )
