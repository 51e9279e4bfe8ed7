"""Exact cosine search: equal to a full matrix, whatever the sizes of the blocks."""

import numpy as np
import pytest

from posbias.errors import DataError
from posbias.retrieval.dense import normalise, search


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(3)
    return (
        normalise(rng.normal(size=(200, 48)), "query"),
        normalise(rng.normal(size=(2500, 48)), "document"),
    )


@pytest.mark.parametrize("blocks", [(256, 16_384), (1, 2500), (7, 100), (200, 1), (33, 999)])
def test_does_not_depend_on_the_blocks(vectors, blocks):
    queries, documents = vectors
    if blocks[1] == 1:
        documents = documents[:150]
    cosines = queries.astype(np.float64) @ documents.T.astype(np.float64)
    indices, scores = search(queries, documents, 100, *blocks)
    wanted = np.argsort(-cosines, axis=1, kind="stable")[:, :100]
    assert np.array_equal(indices, wanted)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, np.take_along_axis(cosines, wanted, axis=1), atol=1e-7)


def test_one_query_alone_and_among_others_at_a_great_depth(vectors):
    queries, documents = vectors
    together, scores_together = search(queries, documents, 2000)
    alone, scores_alone = search(queries[5:6], documents, 2000)
    assert np.array_equal(alone[0], together[5])
    assert np.array_equal(scores_alone[0], scores_together[5])


def test_equal_documents_keep_their_order_across_blocks():
    documents = np.tile(normalise(np.array([[0.3, 0.4, 0.1]]), "document"), (10, 1))
    documents[4] = [1, 0, 0]
    indices, _ = search(np.array([[1, 0, 0]], dtype=np.float32), documents, 6, document_block=3)
    assert indices.tolist() == [[4, 0, 1, 2, 3, 5]]


def test_depth_above_the_corpus_returns_every_document(vectors):
    queries, documents = vectors
    indices, _ = search(queries[:2], documents[:3], 10)
    assert np.array_equal(np.sort(indices, axis=1), [[0, 1, 2]] * 2)


def test_an_empty_corpus_is_refused(vectors):
    with pytest.raises(DataError, match="corpus is empty"):
        search(vectors[0], vectors[1][:0], 5)


def test_normalise_gives_unit_vectors_also_from_extreme_lengths():
    unit = normalise(np.array([[3e-30, 4e-30], [3e30, 4e30], [-0.6, 0.8]]), "document")
    np.testing.assert_allclose(unit, [[0.6, 0.8], [0.6, 0.8], [-0.6, 0.8]], rtol=1e-6)
    assert unit.dtype == np.float32


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_normalise_names_a_vector_without_direction(bad):
    with pytest.raises(DataError, match=r"document 1 \(counted from 0\)"):
        normalise(np.array([[1.0, 2.0], [bad, bad]]), "document")
