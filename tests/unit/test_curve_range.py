"""Curves of nDCG@10: lines that differ in grey, the end of the axis, and what the notes tell."""

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from posbias.report.curve_lines import line_look
from posbias.report.curve_range import LEAST_RANGE, axis_range, queries_note, range_note
from report_measures import LABELS


def grey(colour: str) -> float:
    return sum(part * one for part, one in zip((0.299, 0.587, 0.114), to_rgb(colour), strict=True))


def test_retrievers_of_like_grey_differ_in_mark_and_twice_more() -> None:
    seen = [line_look(index) for index in range(len(LABELS))]
    for index, one in enumerate(seen):
        for other in seen[:index]:
            assert one["marker"] != other["marker"]
            ways = sum(str(one[way]) != str(other[way]) for way in ("linestyle", "linewidth")) + (
                (one["markerfacecolor"] == "white") != (other["markerfacecolor"] == "white")
            )
            assert ways >= 2 or abs(grey(one["color"]) - grey(other["color"])) >= 0.25
    assert len({str(line_look(index)) for index in range(360)}) == 360


def of_row(trained: list[tuple], references: dict[str, list[float]]) -> pd.DataFrame:
    """Return the points of a row of panels: (mean, low, high) of one retriever; means of others."""
    rows = [("begin", "A", *values) for values in trained]
    rows += [(None, label, mean, mean, mean) for label, means in references.items()
             for mean in means]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["setting", "label", "mean", "low", "high"])
    return frame.assign(grouping="bins", n=range(51, 51 + len(frame)))


shares = st.floats(0, 1)


@given(
    st.lists(st.tuples(shares, shares, shares).map(sorted), min_size=1, max_size=8),
    st.lists(shares, min_size=1, max_size=8),
)
def test_the_axis_holds_all_of_the_retrievers_and_the_note_what_it_cuts(values, means):
    trained = [(mean, low, high) for low, mean, high in values]
    points = of_row(trained, {"BM25": means})
    low, high = axis_range(points)
    most = max(top for _, _, top in values)
    assert low < min(*means, *(least for least, _, _ in values)) and high > most
    assert high - most <= max(0.05 * (high - low), LEAST_RANGE)
    assert high - low >= LEAST_RANGE - 1e-9
    note = range_note([("PosIR", points)])
    assert bool(note) == (max(means) > high)
    if note:
        assert ("in part BM25" in note[0]) == (min(means) <= high)


def test_references_above_the_axis_are_told_with_their_range() -> None:
    points = of_row([(0.5, 0.4, 0.6), (0.2, 0.1, 0.3)], {"BM25": [0.9656, 0.997], "B": [0.3, 0.61],
                                                         "C": [0.55, 0.75]})  # fmt: skip
    end = "Axes end a little above the highest retriever (end of its interval); above that end lie "
    assert range_note([("PosIR", points)]) == [f"{end}BM25 (.966–.997) and in part C (.550–.750)."]
    low = of_row([(0.9, 0.8, 0.95)], {"BM25": [0.3]})
    assert range_note([("PosIR", points), ("PosIR", low.assign(grouping="thirds"))]) == [
        f"{end}BM25 (.966–.997) and in part C (.550–.750) over bins."
    ]
    assert range_note([("PosIR", low)]) == []


def test_the_smallest_and_the_largest_group_are_told() -> None:
    one = of_row([(0.5, 0.4, 0.6)] * 3, {}).assign(n=[51, 1833, 116])
    other = one.assign(grouping="thirds", n=800)
    assert queries_note([("A", one)]) == "Queries: 51–1,833 in a bin."
    assert queries_note([("A", one), ("A", other)]) == "Queries: 51–1,833 in a bin; 800 in a third."
    assert queries_note([("A", one), ("B", other)]) == (
        "Queries: 51–1,833 in a bin of A; 800 in a third of B."
    )
