"""The same candidates in the order of the first stage and in shuffled ones, reranked."""

from collections.abc import Sequence

import numpy as np

from posbias.listwise.collection import Collection
from posbias.listwise.lists import relevant_rows
from posbias.listwise.propensity import shuffled
from posbias.measures.ndcg import ndcg_of_grades
from posbias.retrieval.trec import Qrels

Lists = list[tuple[int, np.ndarray]]


def shuffled_lists(lists: Lists, collection: Collection, repeat: int, seed: int) -> Lists:
    """Return the lists in an order that depends on (seed, query id, repeat) only."""
    return [
        (
            query,
            passages[
                shuffled(seed, collection.query_ids[query], repeat, len(passages), use="order")
            ],
        )
        for query, passages in lists
    ]


def ndcg_of_lists(
    lists: Sequence[tuple[int, np.ndarray]],
    collection: Collection,
    qrels: Qrels,
    cutoff: int,
) -> np.ndarray:
    """Return nDCG@cutoff of ranked lists of passage rows, one value a list; grades count as gain.

    A relevant passage that the list lacks still counts in the ideal.
    """
    values = np.zeros(len(lists))
    for number, (query, passages) in enumerate(lists):
        judged = qrels.get(collection.query_ids[query], {})
        grades = [judged.get(collection.doc_ids[row], 0) for row in passages[:cutoff]]
        values[number] = ndcg_of_grades(grades, list(judged.values()), cutoff)
    return values


def with_every_query(
    lists: Lists, collection: Collection, qrels: Qrels, limit: int
) -> list[tuple[int, np.ndarray]]:
    """Return the lists of the first `limit` judged queries; one without candidates has none.

    A query that the first stage found nothing for counts 0 in every mean; it does not vanish.
    """
    found = dict(lists)
    empty = np.empty(0, dtype=np.int64)
    judged = [
        row
        for row in range(len(collection.query_ids))
        if len(relevant_rows(collection, qrels, row))
    ]
    return [(row, found.get(row, empty)) for row in judged[:limit]]
