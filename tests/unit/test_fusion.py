"""Reciprocal rank fusion of runs: ranks from 1, sums, absent documents gain nothing."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import ConfigError, DataError
from posbias.retrieval.fusion import fuse_ranks, reciprocal_rank_fusion
from posbias.retrieval.trec import check_run

DOCS = {name: row for row, name in enumerate("zyxwvutsrq")}


def run_of(**ranked: str) -> dict:
    return {
        query: {doc: float(len(docs) - rank) for rank, doc in enumerate(docs)}
        for query, docs in ranked.items()
    }


def test_sums_of_reciprocal_ranks_by_hand():
    fused = reciprocal_rank_fusion([run_of(a="zyx"), run_of(a="xz")], DOCS, depth=10)
    assert list(fused["a"]) == ["z", "x", "y"]
    wanted = [1 / 61 + 1 / 62, 1 / 63 + 1 / 61, 1 / 62]
    assert list(fused["a"].values()) == pytest.approx(wanted, rel=1e-6)


def test_a_document_in_one_of_three_runs_has_one_share():
    runs = [run_of(a="zyx"), run_of(a="zyx"), run_of(a="wzyx")]
    fused = reciprocal_rank_fusion(runs, DOCS, depth=10)
    assert fused["a"]["w"] == pytest.approx(1 / 61, rel=1e-6)
    assert list(fused["a"]) == ["z", "y", "x", "w"]


def test_symmetric_ranks_tie_and_go_by_document_index():
    # Sums in double precision would part these by the order of the runs.
    runs = [run_of(a="qrz"), run_of(a="zqr"), run_of(a="rzq")]
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        fused = reciprocal_rank_fusion([runs[i] for i in order], DOCS, depth=10)
        assert list(fused["a"]) == ["z", "r", "q"]
        check_run(fused)


def test_unlike_ranks_with_one_sum_tie_too():
    # 1/66 + 1/132 = 1/88 + 1/88 = 1/44.
    first, second = list(range(2, 102)), list(range(102, 202))
    first[5], first[27] = 1, 0
    second[71], second[27] = 1, 0
    order, sums = fuse_ranks([first, second], 202, 60)
    at = order.tolist().index(0)
    assert order[at + 1] == 1
    assert sums[at] == sums[at + 1] == 1 / 44


@given(
    st.lists(st.permutations(range(7)), min_size=1, max_size=4),
    st.lists(st.integers(0, 7), min_size=4, max_size=4),
    st.integers(0, 100),
)
def test_the_order_is_that_of_exact_fractions(permuted, lengths, k):
    rankings = [ranking[:length] for ranking, length in zip(permuted, lengths, strict=False)]
    exact = [
        sum((Fraction(1, k + 1 + r.index(item)) for r in rankings if item in r), Fraction(0))
        for item in range(7)
    ]
    order, sums = fuse_ranks(rankings, 7, k)
    assert order.tolist() == sorted(range(7), key=lambda item: (-exact[item], item))
    assert sums.tolist() == [float(exact[item]) for item in order]


def test_one_run_keeps_its_order_and_is_cut_at_the_depth():
    fused = reciprocal_rank_fusion([run_of(a="xqzy")], DOCS, depth=2)
    assert list(fused["a"]) == ["x", "q"]


def test_queries_that_a_run_lacks_are_fused_from_the_others():
    fused = reciprocal_rank_fusion([run_of(b="zy"), run_of(a="x", b="yz")], DOCS, depth=5)
    assert {query: list(docs) for query, docs in fused.items()} == {"b": ["z", "y"], "a": ["x"]}
    assert reciprocal_rank_fusion([{}, {}], DOCS, depth=5) == {}
    assert reciprocal_rank_fusion([], DOCS, depth=5) == {}


def test_deep_runs_are_told_apart_as_float32():
    rng = np.random.default_rng(0)
    names = {f"d{row}": row for row in range(2000)}
    runs = [
        {"a": {f"d{row}": -float(rank) for rank, row in enumerate(rng.permutation(2000)[:1000])}}
        for _ in range(3)
    ]
    fused = reciprocal_rank_fusion(runs, names, depth=1000)
    assert len(fused["a"]) == 1000
    check_run(fused)


def test_refusals():
    with pytest.raises(DataError, match="query 'a': document 'new' is not in the collection"):
        reciprocal_rank_fusion([{"a": {"new": 1.0}}], DOCS, depth=5)
    with pytest.raises(DataError, match="does not lie below"):
        reciprocal_rank_fusion([{"a": {"z": 1.0, "y": 1.0}}], DOCS, depth=5)
    with pytest.raises(ConfigError, match="depth of rank fusion must be at least 1, is 0"):
        reciprocal_rank_fusion([run_of(a="z")], DOCS, depth=0)
    for k in (-1, 0.5):
        with pytest.raises(ConfigError, match="constant of rank fusion"):
            reciprocal_rank_fusion([run_of(a="z")], DOCS, depth=5, k=k)
