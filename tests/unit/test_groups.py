"""Position groups: each rule of SQuAD-PosQ's buckets, and what is dropped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.benchmarks.records import BenchmarkQuery
from posbias.errors import ConfigError, DataError
from posbias.measures.groups import by_characters, by_thirds

EDGES = [0, 100, 200, 300, 400, 500, 3120]


def query(number: int, start: int | None, position: str = "begin") -> BenchmarkQuery:
    end = None if start is None else start + 1
    return BenchmarkQuery(f"q{number}", "words", "d", position, start, end)


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


@pytest.mark.parametrize("edges", [[], [0], [0, 100, 100], [100, 0]])
def test_edges_that_do_not_rise_are_refused(edges):
    with pytest.raises(ConfigError, match="must rise strictly"):
        by_characters([], edges)
