"""Shuffled orders keyed by query, nDCG of lists of rows, and queries that found nothing."""

import dataclasses

import numpy as np
import pytest

from listwise_toy import toy_collection, toy_qrels
from posbias.listwise.collection import Collection
from posbias.listwise.lists import lists_run
from posbias.listwise.orders import ndcg_of_lists, shuffled_lists, with_every_query
from posbias.measures.ndcg import ndcg_per_query

COLLECTION = toy_collection(40, 30)
LISTS = [(query, np.random.default_rng(query).permutation(30)[:20]) for query in range(40)]


def without_first_query(collection: Collection) -> Collection:
    return dataclasses.replace(
        collection,
        query_ids=collection.query_ids[1:],
        queries=collection.queries[1:],
        query_vectors=collection.query_vectors[1:],
    )


def rows(lists):
    return [passages.tolist() for _, passages in lists]


def test_a_shuffle_keeps_queries_and_passages():
    found = shuffled_lists(LISTS, COLLECTION, 1, 7)
    assert [query for query, _ in found] == [query for query, _ in LISTS]
    assert [sorted(of_list) for of_list in rows(found)] == [sorted(r) for r in rows(LISTS)]
    assert all(new != old for new, old in zip(rows(found), rows(LISTS), strict=True))


def test_a_query_less_changes_no_other():
    found = rows(shuffled_lists(LISTS, COLLECTION, 2, 7))
    assert rows(shuffled_lists(LISTS[1:], COLLECTION, 2, 7)) == found[1:]
    assert rows(shuffled_lists(LISTS[::-1], COLLECTION, 2, 7)) == found[::-1]
    moved = [(query - 1, passages) for query, passages in LISTS[1:]]
    assert rows(shuffled_lists(moved, without_first_query(COLLECTION), 2, 7)) == found[1:]


def test_repeats_seeds_and_queries_have_shuffles_of_their_own():
    same = [(query, np.arange(20)) for query in range(40)]
    shuffles = {
        (query, repeat, seed): tuple(passages)
        for repeat in (1, 2, 3)
        for seed in (7, 8)
        for query, passages in shuffled_lists(same, COLLECTION, repeat, seed)
    }
    assert len(set(shuffles.values())) == len(shuffles)


def test_every_passage_visits_every_place_alike():
    lists = [(query, np.arange(4)) for query in range(40)]
    counts = np.zeros((4, 4))
    for repeat in range(100):
        for _, passages in shuffled_lists(lists, COLLECTION, repeat, 0):
            counts[np.arange(4), passages] += 1
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_lists_of_no_and_of_one_passage():
    lists = [(0, np.empty(0, np.int64)), (1, np.array([5]))]
    assert rows(shuffled_lists(lists, COLLECTION, 1, 7)) == [[], [5]]


def test_equal_to_ir_measures_on_runs():
    rng = np.random.default_rng(3)
    qrels = toy_qrels(
        COLLECTION,
        {
            query: {int(row): int(rng.integers(0, 4)) for row in rng.permutation(30)[:5]}
            for query in range(39)
        },
    )
    run = lists_run(COLLECTION, range(40), [passages for _, passages in LISTS])
    expected = ndcg_per_query(qrels, run, 10)
    found = ndcg_of_lists(LISTS, COLLECTION, qrels, 10)
    for query in range(39):
        assert found[query] == pytest.approx(expected[f"q{query}"], abs=1e-6)
    assert found[39] == 0
    assert len(set(found)) > 20


def test_a_query_without_candidates_counts_zero_and_stays():
    qrels = toy_qrels(COLLECTION, {0: {1: 1}, 1: {2: 1}, 2: {3: 0}, 4: {4: 1}, 5: {5: 1}})
    found = with_every_query([(4, np.array([4, 9])), (0, np.array([1]))], COLLECTION, qrels, 3)
    assert [(query, passages.tolist()) for query, passages in found] == [
        (0, [1]),
        (1, []),
        (4, [4, 9]),
    ]
    assert ndcg_of_lists(found, COLLECTION, qrels, 10).tolist() == [1, 0, 1]
    every = with_every_query([], COLLECTION, qrels, 100)
    assert ndcg_of_lists(every, COLLECTION, qrels, 10).tolist() == [0] * 4
