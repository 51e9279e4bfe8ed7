"""Curves of single orders and of aggregates over m, at one depth."""

import pandas as pd
import pytest

from listwise_frames import HOW
from posbias.listwise.permutation_summary import summarise_permutations


def frame(aggregates=("single", "borda", "kemeny"), depth=5) -> pd.DataFrame:
    """Values 0.1 m, and 0.1 more for kemeny, of two queries that lie 0.02 apart."""
    return pd.DataFrame(
        [
            {"system": system, "seed": seed, "collection": collection, "depth": depth,
             "aggregate": aggregate, "m": m, "query_id": f"q{query}",
             "ndcg": 0.1 * m + 0.1 * (aggregate == "kemeny") + 0.02 * query - 0.01}
            for system in ("base", "new")
            for collection in ("wiki", "leads")
            for seed in (1, 2)
            for aggregate in aggregates
            for m in (1, 2, 3)
            for query in range(2)
        ]
    )  # fmt: skip


def test_a_curve_of_each_aggregate():
    record = summarise_permutations(frame(), 5, 5, **HOW)
    assert list(record) == ["wiki", "leads"]
    assert (record["wiki"]["n"], record["wiki"]["depth"]) == (2, 5)
    found = record["leads"]["systems"]["new"]
    assert found["kemeny_window"] == 5
    assert [point["order"] for point in found["single"]] == [1, 2, 3]
    assert [point["m"] for point in found["borda"]] == [1, 2, 3]
    for name, more in (("single", 0), ("borda", 0), ("kemeny", 0.1)):
        means = [point["mean"] for point in found[name]]
        assert means == pytest.approx([0.1 + more, 0.2 + more, 0.3 + more])
        for point in found[name]:
            assert point["low"] <= point["mean"] <= point["high"]


def test_what_was_not_aggregated_is_none():
    record = summarise_permutations(frame(("single", "borda")), 5, 5, **HOW)
    assert record["wiki"]["systems"]["base"]["kemeny"] is None


def test_depths_do_not_mix():
    both = pd.concat([frame(), frame(("single", "borda"), 50)])
    assert summarise_permutations(both, 5, 5, **HOW) == summarise_permutations(frame(), 5, 5, **HOW)
    deep = summarise_permutations(both, 50, 5, **HOW)
    assert deep["wiki"]["depth"] == 50
    assert deep["wiki"]["systems"]["base"]["kemeny"] is None
    assert summarise_permutations(both, 7, 5, **HOW) == {}


def test_another_system_changes_no_curve():
    alone = frame()
    alone = alone[alone["system"] == "new"]
    expected = summarise_permutations(frame(), 5, 5, **HOW)["wiki"]["systems"]["new"]
    assert summarise_permutations(alone, 5, 5, **HOW)["wiki"]["systems"] == {"new": expected}
