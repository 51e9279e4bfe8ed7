"""Batches of so many tokens at most, and their padding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.models.token_batches import padded, token_batches


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 200))
def test_batches_hold_each_sequence_once_and_so_many_tokens_at_most(lengths, most):
    batches = token_batches(lengths, most)
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[number] for number in batch)
        assert len(batch) == 1 or len(batch) * longest <= most


def test_a_batch_reaches_its_budget():
    assert token_batches([5, 5, 5, 5, 5], 10) == [[0, 1], [2, 3], [4]]
    assert token_batches([9, 1, 8, 30], 18) == [[1, 2], [0], [3]]


@pytest.mark.parametrize(
    ("side", "ids", "mask"),
    [
        ("left", [[0, 0, 7], [5, 0, 6]], [[0, 0, 1], [1, 1, 1]]),
        ("right", [[7, 0, 0], [5, 0, 6]], [[1, 0, 0], [1, 1, 1]]),
    ],
)
def test_the_mask_tells_padding_from_tokens_of_the_same_number(side, ids, mask):
    found = padded([[7], [5, 0, 6]], side)
    assert [part.tolist() for part in found] == [ids, mask]
