"""What a loader makes of a data set, and the choice of its queries."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from posbias.benchmarks.records import BenchmarkDocument, BenchmarkQuery, Excluded
from posbias.errors import DataError
from posbias.keyed import keyed_order
from posbias.retrieval.trec import Qrels

PUBLIC_SEED = 42  # of the position benchmarks' public code
PUBLIC, KEYED = "public", "keyed"  # orders that a sample is taken in
KEEP, LAST = "keep", "last"  # judgements of questions that several queries ask
MOST_GRADE = 1000  # of a judgement: memory and gain of nDCG grow with the highest


@dataclass(frozen=True)
class Loaded:
    """A test collection as its files become it.

    documents: to be read once, as they may come as a stream; counts: what was dropped or changed
    and why; corpus_note: what a reader of the measures must know of the corpus, or None.
    """

    documents: Iterable[BenchmarkDocument]
    queries: list[BenchmarkQuery]
    qrels: Qrels
    excluded: Excluded = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    corpus_note: str | None = None


def check_grade(grade: int, where: str) -> None:
    """Raise DataError naming the place for a grade above 1000; negative ones are left alone."""
    if grade > MOST_GRADE:
        raise DataError(
            f"{where}: the score {grade} is above {MOST_GRADE}; grades of relevance are whole "
            f"numbers from 0 to {MOST_GRADE} (a negative one counts as 0). Map the scores to such."
        )


def ordered(queries: Sequence[BenchmarkQuery], seed: int, by: str) -> list[BenchmarkQuery]:
    """Order queries for a sample: as the public code shuffles them, or by keyed hash of their id.

    by: "public", which needs the queries in the order of the data set's rows, or "keyed", whose
    samples do not reshuffle when queries are added.
    """
    if by == KEYED:
        return keyed_order(queries, seed, key=lambda query: query.query_id)
    order = list(queries)
    random.Random(PUBLIC_SEED).shuffle(order)
    return order


def judge_questions(
    queries: Sequence[BenchmarkQuery], labels: Mapping[str, str], duplicates: str
) -> tuple[Qrels, dict[str, int]]:
    """Return the judgements of queries with one relevant document each, and counts of duplicates.

    labels: relevant document by query id, in the order of the data set's rows. duplicates: "keep"
    judges each query by its own document; "last" gives all queries of one text the document of
    the last of them, as the public code does without saying so (its labels are a dictionary).
    """
    last = {query.text: labels[query.query_id] for query in queries}
    elsewhere = sum(last[query.text] != labels[query.query_id] for query in queries)
    counts = {
        "repeated_question_texts": len(queries) - len(last),
        "question_texts_that_end_at_another_document": elsewhere,
    }
    chosen = labels if duplicates == KEEP else {q.query_id: last[q.text] for q in queries}
    return {query.query_id: {chosen[query.query_id]: 1} for query in queries}, counts


def judged_sample(
    queries: Sequence[BenchmarkQuery],
    chosen: Sequence[BenchmarkQuery],
    duplicates: str,
    counts: Counter,
) -> Qrels:
    """Return the judgements of the chosen ones of queries with one relevant document each.

    duplicates: as for `judge_questions`, which looks at all queries. Counts of duplicates, and of
    the queries that were not chosen, are added to `counts`.
    """
    labels = {query.query_id: query.doc_id for query in queries}
    qrels, repeated = judge_questions(queries, labels, duplicates)
    counts["left_out_of_the_sample"] = len(queries) - len(chosen)
    counts.update(repeated)
    return {query.query_id: qrels[query.query_id] for query in chosen}
