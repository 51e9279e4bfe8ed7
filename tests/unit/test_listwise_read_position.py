"""The position that is read: whatever the padding, the batch and the tokenizer's pad token."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import BloomConfig, BloomForCausalLM, GPT2Config, GPT2LMHeadModel

from listwise_models import (
    CLOSE,
    TOKENIZERS,
    byte_level_tokenizer,
    losses,
    plain_prompt,
    scorer_of,
    scores,
    some_windows,
)
from posbias.errors import DataError
from posbias.listwise import causal_lm
from posbias.listwise.causal_lm import CausalLmScorer
from posbias.models.token_batches import padded

torch.set_num_threads(1)
SCORERS = {kind: scorer_of(kind) for kind in TOKENIZERS}


@pytest.fixture(params=SCORERS)
def scorer(request) -> CausalLmScorer:
    return SCORERS[request.param]


def test_the_position_of_the_public_trainer_is_two_early_and_ours_is_not():
    """Counting tokens that are not padding skips the turns' ends, which are the same token."""
    scorer = SCORERS["sentencepiece"]
    pad = scorer.tokenizer.pad_token_id
    assert pad == scorer.tokenizer.eos_token_id
    prompt = plain_prompt(scorer, 0, np.array([0, 7]))
    sequence = [*prompt, scorer.letters.opening, scorer.letters.letters[1]]
    counted = sum(token != pad for token in prompt)
    assert counted == len(prompt) - 2
    assert scorer.tokenizer.convert_ids_to_tokens(sequence[counted]) == ">"
    assert scorer.tokenizer.convert_ids_to_tokens(sequence[len(prompt)]) == "["
    seen = []
    inner = scorer.model.forward

    def spy(**inputs):
        seen.append(inputs)
        return inner(**inputs)

    scorer.model.forward = spy
    try:
        scores(scorer, np.array([0, 0]), np.array([[0, 7], [6, 2]]))
    finally:
        scorer.model.forward = inner
    for inputs in seen:
        kept = inputs["logits_to_keep"].tolist()
        for ids in inputs["input_ids"].tolist():
            assert [ids[column] for column in kept] == [scorer.letters.opening]


@given(
    st.sampled_from(sorted(SCORERS)),
    st.integers(1, 5),
    st.integers(1, 10),
    st.integers(0, 99),
    st.sampled_from([1, 700, 5000]),
    st.sampled_from(["left", "right"]),
)
@settings(max_examples=25)
def test_neither_batch_nor_padding_changes_a_window(kind, batch, size, seed, budget, padding):
    scorer = SCORERS[kind]
    rows = some_windows(batch, size, seed)
    single = [
        losses(scorer, *(part[number : number + 1] for part in rows)) for number in range(batch)
    ]
    scorer.batch_tokens, scorer.padding = budget, padding
    try:
        found, loss = losses(scorer, *rows)
        read = scores(scorer, *rows[:2])
    finally:
        scorer.batch_tokens, scorer.padding = 8192, "left"
    torch.testing.assert_close(found, torch.cat([part for part, _ in single]), **CLOSE)
    torch.testing.assert_close(loss, torch.cat([part for _, part in single]), **CLOSE)
    torch.testing.assert_close(read, found, **CLOSE)


@pytest.mark.parametrize("family", ["gpt2", "bloom"])
def test_absolute_and_linear_positions_survive_padding(family):
    tokenizer = byte_level_tokenizer()
    torch.manual_seed(0)
    shape = {"vocab_size": len(tokenizer), "n_layer": 2, "n_head": 4, "initializer_range": 0.3}
    model = {
        "gpt2": lambda: GPT2LMHeadModel(GPT2Config(n_embd=32, n_positions=4096, **shape)),
        "bloom": lambda: BloomForCausalLM(BloomConfig(hidden_size=32, **shape)),
    }[family]().eval()
    results = [
        losses(CausalLmScorer(model, tokenizer, padding=padding, **options), *some_windows(4, 5))
        for padding in ("left", "right")
        for options in ({}, {"batch_tokens": 1})
    ]
    for other in results[1:]:
        torch.testing.assert_close(other, results[0], **CLOSE)


def test_models_that_cannot_keep_some_logits_give_the_same():
    scorer = scorer_of("byte-level")
    rows = some_windows(4, 5)
    expected = losses(scorer, *rows)
    scorer._accepted = {"input_ids", "attention_mask"}
    for scorer.padding in ("right", "left"):  # Llama's positions are relative
        torch.testing.assert_close(losses(scorer, *rows), expected, **CLOSE)


@pytest.mark.parametrize("shift", [-1, 1])
def test_a_position_that_is_not_the_bracket_is_never_read(monkeypatch, scorer, shift):
    def shifted(sequences, side):
        ids, mask = padded(sequences, side)
        return ids.roll(shift, dims=1), mask

    monkeypatch.setattr(causal_lm, "padded", shifted)
    rows = some_windows(2, 3)
    with pytest.raises(DataError, match="the position to read holds"):
        scores(scorer, *rows[:2])
    with pytest.raises(DataError, match="the position to read holds"):
        losses(scorer, *rows)


def test_in_training_another_first_letter_is_refused(monkeypatch):
    scorer = SCORERS["byte-level"]

    def replaced(sequences, side):
        ids, mask = padded(sequences, side)
        a, b = scorer.letters.letters[:2]
        return torch.where(ids == a, b, torch.where(ids == b, a, ids)), mask

    monkeypatch.setattr(causal_lm, "padded", replaced)
    with pytest.raises(DataError, match=r"holds \['\[', 'B'\]"):
        losses(scorer, np.array([0]), np.array([[0, 7]]), np.array([[0, 1]]))
