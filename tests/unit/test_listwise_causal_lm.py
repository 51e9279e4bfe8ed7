"""Scores from letters' logits and the answer's loss: values, gradients, and what is refused."""

import numpy as np
import pytest
import torch

from listwise_models import (
    CLOSE,
    COLLECTION,
    PASSAGES,
    TOKENIZERS,
    byte_level_tokenizer,
    losses,
    plain_prompt,
    scorer_of,
    scores,
    some_windows,
    texts_collection,
    tiny_llama,
)
from posbias.errors import ConfigError, DataError
from posbias.listwise.causal_lm import CausalLmScorer
from posbias.listwise.prompt import LETTERS

torch.set_num_threads(1)
SCORERS = {kind: scorer_of(kind) for kind in TOKENIZERS}


@pytest.fixture(params=SCORERS)
def scorer(request) -> CausalLmScorer:
    return SCORERS[request.param]


def test_a_score_is_the_letters_logit_right_behind_the_opening_bracket(scorer):
    queries, passages, _ = some_windows(3, 4)
    found = scores(scorer, queries, passages)
    assert found.shape == (3, 4)
    assert found.dtype == torch.float32
    for query, window, row in zip(queries, passages, found, strict=True):
        ids = [*plain_prompt(scorer, query, window), scorer.letters.opening]
        with torch.no_grad():
            logits = scorer.model(torch.tensor([ids])).logits[0, -1]
        torch.testing.assert_close(row, logits[list(scorer.letters.letters[:4])], **CLOSE)


def test_the_loss_is_that_of_the_library_on_the_answers_tokens(scorer):
    queries, passages, orders = some_windows(3, 4)
    found, loss = losses(scorer, queries, passages, orders)
    torch.testing.assert_close(found, scores(scorer, queries, passages), **CLOSE)
    for number in range(3):
        prompt = plain_prompt(scorer, queries[number], passages[number])
        text = " > ".join(f"[{LETTERS[slot]}]" for slot in orders[number])
        before = scorer.chat.plain_ids(scorer.chat.context)
        answer = scorer.chat.plain_ids(scorer.chat.context + text)[len(before) :]
        ids = torch.tensor([[*prompt, *answer, scorer.tokenizer.eos_token_id]])
        labels = ids.clone()
        labels[0, : len(prompt)] = -100
        with torch.no_grad():
            expected = scorer.model(ids, labels=labels).loss
        torch.testing.assert_close(loss[number], expected, **CLOSE)


def test_swapped_passages_are_read_at_their_new_slots(scorer):
    """The scores follow from texts and slots alone, not from rows of the collection."""
    twice = texts_collection([PASSAGES[0], PASSAGES[7], PASSAGES[0], PASSAGES[7]])
    with torch.no_grad():
        found = scorer.scores(twice, np.array([0, 0, 0]), np.array([[0, 1], [2, 3], [1, 0]]))
    torch.testing.assert_close(found[0], found[1], **CLOSE)
    assert not torch.allclose(found[0], found[2])


@pytest.mark.parametrize("letter", ["Z", "A"])
def test_likely_letters_beyond_the_window_are_counted_and_never_returned(letter):
    scorer = scorer_of("byte-level")
    wanted = scorer.letters.letters[LETTERS.index(letter)]
    queries, passages, _ = some_windows(4, 3)
    before = scores(scorer, queries, passages)
    forward = scorer.model.forward

    def certain(**inputs):
        output = forward(**inputs)
        output.logits[..., wanted] += 1000
        return output

    scorer.windows_read = scorer.answers_off_letters = 0
    scorer.model.forward = certain
    found = scores(scorer, queries, passages)
    assert found.shape == (4, 3)
    torch.testing.assert_close(found[:, 1:], before[:, 1:], **CLOSE)
    assert scorer.windows_read == 4
    assert scorer.answers_off_letters == (4 if letter == "Z" else 0)


@pytest.mark.parametrize("size", [27, 30])
def test_a_window_of_more_passages_than_letters_is_refused(scorer, size):
    window = np.zeros((1, size), int)
    with pytest.raises(ConfigError, match=f"window of {size}: at most 26 letters"):
        scores(scorer, np.array([0]), window)
    with pytest.raises(ConfigError, match=f"window of {size}: at most 26 letters"):
        losses(scorer, np.array([0]), window, np.arange(size)[None])
    assert scorer.largest_window == 26
    assert scores(scorer, np.array([0]), window[:, :26]).shape == (1, 26)


def test_one_passage_no_window_and_a_large_window_work(scorer):
    assert scores(scorer, np.array([1]), np.array([[2]])).shape == (1, 1)
    found, loss = losses(scorer, *(part[:0] for part in some_windows(1, 3)))
    assert (found.shape, loss.shape) == ((0, 3), (0,))


@pytest.mark.parametrize(
    "part",
    [
        lambda scorer, *rows: scorer.scores(COLLECTION, *rows[:2]),
        lambda scorer, *rows: scorer.training_scores(COLLECTION, *rows)[0],
        lambda scorer, *rows: scorer.training_scores(COLLECTION, *rows)[1],
    ],
    ids=["scores", "training-scores", "loss"],
)
def test_scores_and_losses_carry_gradients(part):
    scorer = scorer_of("byte-level")
    part(scorer, *some_windows(3, 4)).sum().backward()
    gradients = [parameter.grad for parameter in scorer.parameters()]
    assert all(torch.isfinite(gradient).all() for gradient in gradients)
    assert all(gradient.abs().sum() > 0 for gradient in gradients)


def test_half_precision_models_give_full_precision_scores():
    scorer = scorer_of("byte-level")
    scorer.model.to(torch.bfloat16)
    found, loss = losses(scorer, *some_windows(2, 3))
    assert found.dtype == loss.dtype == torch.float32


def test_cut_windows_are_counted():
    rows = some_windows(1, 10)
    whole = len(plain_prompt(SCORERS["byte-level"], rows[0][0], rows[1][0]))
    scorer = scorer_of("byte-level", max_tokens=whole - 10)
    scores(scorer, *rows[:2])
    assert scorer.windows_shortened == 1
    ids = plain_prompt(scorer, rows[0][0], rows[1][0])
    answer = 10 * len(scorer.chat.plain_ids("[A] >"))
    assert len(ids) + answer <= whole - 10
    with pytest.raises(DataError, match=r"query 'q\d', window that begins with document 'd\d'"):
        scores(scorer_of("byte-level", max_tokens=300), *rows[:2])


@pytest.mark.parametrize(
    ("queries", "passages", "orders", "message"),
    [
        ([0], [0, 1], [[0, 1]], r"queries \(1,\) and passages \(2,\)"),
        ([0, 1], [[0, 1]], [[0, 1]], r"queries \(2,\) and passages \(1, 2\)"),
        ([3], [[0, 1]], [[0, 1]], "query rows 3 to 3, but the collection has 3"),
        ([0], [[0, -1]], [[0, 1]], "passage rows -1 to 0, but the collection has 10"),
        ([0], [[0, 1]], [[0, 0]], r"order \[0, 0\] must hold each number from 0 to 1"),
        ([0], [[0, 1]], [[1, 2]], r"order \[1, 2\] must hold"),
        ([0], [[0, 1]], [[0]], r"orders \(1, 1\) of windows \(1, 2\)"),
    ],
)
def test_wrong_rows_are_named(queries, passages, orders, message):
    rows = (np.array(queries), np.array(passages), np.array(orders))
    with pytest.raises(DataError, match=message):
        losses(SCORERS["byte-level"], *rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"max_words": 2.5}, r"max_words is 2\.5"),
        ({"batch_tokens": True}, "batch_tokens is True"),
        ({"max_tokens": 5000}, "max_tokens is 5000, but byte-level has 4096 positions"),
        ({"padding": "both"}, "padding 'both' does not exist; known: left, right"),
    ],
)
def test_options_that_cannot_work_are_named(options, message):
    with pytest.raises(ConfigError, match=message):
        scorer_of("byte-level", **options)


def test_a_tokenizer_larger_than_the_model_is_refused():
    tokenizer = byte_level_tokenizer()
    model = tiny_llama(tokenizer)
    tokenizer.add_tokens(["<extra>"])
    with pytest.raises(ConfigError, match="tokenizer has 422 tokens, the model vectors for 421"):
        CausalLmScorer(model, tokenizer, "some folder")
