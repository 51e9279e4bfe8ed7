"""PSI = 1 - min/max: properties, the paper's own numbers, refusals."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import DataError
from posbias.measures.psi import psi

MEANS = st.lists(st.floats(0, 1), min_size=2, max_size=8).filter(lambda means: max(means) > 1e-9)


@given(MEANS)
def test_lies_in_the_unit_range_and_is_zero_only_for_equal_groups(means):
    value = psi(means)
    assert 0 <= value <= 1
    if len(set(means)) == 1:
        assert value == 0
    elif min(means) < max(means) * (1 - 1e-12):
        assert value > 0


@given(MEANS, st.data())
def test_does_not_depend_on_the_order(means, data):
    assert psi(data.draw(st.permutations(means))) == psi(means)


@given(MEANS, st.floats(1e-3, 1e3))
def test_does_not_depend_on_the_scale(means, factor):
    assert psi([factor * mean for mean in means]) == pytest.approx(psi(means), abs=1e-9)


@pytest.mark.parametrize(
    ("low", "high", "printed"),
    # Group means in the paper's text beside its tables: Qwen3 on SQuAD-PosQ, ModernBERT-large
    # on FineWeb-PosQ. The means are rounded, hence one unit of the last digit.
    [(0.407, 0.672, 0.395), (0.415, 0.702, 0.409), (0.447, 0.778, 0.426), (0.475, 0.743, 0.361)],
)
def test_gives_the_papers_values(low, high, printed):
    assert psi([low, (low + high) / 2, high]) == pytest.approx(printed, abs=0.0015)


def test_one_group_at_zero_is_full_sensitivity():
    assert psi([0.0, 0.4]) == 1


@pytest.mark.parametrize(
    ("means", "message"),
    [
        ([], "two position groups, found 0"),
        ([0.5], "two position groups, found 1"),
        ([0.0, 0.0], "every group's mean is 0"),
        ([0.5, -0.1], "at least 0"),
        ([0.5, math.nan], "numbers"),
        ([0.5, math.inf], "numbers"),
    ],
)
def test_refuses(means, message):
    with pytest.raises(DataError, match=message):
        psi(means)
