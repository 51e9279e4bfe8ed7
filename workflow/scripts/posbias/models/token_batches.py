"""Sequences of different lengths put into batches that hold so many tokens at most."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def token_batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Return the numbers of the sequences batch by batch, those of like length together.

    A batch's sequences times its longest length is at most `most`, except for a sequence that is
    longer than that, which is alone.
    """
    batches: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if batches and (len(batches[-1]) + 1) * lengths[number] <= most:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches


def padded(
    sequences: Sequence[Sequence[int]], side: str, fill: int = 0
) -> tuple["torch.Tensor", "torch.Tensor"]:
    """Return token ids and attention mask, both (n, longest) int64; side: left or right.

    fill: the padding's own id. For most models the mask alone tells what is padding; some look
    for the tokenizer's id.
    """
    import torch

    longest = max(map(len, sequences))
    ids = torch.full((len(sequences), longest), fill, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, sequence in enumerate(sequences):
        begin = longest - len(sequence) if side == "left" else 0
        ids[row, begin : begin + len(sequence)] = torch.tensor(sequence)
        mask[row, begin : begin + len(sequence)] = 1
    return ids, mask
