"""Cosines of documents with their segments: the sample, closed forms, intervals, cut texts."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast

from posbias.errors import ConfigError, DataError
from posbias.keyed import keyed_order
from posbias.representation.segment_cosine import (
    DOCUMENTS_AT_A_TIME,
    count_cut,
    draw_documents,
    segment_cosines,
    segment_records,
    segments_of_text,
    why_dropped,
)

TEXT = st.text(alphabet="ab \n\u3000é🙂", max_size=12)
CORPUS = st.dictionaries(st.text("xyz", min_size=1, max_size=4), TEXT, min_size=1, max_size=30)


def letters(texts: list[str]) -> np.ndarray:
    """Counts of four letters: the vector of a text is the sum of those of its segments."""
    return np.array([[text.count(letter) for letter in "abcd"] for text in texts], np.float32)


@given(CORPUS, st.integers(1, 12), st.integers(1, 5), st.integers(0, 3))
def test_the_sample_is_the_keyed_one_and_every_document_is_accounted_for(
    corpus, number, count, seed
):
    usable = [
        (doc_id, text)
        for doc_id, text in corpus.items()
        if len(text) >= count and all(part.strip() for part in segments_of_text(text, count))
    ]
    if not usable:
        with pytest.raises(DataError, match=rf"none of {len(corpus)} .* into {count} segments"):
            draw_documents(corpus.items(), number, count, seed)
        return
    drawn = draw_documents(corpus.items(), number, count, seed)
    wanted = keyed_order(usable, seed, key=lambda document: document[0])[:number]
    assert drawn.texts == [text for _, text in wanted]
    assert len(drawn.texts) + sum(drawn.dropped.values()) == len(corpus)
    assert drawn.dropped["too_short"] == sum(len(text) < count for text in corpus.values())
    shuffled = random.Random(seed).sample(list(corpus.items()), len(corpus))
    assert draw_documents(iter(shuffled), number, count, seed) == drawn


def test_another_seed_draws_other_documents_and_further_ones_push_out_only_the_last():
    corpus = [(f"d{number}", f"text {number}") for number in range(200)]
    drawn = {seed: draw_documents(corpus, 20, 3, seed).texts for seed in (1, 2)}
    assert drawn[1] != drawn[2]
    more = [*corpus, *((f"new{number}", f"new {number}") for number in range(40))]
    kept = [text for text in draw_documents(more, 20, 3, 1).texts if text.startswith("text")]
    assert kept == drawn[1][: len(kept)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "too_short"),
        ("ab", "too_short"),
        ("abc", None),
        ("🙂🙂🙂", None),  # three code points, twelve bytes
        ("a   bc", "blank_segment"),
        ("a \u3000\u3000\n b c", "blank_segment"),
    ],
)
def test_why_a_document_is_dropped(text, reason):
    assert why_dropped(text, 3) == reason


@pytest.mark.parametrize(("number", "count"), [(0, 3), (-1, 3), (3, 0)])
def test_no_documents_or_no_segments_are_refused(number, count):
    with pytest.raises(ConfigError, match="set both to 1 or more"):
        draw_documents([("d", "a text")], number, count, 1)


def test_closed_forms():
    cosines = segment_cosines(letters, ["aabb", "aaab", "abab", "aaaa"], 2, "t")
    half, sure = 1 / math.sqrt(2), 2 / math.sqrt(5)
    # aaab: (3, 1) with aa (1, 0) and with ab (1, 1).
    wanted = [[half, half], [3 / math.sqrt(10), 4 / math.sqrt(20)], [1, 1], [1, 1]]
    np.testing.assert_allclose(cosines, wanted, atol=1e-6)
    assert cosines[1, 1] == pytest.approx(sure, abs=1e-6)


@given(st.lists(st.text("abcd", min_size=4, max_size=30), min_size=1, max_size=6))
def test_cosines_are_those_of_each_text_by_itself_and_of_any_length_of_vector(texts):
    cosines = segment_cosines(letters, texts, 4, "t")
    longer = segment_cosines(lambda some: 7 * letters(some), texts, 4, "t")
    np.testing.assert_allclose(cosines, longer, atol=1e-6)
    for text, row in zip(texts, cosines, strict=True):
        whole, *parts = letters([text, *segments_of_text(text, 4)]).astype(float)
        for part, value in zip(parts, row, strict=True):
            expected = whole @ part / np.linalg.norm(whole) / np.linalg.norm(part)
            assert value == pytest.approx(expected, abs=1e-6)
    np.testing.assert_allclose(segment_cosines(letters, texts, 1, "t"), 1, atol=1e-6)


def test_blocks_do_not_mix_documents():
    n = 2 * DOCUMENTS_AT_A_TIME + 3
    texts = ["abcd"[number % 4] * 3 + "abcd"[number // 4 % 4] * (number % 5 + 1) for number in
             range(n)]  # fmt: skip
    alone = [segment_cosines(letters, [text], 3, "t")[0] for text in texts]
    np.testing.assert_array_equal(segment_cosines(letters, texts, 3, "t"), alone)


def test_a_segment_without_a_direction_is_named():
    with pytest.raises(DataError, match="bert, begin: segment 3 "):
        segment_cosines(letters, ["abab", "abxx"], 2, "bert, begin")


def test_intervals_of_two_documents_are_the_binomial_ones():
    two = {"base": np.array([[0.0], [1.0]])}
    for level, wanted in ((0.95, (0.0, 1.0)), (0.4, (0.5, 0.5))):
        (record,) = segment_records(two, 4000, level, np.random.default_rng(1))["base"]
        assert record == {"segment": 1, "mean": 0.5, "low": wanted[0], "high": wanted[1]}


def test_intervals_come_near_the_normal_ones_and_are_those_of_the_same_documents():
    rng = np.random.default_rng(5)
    values = rng.normal(0.6, 0.1, size=(400, 3))
    cosines = {"base": values, "begin": values[:, ::-1], "end": np.full((400, 3), 0.25)}
    records = segment_records(cosines, 4000, 0.95, np.random.default_rng(2))
    assert list(records) == ["base", "begin", "end"]
    for column, record in enumerate(records["base"]):
        assert record["segment"] == column + 1
        assert record["mean"] == pytest.approx(values[:, column].mean(), abs=1e-12)
        error = values[:, column].std() / math.sqrt(400)
        assert record["low"] == pytest.approx(record["mean"] - 1.96 * error, abs=0.15 * error)
        assert record["high"] == pytest.approx(record["mean"] + 1.96 * error, abs=0.15 * error)
    mirrored = [{**one, "segment": 4 - one["segment"]} for one in reversed(records["begin"])]
    for one, other in zip(records["base"], mirrored, strict=True):
        assert one == pytest.approx(other, abs=1e-12)  # hence one resample serves all settings
    for record in records["end"]:
        assert [record[name] for name in ("mean", "low", "high")] == pytest.approx([0.25] * 3)


@pytest.fixture(scope="module")
def words():
    vocabulary = {"[PAD]": 0, "[UNK]": 1, "a": 2}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")


@pytest.mark.parametrize("side", ["right", "left"])
def test_texts_that_are_cut_are_counted_whichever_end_is_lost(words, side):
    words.truncation_side = side
    texts = ["a " * n for n in (1, 3, 4, 5, 90)] + ["a a a a \n \n", ""]
    assert [count_cut(words, texts, limit) for limit in (3, 4, 5, 100)] == [4, 2, 1, 0]
    assert count_cut(words, [], 4) == 0
