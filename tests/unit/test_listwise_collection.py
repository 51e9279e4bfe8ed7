"""Collections: rows by name, and names that come twice."""

import dataclasses

import pytest

from listwise_toy import toy_collection
from posbias.errors import DataError
from posbias.listwise.collection import Collection


def test_rows_are_found_by_name():
    collection = toy_collection(3, 4)
    assert collection.query_rows == {"q0": 0, "q1": 1, "q2": 2}
    for row, doc_id in enumerate(collection.doc_ids):
        assert collection.doc_rows[doc_id] == row


def test_queries_and_passages_may_share_a_name_and_vectors_may_be_missing():
    collection = Collection(["a"], ["?"], ["a", "b"], ["text", "text"])
    assert collection.query_rows == {"a": 0}
    assert collection.doc_rows == {"a": 0, "b": 1}
    assert collection.query_vectors is None
    assert Collection([], [], [], []).doc_rows == {}


@pytest.mark.parametrize(
    ("query_ids", "doc_ids", "message"),
    [
        (["a", "b", "a"], ["c"], "query id 'a' occurs twice"),
        (["a"], ["c", "d", "d", "c"], "document id 'c' occurs twice"),
    ],
)
def test_a_name_that_comes_twice_is_named(query_ids, doc_ids, message):
    with pytest.raises(DataError, match=message):
        Collection(query_ids, query_ids, doc_ids, doc_ids)


def test_a_collection_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        toy_collection().queries = []
