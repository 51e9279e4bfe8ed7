"""Position groups: each rule of the benchmarks' buckets, and what is dropped or counts twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.benchmarks.records import Benchmark, BenchmarkQuery, third_of
from posbias.errors import ConfigError, DataError
from posbias.measures.groups import (
    by_characters,
    by_lengths,
    by_relative_bins,
    by_thirds,
    groupings,
)

EDGES = [0, 100, 200, 300, 400, 500, 3120]


def query(number: int, start: int | None, *positions: str, **optional) -> BenchmarkQuery:
    end = None if start is None else start + 1
    return BenchmarkQuery(f"q{number}", "words", "d", positions, start, end, **optional)


def test_both_ends_belong_to_a_bucket():
    starts = [0, 99, 100, 101, 500, 3120, 3121, None]
    grouping = by_characters([query(i, start) for i, start in enumerate(starts)], EDGES)
    assert grouping.groups == {
        "0-100": ["q0", "q1", "q2"],
        "100-200": ["q2", "q3"],
        "200-300": [],
        "300-400": [],
        "400-500": ["q4"],
        "500-3120": ["q4", "q5"],
    }
    assert grouping.counted_twice == 2
    assert grouping.dropped == {"no answer offset": 1, "start outside 0-3120": 1}


@given(st.lists(st.one_of(st.none(), st.integers(0, 700)), max_size=60))
def test_every_query_is_counted_or_dropped(starts):
    edges = [50, 100, 200, 600]
    grouping = by_characters([query(i, start) for i, start in enumerate(starts)], edges)
    placed = sum(map(len, grouping.groups.values()))
    assert placed - grouping.counted_twice + grouping.dropped.total() == len(starts)
    assert grouping.counted_twice == sum(start in (100, 200) for start in starts)


def test_thirds_go_by_the_record_also_without_offsets():
    queries = [query(0, None, "end"), query(1, 5, "begin"), query(2, 7, "end")]
    grouping = by_thirds(queries)
    assert grouping.groups == {"begin": ["q1"], "middle": [], "end": ["q0", "q2"]}
    assert list(grouping.groups) == ["begin", "middle", "end"]
    assert not grouping.dropped
    assert grouping.counted_twice == 0


def test_an_unknown_third_is_refused():
    with pytest.raises(DataError, match="query 'q3': position 'beginning'"):
        by_thirds([query(3, 1, "beginning")])


def test_evidence_in_two_thirds_counts_in_both_and_in_none_is_dropped():
    grouping = by_thirds([query(0, None, "begin", "middle"), query(1, None), query(2, 3, "end")])
    assert grouping.groups == {"begin": ["q0"], "middle": ["q0"], "end": ["q2"]}
    assert (grouping.counted_twice, dict(grouping.dropped)) == (1, {"no known third": 1})


def test_the_652_double_counts_of_squad_posq_in_small():
    # Its six buckets hold 93,401 of 92,749 queries: as many more as starts on an inner edge.
    starts = [*range(0, 3121, 20)]
    grouping = by_characters([query(i, start) for i, start in enumerate(starts)], EDGES)
    placed = sum(map(len, grouping.groups.values()))
    assert placed - len(starts) == grouping.counted_twice == 5
    assert not grouping.dropped


def bin_by_definition(midpoint: float, count: int) -> int:
    """The bin (k/count, (k+1)/count] that holds a share, the first one closed on both sides."""
    return next(k for k in range(count) if midpoint <= (k + 1) / count)


@given(st.lists(st.integers(0, 400), max_size=40), st.sampled_from([2, 4, 5, 10, 20]))
def test_relative_bins_partition_the_document(hundredths, count):
    midpoints = [number / 400 for number in hundredths]
    queries = [query(i, None, midpoint=m) for i, m in enumerate(midpoints)]
    grouping = by_relative_bins(queries, count)
    assert len(grouping.groups) == count
    found = {q: k for k, ids in enumerate(grouping.groups.values()) for q in ids}
    assert found == {f"q{i}": bin_by_definition(m, count) for i, m in enumerate(midpoints)}
    assert grouping.counted_twice == 0


def test_names_of_bins_and_an_unknown_middle():
    grouping = by_relative_bins([query(0, None), query(1, None, midpoint=1.0)], 20)
    assert list(grouping.groups)[:2] == ["0.00-0.05", "0.05-0.10"]
    assert grouping.groups["0.95-1.00"] == ["q1"]
    assert grouping.dropped == {"no known middle": 1}
    for count in range(2, 101):
        assert len(by_relative_bins([], count).groups) == count


@given(st.floats(0, 1, exclude_max=True))
def test_three_bins_and_the_thirds_agree_off_the_borders(midpoint):
    if abs(midpoint * 3 - round(midpoint * 3)) > 1e-9:
        grouping = by_relative_bins([query(0, None, midpoint=midpoint)], 3)
        number = next(k for k, ids in enumerate(grouping.groups.values()) if ids)
        assert ("begin", "middle", "end")[number] == third_of(midpoint)


def test_lengths_belong_to_the_group_that_they_end():
    tokens = [0, 1, 512, 513, 1536, 1537, 9000, None]
    queries = [query(i, None, document_tokens=n) for i, n in enumerate(tokens)]
    grouping = by_lengths(queries, [0, 512, 1024, 1536])
    assert grouping.groups == {
        "0-512": ["q1", "q2"],
        "512-1024": ["q3"],
        "1024-1536": ["q4"],
        ">1536": ["q5", "q6"],
    }
    assert grouping.dropped == {"length of at most 0": 1, "no known length": 1}


def test_the_config_names_the_groupings():
    queries = [query(0, 3, "begin", midpoint=0.1)]
    benchmark = Benchmark([], queries, {})
    found = groupings(benchmark, {"characters": {"edges": [0, 5, 9]}, "thirds": None})
    assert list(found) == ["characters", "thirds"]
    assert found["thirds"] == by_thirds(queries)
    assert found["characters"] == by_characters(queries, [0, 5, 9])
    assert groupings(benchmark, {}) == {}


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"quarters": {}}, "'quarters' is not one of thirds, characters, bins, lengths"),
        ({"bins": {}}, "groups.bins: .*count"),
        ({"bins": {"count": 1}}, "bins.count must be a whole number"),
        ({"bins": {"count": True}}, "bins.count must be a whole number"),
        ({"thirds": {"edges": [0, 1]}}, "groups.thirds: .*its options: none"),
        ({"characters": {"edges": ["0", 5]}}, "characters.edges must rise"),
        ({"lengths": {"edges": [5, 5]}}, "lengths.edges must rise"),
    ],
)
def test_a_wrong_grouping_of_the_config_is_named(groups, message):
    with pytest.raises(ConfigError, match=message):
        groupings(Benchmark([], [], {}), groups)


@pytest.mark.parametrize("edges", [[], [0], [0, 100, 100], [100, 0]])
def test_edges_that_do_not_rise_are_refused(edges):
    with pytest.raises(ConfigError, match="must rise strictly"):
        by_characters([], edges)
