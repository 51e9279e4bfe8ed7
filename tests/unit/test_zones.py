"""Zones of a document: front, mid and back by the middle of the evidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.benchmarks.records import Benchmark, BenchmarkQuery
from posbias.errors import ConfigError
from posbias.measures.groups import by_relative_bins, by_zones, groupings


def asked(middles) -> list[BenchmarkQuery]:
    return [
        BenchmarkQuery(f"q{i}", "words", "d", (), None, None, midpoint=middle)
        for i, middle in enumerate(middles)
    ]


def test_two_of_five_segments_at_each_end():
    middles = [0.0, 0.39, 0.4, 0.41, 0.5, 0.59, 0.61, 0.8, 1.0, None]
    grouping = by_zones(asked(middles), 5, 2)
    assert grouping.groups == {
        "front": ["q0", "q1", "q2"],
        "mid": ["q3", "q4", "q5"],
        "back": ["q6", "q7", "q8"],
    }
    assert list(grouping.groups) == ["front", "mid", "back"]
    assert grouping.dropped == {"no known middle": 1}
    assert grouping.counted_twice == 0


@given(
    st.lists(st.one_of(st.floats(0, 1), st.integers(0, 20).map(lambda n: n / 20))),
    st.integers(3, 20),
    st.data(),
)
def test_zones_are_bins_put_together(middles, segments, data):
    ends = data.draw(st.integers(1, (segments - 1) // 2))
    zones = by_zones(asked(middles), segments, ends).groups
    bins = list(by_relative_bins(asked(middles), segments).groups.values())
    for name, part in (
        ("front", bins[:ends]),
        ("mid", bins[ends : segments - ends]),
        ("back", bins[segments - ends :]),
    ):
        assert sorted(zones[name]) == sorted(one for group in part for one in group)


@given(st.integers(0, 1000))
def test_five_segments_and_ten_bins_agree_on_every_edge(thousandths):
    one = asked([thousandths / 1000])
    zones = by_zones(one, 5, 2).groups
    number = next(k for k, ids in enumerate(by_relative_bins(one, 10).groups.values()) if ids)
    assert zones["front" if number < 4 else "back" if number >= 6 else "mid"] == ["q0"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"segments": 5}, "groups.zones: .*'at_each_end'; its options: segments, at_each_end"),
        ({"segments": 1, "at_each_end": 1}, "zones.segments must be a whole number, 2 to 100"),
        ({"segments": 5.0, "at_each_end": 1}, "zones.segments must be a whole number"),
        ({"segments": 5, "at_each_end": 0}, "zones.at_each_end must be a whole number of at least"),
        ({"segments": 5, "at_each_end": 3}, "leaves some of the 5 segments for the mid, is 3"),
        ({"segments": 4, "at_each_end": 2}, "leaves some of the 4 segments for the mid, is 2"),
        ({"segments": 5, "at_each_end": True}, "zones.at_each_end must be .*, is True"),
    ],
)
def test_zones_that_cannot_be_are_named(options, message):
    with pytest.raises(ConfigError, match=message):
        groupings(Benchmark([], [], {}), {"zones": options})
