"""Three segments that together are the document, for any Unicode text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.corpus.segments import (
    POSITIONS,
    equal_ranges,
    segment_texts,
    segments_of,
    thirds,
)
from posbias.errors import DataError


@given(st.text(min_size=3))
def test_segments_join_to_the_text_and_differ_by_one_code_point_at_most(text):
    parts = segment_texts(text)
    assert len(parts) == 3
    assert "".join(parts) == text
    lengths = [len(part) for part in parts]
    assert max(lengths) - min(lengths) <= 1
    assert min(lengths) >= 1


@given(st.text(min_size=3))
def test_records_slice_the_text(text):
    segments = segments_of("d1", text)
    assert [segment.position for segment in segments] == list(POSITIONS)
    assert {segment.doc_id for segment in segments} == {"d1"}
    assert tuple(text[s.start : s.end] for s in segments) == segment_texts(text)


@given(st.integers(1, 40), st.data())
def test_equal_ranges_cover_everything(parts, data):
    n = data.draw(st.integers(parts, 10_000))
    ranges = equal_ranges(n, parts)
    assert [i for start, end in ranges for i in (start, end)][1:-1:2] == [
        start for start, _ in ranges[1:]
    ]
    assert (ranges[0][0], ranges[-1][1], len(ranges)) == (0, n, parts)
    lengths = [end - start for start, end in ranges]
    assert max(lengths) - min(lengths) <= 1


@given(st.text(min_size=1), st.integers(1, 12))
def test_equal_ranges_of_any_text_join_to_it_or_are_refused(text, count):
    if len(text) < count:
        with pytest.raises(DataError, match=f"cannot be cut into {count} segments"):
            equal_ranges(len(text), count)
        return
    parts = [text[start:end] for start, end in equal_ranges(len(text), count)]
    assert "".join(parts) == text
    assert len(parts) == count
    assert all(parts)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("count", [0, -3])
def test_a_text_is_not_cut_into_no_segments(count):
    with pytest.raises(DataError, match=f"cut into {count} segments; expected 1 or more"):
        equal_ranges(10, count)


def test_the_example_of_the_docstring():
    assert thirds(7) == ((0, 2), (2, 4), (4, 7))
    assert thirds(6) == ((0, 2), (2, 4), (4, 6))


def test_offsets_count_code_points_not_bytes():
    # An emoji of two code points, a combining accent, a character outside the basic plane.
    text = "👍🏽e\u0301𝔸北"
    assert segment_texts(text) == ("👍🏽", "e\u0301", "𝔸北")


@pytest.mark.parametrize("text", ["", "a", "ab"])
def test_shorter_texts_are_refused(text):
    with pytest.raises(DataError, match=f"{len(text)} characters cannot be cut into 3"):
        segments_of("d1", text)
