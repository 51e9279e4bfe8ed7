"""SQuAD-PosQ: SQuAD's questions by where in its passage the answer starts (section 4.3).

The benchmark is not a file of its own: Zeng et al. (2025) build it from SQuAD v2, training and
validation questions together, and group the questions by the character their answer starts at.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from posbias.benchmarks.inputs import (
    check_one_format,
    find_files,
    named,
    parquet_rows,
    text_id,
    trec_safe,
)
from posbias.benchmarks.loaded import KEEP, LAST, Loaded, judged_sample, ordered
from posbias.benchmarks.option_checks import Check, one_of, sample_by
from posbias.benchmarks.records import (
    BenchmarkDocument,
    BenchmarkQuery,
    check_documents,
    check_ids,
    check_queries,
    check_text,
    span_midpoint,
    third_of,
)
from posbias.errors import DataError
from posbias.files import read_json

COLUMNS = ("id", "context", "question", "answers")
SHAPE = (
    "expected SQuAD's form: data, a list of articles; each with paragraphs of context and qas; "
    "each of qas with id, question and answers of text and answer_start"
)


COUNTED = (
    "questions",
    "unanswerable",
    "answers_not_at_their_start",
    "answers_outside_their_passage",
    "renamed_ids",
)


class Question(NamedTuple):
    """A question with its answers, as a file holds them."""

    query_id: Any
    text: Any
    answers: Sequence[Any]
    starts: Sequence[Any]


def _of_paragraph(paragraph: Mapping) -> Iterator[tuple[Any, Question | None]]:
    if not paragraph["qas"]:
        yield paragraph["context"], None
    for asked in paragraph["qas"]:
        answers = asked["answers"]
        yield (
            paragraph["context"],
            Question(
                asked["id"],
                asked["question"],
                [answer["text"] for answer in answers],
                [answer["answer_start"] for answer in answers],
            ),
        )


def _read_json(path: Path) -> Iterator[tuple[Any, Question | None]]:
    """Yield passage and question, or a passage alone, of SQuAD's JSON (v1.1, v2.0, XQuAD)."""
    where = str(path)
    try:
        for number, article in enumerate(read_json(path)["data"], start=1):
            for at, paragraph in enumerate(article["paragraphs"], start=1):
                where = f"{path}, article {number}, paragraph {at}"
                yield from _of_paragraph(paragraph)
    except KeyError as fault:
        raise DataError(f"{where}: the field {fault} is missing; {SHAPE}.") from fault
    except (TypeError, AttributeError) as fault:
        raise DataError(f"{where}: another shape ({fault}); {SHAPE}.") from fault


def _read_parquet(path: Path) -> Iterator[tuple[Any, Question | None]]:
    """Yield passage and question of a Parquet file as the hub holds SQuAD."""
    for number, row in parquet_rows(path, COLUMNS):
        texts, starts = _answers(row["answers"], f"{path}, row {number}")
        yield row["context"], Question(row["id"], row["question"], texts, starts)


def _answers(answers: Any, where: str) -> tuple[list, list]:
    """Return texts and starts of a Parquet file's answers; lists that are null are empty."""
    if isinstance(answers, Mapping) and {"text", "answer_start"} <= set(answers):
        texts, starts = (
            [] if answers[name] is None else answers[name] for name in ("text", "answer_start")
        )
        if isinstance(texts, list) and isinstance(starts, list):
            return texts, starts
    raise DataError(f"{where}: answers is {answers!r}; expected lists of text and answer_start.")


def _span(
    question: Question, context: str, where: str, misplaced: str, counts: Counter
) -> tuple | None:
    """Return start and end of the first answer, (None, None) outside its passage, None to drop."""
    start, answer = question.starts[0], question.answers[0]
    if type(start) is not int or not isinstance(answer, str) or not answer:
        raise DataError(f"{where}: its first answer is {answer!r} at {start!r}.")
    if start < 0 or context[start : start + len(answer)] != answer:
        if misplaced == "error":
            raise DataError(
                f"{where}: its passage does not hold the answer {answer!r} at character {start}; "
                "mend the file, or set misplaced_answers to count or drop."
            )
        counts["answers_not_at_their_start"] += 1
        if misplaced == "drop":
            return None
    if not 0 <= start < len(context):
        counts["answers_outside_their_passage"] += 1
        return None, None
    return start, min(start + len(answer), len(context))


def _query(
    question: Question, context: str, where: str, misplaced: str, counts: Counter
) -> BenchmarkQuery | None:
    """Make a query of a question, or count why it is none."""
    counts["questions"] += 1
    if len(question.answers) != len(question.starts):
        raise DataError(
            f"{where}: {len(question.answers)} answers at {len(question.starts)} starts."
        )
    if not question.starts:
        counts["unanswerable"] += 1
        return None
    if not isinstance(question.query_id, str):
        raise DataError(f"{where}: the id is not a text.")
    span = _span(question, context, where, misplaced, counts)
    if span is None:
        return None
    query_id = trec_safe(question.query_id)
    counts["renamed_ids"] += query_id != question.query_id
    middle = span_midpoint(*span, len(context))
    return BenchmarkQuery(
        query_id=query_id,
        text=question.text,
        doc_id=text_id(context),
        positions=() if middle is None else (third_of(middle),),
        answer_start=span[0],
        answer_end=span[1],
        midpoint=middle,
    )


def _collect(
    files: Sequence[Path], misplaced: str, counts: Counter
) -> tuple[list[BenchmarkQuery], list[BenchmarkDocument]]:
    """Return the answerable questions in the order of the files, and every passage once."""
    texts: set[str] = set()
    queries = []
    for file in files:
        read = _read_parquet if file.suffix == ".parquet" else _read_json
        for context, question in read(file):
            what = f"question {question.query_id!r}" if question else "a paragraph"
            check_text(context, f"the passage of {what}", file)
            texts.add(context)
            if question is None:
                continue
            query = _query(question, context, f"{file}: {what}", misplaced, counts)
            if query is not None:
                queries.append(query)
    return queries, [BenchmarkDocument(text_id(text), text) for text in sorted(texts)]


def sampled(
    queries: Sequence[BenchmarkQuery], seed: int, by: str, size: int
) -> list[BenchmarkQuery]:
    """Return a sample of `size` queries; by: see `posbias.benchmarks.loaded.ordered`."""
    return ordered(queries, seed, by)[:size]


OPTIONS: dict[str, Check] = {
    "duplicate_questions": one_of(KEEP, LAST),
    "misplaced_answers": one_of("count", "drop", "error"),
    "sample": sample_by(sampled, "size"),
}


def load_squad(
    files: Sequence[Path],
    seed: int,
    duplicate_questions: str = KEEP,
    misplaced_answers: str = "count",
    sample: Mapping[str, Any] | None = None,
) -> Loaded:
    """Make SQuAD-PosQ of SQuAD's files in JSON or Parquet, several of them put together.

    The corpus is every passage once, sorted by its text, also those of unanswerable questions,
    which are no queries; a document's id is a hash of its text. `answer_start` is the first
    answer's, and the middle of this answer decides the third. duplicate_questions: see
    `posbias.benchmarks.loaded.judge_questions`. misplaced_answers: "count" takes an answer's start
    as it is where its passage holds another text there, "drop" drops the query, "error" raises
    DataError. sample: `by` and `size` of the queries, as in SQuAD-PosQ-Tiny (public, 10,000).
    """
    found = find_files(files, "*.parquet", "*.json")
    if not found:
        raise DataError(f"{named(files)}: holds no Parquet or JSON file of SQuAD.")
    check_one_format(found, "SQuAD")
    counts: Counter = Counter(dict.fromkeys(COUNTED, 0))
    queries, documents = _collect(found, misplaced_answers, counts)
    check_documents(documents, named(found))
    ids = (query.query_id for query in queries)
    check_ids(ids, "query", f"{named(found)} (v2.0 holds the questions of v1.1; name one)")
    check_queries(queries, documents, named(found))
    chosen = sampled(queries, seed, **sample) if sample else queries
    qrels = judged_sample(queries, chosen, duplicate_questions, counts)
    return Loaded(documents, chosen, qrels, counts=dict(counts))
