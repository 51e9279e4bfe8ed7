"""Shards of a corpus: their lines, their files, and a merger equal to the uncut search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import ConfigError, DataError
from posbias.retrieval.running_top_k import NO_DOCUMENT, RunningTopK
from posbias.retrieval.sharded import (
    Hits,
    HitsOrigin,
    deepest_exclusion,
    merge_hits,
    read_hits,
    shard_lines,
    whole_searches,
    write_hits,
)


@given(st.integers(1, 500), st.integers(1, 12), st.integers(1, 60))
def test_shards_part_the_corpus_into_whole_blocks(n, shards, block):
    ranges = [shard_lines(n, shard, shards, block) for shard in range(shards)]
    assert [line for lines in ranges for line in lines] == list(range(n))
    blocks = [-(-len(lines) // block) for lines in ranges]
    assert max(blocks) - min(blocks) <= 1
    assert all(lines.start % block == 0 for lines in ranges if lines)


@pytest.mark.parametrize(("shard", "shards", "block"), [(2, 2, 5), (-1, 2, 5), (0, 0, 5)])
def test_a_shard_that_does_not_exist_is_refused(shard, shards, block):
    with pytest.raises(ConfigError, match=f"shard {shard} .* is none of {shards}"):
        shard_lines(10, shard, shards, block)


def test_a_block_of_no_document_is_refused():
    with pytest.raises(ConfigError, match="block_documents must be at least 1"):
        shard_lines(10, 0, 1, 0)


def search_range(queries, documents, lines, k) -> Hits:
    best = RunningTopK(queries, k)
    best.add(documents[lines.start : lines.stop], np.arange(lines.start, lines.stop))
    return Hits(best.indices, best.scores)


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
@given(seed=st.integers(0, 2**32), k=st.integers(1, 60), n=st.integers(1, 50))
def test_merged_shards_are_the_uncut_search(shards, seed, k, n):
    """Whole numbers tie within and across shards; k is above some shards and corpora."""
    rng = np.random.default_rng(seed)
    documents = rng.integers(-1, 2, size=(n, 2)).astype(np.float32)
    queries = rng.integers(-1, 2, size=(5, 2)).astype(np.float32)
    parts = [
        search_range(queries, documents, shard_lines(n, shard, shards, 4), k)
        for shard in range(shards)
    ]
    uncut = search_range(queries, documents, range(n), k)
    for order in (parts, parts[::-1]):
        merged = merge_hits(order, k)
        assert np.array_equal(merged.indices, uncut.indices)
        assert np.array_equal(merged.scores, uncut.scores)


def test_ties_across_shards_go_by_index_though_a_later_shard_has_the_lower_one():
    first = Hits(np.array([[7, 9]]), np.array([[0.5, 0.5]], np.float32))
    second = Hits(np.array([[3, 8]]), np.array([[0.5, 0.5]], np.float32))
    assert merge_hits([first, second], 3).indices.tolist() == [[3, 7, 8]]


def test_more_queries_than_a_block_of_the_merger(monkeypatch):
    monkeypatch.setattr("posbias.retrieval.sharded.MERGE_BLOCK", 3)
    rng = np.random.default_rng(2)
    parts = [
        Hits(np.tile(np.arange(low, low + 4), (10, 1)), -np.sort(-rng.random((10, 4), np.float32)))
        for low in (0, 4)
    ]
    merged = merge_hits(parts, 8)
    scores = np.hstack([part.scores for part in parts])
    assert np.array_equal(merged.indices, np.argsort(-scores, axis=1, kind="stable"))


def test_deepest_exclusion_counts_documents_once():
    assert deepest_exclusion({}) == 0
    assert deepest_exclusion({"q1": ["a"], "q2": ["b", "c", "b"]}) == 2


def some_hits(n_queries: int = 3, k: int = 2) -> Hits:
    return Hits(
        np.arange(n_queries * k).reshape(n_queries, k),
        np.linspace(1, 0, n_queries * k, dtype=np.float32).reshape(n_queries, k),
    )


def test_hits_return_from_their_file_unchanged(tmp_path):
    padded = Hits(np.array([[4, NO_DOCUMENT]]), np.array([[0.1, -np.inf]], dtype=np.float32))
    path = tmp_path / "hits.npz"
    write_hits(path, HitsOrigin("bert", "end", 0, 1, 9), {"one": some_hits(), "two": padded})
    for benchmark, wanted in (("one", some_hits()), ("two", padded)):
        found = read_hits(path, benchmark, len(wanted.indices))
        assert np.array_equal(found.indices, wanted.indices)
        assert np.array_equal(found.scores, wanted.scores)
        assert (found.indices.dtype, found.scores.dtype) == (np.int64, np.float32)


def test_hits_that_do_not_fit_are_named(tmp_path):
    path = tmp_path / "hits.npz"
    with pytest.raises(DataError, match="no such file"):
        read_hits(path, "one", 3)
    write_hits(path, HitsOrigin("bert", "end", 0, 1, 9), {"one": some_hits()})
    with pytest.raises(DataError, match=r"hits\.npz: no hits of 'two'"):
        read_hits(path, "two", 3)
    with pytest.raises(DataError, match="which has 4 queries"):
        read_hits(path, "one", 4)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"hits\.npz: no hits of 'one'"):
        read_hits(path, "one", 3)


def written(folder, *origins: HitsOrigin) -> list:
    paths = []
    for number, origin in enumerate(origins):
        paths.append(folder / f"{number}.npz")
        write_hits(paths[-1], origin, {"one": some_hits()})
    return paths


def test_shards_are_found_by_what_they_say_and_not_by_their_place(tmp_path):
    paths = written(
        tmp_path,
        *(HitsOrigin("bert", s, n, 2, 90) for n in (1, 0) for s in ("end", "begin")),
    )
    assert whole_searches(paths, "bert", ["begin", "end"]) == {
        "begin": [paths[3], paths[1]],
        "end": [paths[2], paths[0]],
    }


@pytest.mark.parametrize(
    ("origins", "message"),
    [
        ([("bert", "end", 0, 2, 90)], "1/2 of 90 lines is no whole search"),
        ([("bert", "end", 0, 2, 90)] * 2, "1/2 of 90 lines, 1/2 of 90 lines is no whole search"),
        ([("bert", "end", 0, 2, 90), ("bert", "end", 1, 2, 91)], "1/2 of 90 lines, 2/2 of 91"),
        ([("bert", "end", 0, 1, 90), ("bert", "end", 1, 2, 90)], "1/1 of 90 lines, 2/2 of 90"),
        ([("gpt2", "end", 0, 1, 90)], "hits of gpt2, end; expected bert, end"),
        ([("bert", "begin", 0, 1, 90)], "hits of bert, begin; expected bert, end"),
        ([], "none is no whole search"),
    ],
)
def test_shards_of_no_whole_search_are_refused(tmp_path, origins, message):
    paths = written(tmp_path, *(HitsOrigin(*origin) for origin in origins))
    with pytest.raises(DataError, match=message):
        whole_searches(paths, "bert", ["end"])
