"""Length bins: half-open, and every length within the edges lies in exactly one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.corpus.bins import bin_of, length_bins
from posbias.errors import ConfigError

EDGES = st.lists(st.integers(0, 9000), min_size=2, max_size=8, unique=True).map(sorted)


@given(EDGES, st.integers(-5, 9100))
def test_the_bins_partition_the_range(edges, n_chars):
    homes = [b.name for b in length_bins(edges) if b.low <= n_chars < b.high]
    assert homes == ([bin_of(n_chars, edges)] if edges[0] <= n_chars < edges[-1] else [])


@given(EDGES)
def test_bins_are_named_by_their_edges_in_order(edges):
    bins = length_bins(edges)
    assert [b.low for b in bins] == edges[:-1]
    assert [b.high for b in bins] == edges[1:]
    assert len({b.name for b in bins}) == len(bins)


@given(EDGES)
def test_an_edge_belongs_to_the_upper_bin(edges):
    assert [bin_of(edge, edges) for edge in edges] == [
        *(b.name for b in length_bins(edges)), None
    ]  # fmt: skip
    assert bin_of(edges[0] - 1, edges) is None


def test_the_papers_bins():
    edges = [256, 512, 1024, 2048, 4096, 8192]
    assert [b.name for b in length_bins(edges)] == [
        "256-512", "512-1024", "1024-2048", "2048-4096", "4096-8192"
    ]  # fmt: skip
    assert bin_of(511, edges) == "256-512"
    assert bin_of(512, edges) == "512-1024"


@pytest.mark.parametrize("edges", [[], [5], [5, 5], [5, 4], [1, 2, 2], [1, 3, 2]])
def test_edges_that_do_not_rise_are_refused(edges):
    with pytest.raises(ConfigError, match="bin_edges must rise strictly"):
        length_bins(edges)
