"""The audit: strata, sample, measures, and what the script does with a judge's verdicts."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_toy import THRESHOLDS
from posbias.corpus.segments import POSITIONS
from posbias.errors import ConfigError, DataError
from posbias.keyed import keyed_digest
from posbias.queries.activations import make_activation
from posbias.queries.audit import Audited, Drawn, Strata, counts_of, draw, measure
from posbias.queries.filter_statistics import filter_statistics
from posbias.queries.judges import Verdict
from posbias.queries.panel import PanelScores
from posbias.queries.verify import verify

NAMES = ["failed", "0-0.1", "0.1-0.2", "0.2-0.3", ">=0.3"]
STRATA = Strata(THRESHOLDS)


# Strata.


@pytest.mark.parametrize(
    ("margin", "stratum"),
    [
        (-1.0, "failed"),
        (-5e-324, "failed"),
        (-0.0, "0-0.1"),
        (0.0, "0-0.1"),
        (math.nextafter(0.1, 0), "0-0.1"),
        (0.1, "0.1-0.2"),
        (math.nextafter(0.2, 0), "0.1-0.2"),
        (0.2, "0.2-0.3"),
        (math.nextafter(0.3, 0), "0.2-0.3"),
        (0.3, ">=0.3"),
        (1, ">=0.3"),
    ],
)
def test_a_stratum_holds_its_lower_edge_alone(margin, stratum):
    assert STRATA.names == NAMES
    assert STRATA.of(margin) == stratum


def test_zero_is_an_edge_whether_or_not_it_is_a_threshold():
    assert Strata([0.25]).names == Strata([0.0, 0.25]).names == ["failed", "0-0.25", ">=0.25"]
    assert Strata([0.0]).names == ["failed", ">=0"]


@pytest.mark.parametrize("thresholds", [[], [0.2, 0.1], [0.1, 0.1], [-0.1, 0.1]])
def test_thresholds_that_do_not_rise_from_zero_are_refused(thresholds):
    with pytest.raises(ConfigError, match=r"verification\.thresholds"):
        Strata(thresholds)


@given(
    st.lists(st.integers(0, 19), min_size=1, unique=True).map(sorted),
    st.lists(st.integers(-20, 20), min_size=1),
)
def test_strata_add_up_to_the_rows_of_the_filter_table(edges, margins):
    thresholds, margins = [0.05 * e for e in edges], [0.05 * m for m in margins]
    strata = Strata(thresholds)
    sizes = Counter(map(strata.of, margins))
    table = filter_statistics(np.array(margins), ["begin"] * len(margins), thresholds)
    kept = table["kept"].tolist()
    assert sizes["failed"] == kept[1]
    for threshold, above in zip(thresholds, kept[2:], strict=True):
        first = 1 + strata.edges.index(threshold)
        assert sum(sizes[name] for name in strata.names[first:]) == above


class Noise:
    """A panel member of random scores."""

    def __init__(self, name: str, seed: int, n: int) -> None:
        self.name, self.raw = name, np.random.default_rng(seed).random((n, 3))

    def score(self, queries, documents):
        return PanelScores(self.raw[documents], np.zeros((len(queries), 3), dtype=int))


def test_the_cascade_changes_no_stratum():
    n = 400
    panel = [(lambda k=k: Noise(f"m{k}", k, n), make_activation({"name": "clip"})) for k in (1, 2)]
    ids, targets = [f"q{i}" for i in range(n)], np.arange(n) % 3
    with_it, without = (
        verify(ids, ids, np.arange(n), targets, panel, cascade=cascade) for cascade in (True, False)
    )
    assert with_it.pairs_scored < without.pairs_scored
    assert (with_it.consensus != without.consensus).any()  # of failed queries, where it is spared
    found, full = ([STRATA.of(m) for m in run.consensus] for run in (with_it, without))
    assert found == full and len(set(full)) == 5


# The sample.


def scored(margins) -> list[dict]:
    return [
        {"query_id": f"q{i}", "position": POSITIONS[i % 3], "consensus": margin}
        for i, margin in enumerate(margins)
    ]


margins_lists = st.lists(st.sampled_from([-0.5, 0.0, 0.1, 0.22, 0.9]), min_size=1, max_size=60)


@given(margins_lists, st.integers(1, 12), st.integers(0, 3), st.randoms(use_true_random=False))
def test_the_sample_is_the_head_of_each_stratum_in_hash_order(margins, size, seed, chance):
    records = scored(margins)
    drawn, found = draw(records, STRATA, size, seed)
    wanted = []
    for name in NAMES:
        of = [r for r in records if STRATA.of(r["consensus"]) == name]
        assert found[name] == len(of)
        of.sort(key=lambda r: keyed_digest(seed, "audit", r["query_id"]))
        wanted += [Drawn(r["query_id"], r["position"], name, r["consensus"]) for r in of[:size]]
    assert drawn == wanted
    chance.shuffle(records)
    assert draw(records, STRATA, size, seed) == (drawn, found)


def test_a_larger_sample_holds_the_smaller_and_another_seed_draws_others():
    records = scored([0.5] * 500)
    small, large, other = (
        [item.query_id for item in draw(records, STRATA, size, seed)[0]]
        for size, seed in ((50, 1), (120, 1), (50, 2))
    )
    assert large[:50] == small and len(large) == 120
    assert len(set(small) & set(other)) < 20  # 5 by chance


@pytest.mark.parametrize("margin", [None, float("nan"), "0.2"])
def test_a_query_without_a_margin_is_named(margin):
    with pytest.raises(DataError, match="query q1: its consensus margin is"):
        draw(scored([0.2, margin]), STRATA, 2, 0)


def test_a_query_that_stands_twice_is_named():
    with pytest.raises(DataError, match="query q1: scored twice"):
        draw(scored([0.2, 0.2, 0.2]) + scored([0.2, 0.2])[1:], STRATA, 10, 0)


@pytest.mark.parametrize("size", [0, -1, 2.5, True, None])
def test_a_sample_size_that_is_no_count_is_refused(size):
    with pytest.raises(ConfigError, match=r"analyses\.audit\.per_stratum"):
        draw(scored([0.2]), STRATA, size, 0)


# The measures.


def audited(position: str, said, stratum: str = "failed", number: int = 0) -> Audited:
    drawn = Drawn(f"q{number}", position, stratum, -1.0)
    verdicts = [Verdict(yes, unreadable="why" if yes is None else None) for yes in said]
    return Audited(drawn, "d", "q", tuple(verdicts))


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("said", list(itertools.product([True, False, None], repeat=3)))
def test_the_three_measures_of_one_query(position, said):
    values = audited(position, said).values()
    if None in said:
        assert values is None
        return
    at = POSITIONS.index(position)
    others = said[:at] + said[at + 1 :]
    assert values["target_yes"] == (1.0 if said[at] else 0.0)
    assert values["distractor_no"] == {0: 1.0, 1: 0.5, 2: 0.0}[sum(others)]
    assert values["exclusive"] == (1.0 if said[at] and sum(others) == 0 else 0.0)


said_of_all = st.lists(
    st.tuples(st.sampled_from(POSITIONS), st.tuples(*[st.sampled_from([True, False, None])] * 3)),
    min_size=1, max_size=30,
)  # fmt: skip


@given(said_of_all)
def test_measures_lie_where_they_must(queries):
    items = [audited(position, said, number=i) for i, (position, said) in enumerate(queries)]
    rows = measure(items, STRATA, 50, 0.9, 7)
    assert [row["stratum"] for row in rows] == NAMES
    first = rows[0]
    readable = [said for _, said in queries if None not in said]
    assert first["n"] == len(readable)
    assert all(row["n"] == 0 and row["exclusive"]["mean"] is None for row in rows[1:])
    counts = counts_of(items, Counter(dict.fromkeys(NAMES, 30)))
    assert counts["dropped"]["failed"] == counts["drawn"]["failed"] - first["n"]
    assert counts["yes"] + counts["no"] + sum(counts["unreadable"].values()) == counts["asked"]
    if readable:
        mean = {name: first[name]["mean"] for name in ("target_yes", "distractor_no", "exclusive")}
        assert mean["exclusive"] <= mean["target_yes"]
        assert mean["exclusive"] <= mean["distractor_no"]
        # A query is exclusive unless its target or one of the others is judged wrongly.
        assert mean["exclusive"] >= mean["target_yes"] - 2 * (1 - mean["distractor_no"]) - 1e-12
        for name in mean:
            assert first[name]["low"] <= mean[name] + 1e-12 >= 0
            assert first[name]["high"] >= mean[name] - 1e-12


def test_intervals_are_those_of_a_share():
    n, right = 400, 300
    items = [audited("begin", (i < right, False, False), number=i) for i in range(n)]
    (row, *_) = measure(items, STRATA, 4000, 0.95, 1)
    half = 1.96 * math.sqrt(0.75 * 0.25 / n)
    assert row["target_yes"]["mean"] == row["exclusive"]["mean"] == 0.75
    assert row["target_yes"]["low"] == pytest.approx(0.75 - half, abs=0.006)
    assert row["target_yes"]["high"] == pytest.approx(0.75 + half, abs=0.006)
    assert row["distractor_no"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
