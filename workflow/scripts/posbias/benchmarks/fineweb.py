"""FineWeb-PosQ: long passages, questions by the third their chunk lies in (section 4.3).

Zeng et al. (2025), appendix B.2: a language model wrote each question on a chunk of a passage;
a chunk that crosses a border between thirds has two tags, and its question counts in both.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from posbias.benchmarks.inputs import find_tables, json_lines, named, parquet_rows, text_id
from posbias.benchmarks.loaded import KEEP, LAST, Loaded, judged_sample, ordered
from posbias.benchmarks.option_checks import Check, one_of, sample_by
from posbias.benchmarks.records import (
    BenchmarkDocument,
    BenchmarkQuery,
    check_documents,
    check_queries,
    check_text,
    span_midpoint,
)
from posbias.corpus.segments import POSITIONS, thirds
from posbias.errors import DataError

COLUMNS = ("question", "content", "span_class")
# The data set's tags, and those of its paper's algorithm.
TAGS = {
    "beginning": "begin",
    "before": "begin",
    "middle": "middle",
    "end": "end",
    "after": "end",
}
COUNTED = ("rows", "corpus_only_rows", "questions_without_tag", "questions_with_several_tags")


def _rows(files: Sequence[Path]) -> Iterator[tuple[str, dict]]:
    for file in files:
        if file.suffix == ".parquet":
            rows = parquet_rows(file, COLUMNS, optional=("span",))
        else:
            rows = json_lines(file, ("content",))
        for number, row in rows:
            yield f"{file}, row {number}", row


def _positions(tags: Any, where: str) -> tuple[str, ...]:
    """Return the thirds that tags name, in the order of the thirds; raises DataError otherwise."""
    if tags is None:
        return ()
    if not isinstance(tags, list):
        raise DataError(f"{where}: span_class is {tags!r}; expected a list of tags.")
    for tag in tags:
        if not isinstance(tag, str) or tag not in TAGS:
            raise DataError(f"{where}: the tag {tag!r} is not one of {', '.join(TAGS)}.")
    named_thirds = {TAGS[tag] for tag in tags}
    return tuple(position for position in POSITIONS if position in named_thirds)


def _span(row: Mapping, text: str, where: str) -> tuple[int, int] | None:
    """Return the row's span if it is a range of the passage's characters."""
    span = row.get("span")
    if span is None:
        return None
    if not isinstance(span, list) or len(span) != 2 or not all(type(end) is int for end in span):
        raise DataError(f"{where}: span is {span!r}; expected two whole numbers.")
    if not 0 <= span[0] < span[1] <= len(text):
        return None
    if len(text) < len(POSITIONS):
        raise DataError(
            f"{where}: its content {text!r} is too short for a span, as it has no thirds; mend or "
            "remove the record."
        )
    return tuple(span)


def _thirds_of(span: tuple[int, int], n_chars: int) -> tuple[str, ...]:
    ranges = zip(POSITIONS, thirds(n_chars), strict=True)
    return tuple(name for name, (low, high) in ranges if span[0] < high and low < span[1])


def sampled(
    queries: Sequence[BenchmarkQuery], seed: int, by: str, per_position: int
) -> list[BenchmarkQuery]:
    """Return a sample of so many queries for each third, every question text once.

    As the public code does: the first of each third in one order, begin, middle, end, and of
    those with one text the first. by: see `posbias.benchmarks.loaded.ordered`.
    """
    order = ordered(queries, seed, by)
    chosen: dict[str, BenchmarkQuery] = {}
    for position in POSITIONS:
        for query in [one for one in order if position in one.positions][:per_position]:
            chosen.setdefault(query.text, query)
    return list(chosen.values())


OPTIONS: dict[str, Check] = {
    "duplicate_questions": one_of(KEEP, LAST),
    "span_unit": one_of(None, "characters"),
    "sample": sample_by(sampled, "per_position"),
}


def load_fineweb(
    files: Sequence[Path],
    seed: int,
    duplicate_questions: str = KEEP,
    span_unit: str | None = None,
    sample: Mapping[str, Any] | None = None,
) -> Loaded:
    """Make FineWeb-PosQ of its files in Parquet or JSON lines, filtered or raw.

    A row without a question gives its passage to the corpus only; a query's id is the number of
    its row over all files, a document's a hash of its text. duplicate_questions: see
    `posbias.benchmarks.loaded.judge_questions`. span_unit: "characters" takes `span` as the
    evidence's half-open range; None leaves it alone, as the data set does not state its unit. How
    often the range in characters agrees with the tags is counted in either case. sample: `by` and
    `per_position`, as in the public code's sampled mode (public, 1,000).
    """
    found = find_tables(files, "FineWeb-PosQ")
    counts: Counter = Counter(dict.fromkeys(COUNTED, 0))
    spans: Counter = Counter({"agree_with_the_tags": 0, "of": 0})
    ids: dict[str, str] = {}
    queries = []
    for number, (where, row) in enumerate(_rows(found), start=1):
        text = row["content"]
        check_text(text, "its content", where)
        doc_id = ids.setdefault(text, text_id(text))
        counts["rows"] += 1
        question = row.get("question")
        if question is None or question == "":
            counts["corpus_only_rows"] += 1
            continue
        check_text(question, "its question", where)
        positions = _positions(row.get("span_class"), where)
        counts["questions_without_tag"] += not positions
        counts["questions_with_several_tags"] += len(positions) > 1
        span = _span(row, text, where)
        if row.get("span") is not None:
            spans["of"] += 1
            spans["agree_with_the_tags"] += (
                span is not None and _thirds_of(span, len(text)) == positions
            )
        start, end = span if span and span_unit else (None, None)
        queries.append(
            BenchmarkQuery(
                query_id=f"row{number}",
                text=question,
                doc_id=doc_id,
                positions=positions,
                answer_start=start,
                answer_end=end,
                midpoint=span_midpoint(start, end, len(text)),
            )
        )
    documents = [BenchmarkDocument(ids[text], text) for text in sorted(ids)]
    check_documents(documents, named(found))
    check_queries(queries, documents, named(found))
    chosen = sampled(queries, seed, **sample) if sample else queries
    qrels = judged_sample(queries, chosen, duplicate_questions, counts)
    told = {**counts, "spans_as_characters": dict(spans)}
    return Loaded(documents, chosen, qrels, counts=told)
