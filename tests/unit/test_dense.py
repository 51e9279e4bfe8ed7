"""Exact cosine search: equal to a full matrix, whatever the sizes of the blocks."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import DataError
from posbias.retrieval.dense import normalise, search
from posbias.retrieval.products import DeviceProducts, HostProducts
from posbias.retrieval.running_top_k import NO_DOCUMENT, RunningTopK


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


def test_normalise_counts_from_the_first_row():
    with pytest.raises(DataError, match=r"document 4097 \(counted from 0\)"):
        normalise(np.array([[1.0, 2.0], [0.0, 0.0]]), "document", first=4096)


def streamed(queries, documents, indices, k, cuts, products=None, query_block=3) -> RunningTopK:
    best = RunningTopK(queries, k, query_block, products)
    for low, high in zip([0, *cuts], [*cuts, len(documents)], strict=True):
        best.add(documents[low:high], indices[low:high])
    return best


@st.composite
def tied_searches(draw):
    """Small whole numbers, so that products are exact and most of them tie."""
    n = draw(st.integers(1, 40))
    numbers = np.random.default_rng(draw(st.integers(0, 2**32)))
    documents = numbers.integers(-1, 2, size=(n, 2)).astype(np.float32)
    queries = numbers.integers(-1, 2, size=(draw(st.integers(1, 8)), 2)).astype(np.float32)
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=6)))
    return queries, documents, numbers.permutation(n), draw(st.integers(1, 45)), cuts


@pytest.fixture(params=["host", "device"], scope="module")
def products(request):
    if request.param == "host":
        return HostProducts()
    pytest.importorskip("torch")
    return DeviceProducts("cpu")


@given(tied_searches())
def test_blocks_and_indices_in_any_order_give_the_order_of_the_whole(products, case):
    queries, documents, indices, k, cuts = case
    best = streamed(queries, documents, indices, k, cuts, products)
    by_index = documents[np.argsort(indices)]
    scores = queries @ by_index.T
    wanted = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    found = wanted.shape[1]
    assert np.array_equal(best.indices[:, :found], wanted)
    assert np.array_equal(best.scores[:, :found], np.take_along_axis(scores, wanted, axis=1))
    assert (best.indices[:, found:] == NO_DOCUMENT).all()
    assert np.isneginf(best.scores[:, found:]).all()


def test_torch_and_numpy_find_the_same(vectors):
    pytest.importorskip("torch")
    queries, documents = vectors
    indices = np.arange(len(documents))
    host = streamed(queries, documents, indices, 50, [700, 1900], HostProducts(), 64)
    device = streamed(queries, documents, indices, 50, [700, 1900], DeviceProducts("cpu"), 64)
    assert np.array_equal(host.indices, device.indices)
    np.testing.assert_allclose(host.scores, device.scores, rtol=0, atol=6e-8)


def test_neither_all_vectors_nor_all_scores_are_ever_held():
    rng = np.random.default_rng(8)
    queries = normalise(rng.normal(size=(300, 64)), "query")
    n, block = 60_000, 1000
    tracemalloc.start()
    try:
        best = RunningTopK(queries, 20)
        for at in range(0, n, block):
            vectors = normalise(rng.normal(size=(block, 64)), "document", at)
            best.add(vectors, np.arange(at, at + block))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    vectors_of_all, scores_of_all = n * 64 * 4, n * len(queries) * 4
    assert peak < vectors_of_all < scores_of_all
    assert best.seen == n


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_vector_that_is_no_number_is_refused(bad):
    best = RunningTopK(np.ones((1, 2), dtype=np.float32), 3)
    with pytest.raises(DataError, match=r"document 1 .* is not a number"):
        best.add(np.array([[1, 2], [bad, 0]], dtype=np.float32), np.arange(2))
    with pytest.raises(DataError, match=r"query 0 .* is not a number"):
        RunningTopK(np.array([[bad, 0]], dtype=np.float32), 3)


def test_a_depth_below_one_is_refused():
    with pytest.raises(DataError, match="at least 1, is 0"):
        RunningTopK(np.ones((1, 2), dtype=np.float32), 0)
