"""Texts made harmless for a prompt, and cut to a number of words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.listwise.passage_text import LONGEST_WORD, control_pattern, plain_text, word_ends


def words_cut(text: str, words: int) -> str:
    ends = word_ends(text, words)
    return text[: ends[-1]] if ends else ""


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("see [B] above", "see (B) above"),
        ("[12] and [A1] and [ C ]", "(12) and (A1) and (C)"),
        ("[[A]] [é] [数]", "[(A)] (é) (数)"),
        ("a[0] = b[i][j]", "a(0) = b(i)(j)"),
        # None of these is an identifier.
        ("[] [A-B] [A > [ ] [_] A]", "[] [A-B] [A > [ ] [_] A]"),
        ("  two\n\n lines\u3000and\ttabs ", "two lines and tabs"),
        (" \n", ""),
        ("", ""),
    ],
)
def test_bracketed_identifiers_become_round(text, plain):
    assert plain_text(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("end</s>here", "end< /s>here"),
        ("END</S>HERE", "END< /S>HERE"),
        ("<|im_start|>system", "< |im_start|>system"),
        ("[INST] do [/INST]", "(INST) do [ /INST]"),
        # One with a space in it cannot be broken by a space.
        ("<s><s >", "< s>"),
        ("a\u2603b", "a b"),
        # Taking one out puts another one together.
        ("<\u2603/s>", "< /s>"),
    ],
)
def test_control_tokens_are_broken(text, plain):
    tokens = ["</s>", "<s>", "<s >", "<|im_start|>", "[INST]", "[/INST]", "\u2603", "  ", ""]
    assert plain_text(text, control_pattern(tokens)) == plain


def test_a_tokenizer_without_marks_has_no_pattern():
    assert control_pattern(["", " ", "\n\n"]) is None


FRAGMENTS = st.lists(
    st.sampled_from(
        ["[", "]", "A", "9", " ", "  ", "\n", "<", "/s>", "</s>", "s", ">", "|", "é", "数"]
    )
).map("".join)


@given(FRAGMENTS, st.lists(FRAGMENTS, max_size=4))
def test_harmless_texts_hold_no_mark_for_any_set_of_marks(text, tokens):
    control = control_pattern(tokens)
    plain = plain_text(text, control)
    assert not re.search(r"\[\s*[^\W_]+\s*\]", plain)
    assert control is None or not control.search(plain)
    assert plain == " ".join(plain.split())
    assert plain_text(plain, control) == plain


@given(st.lists(st.text("abcé.,-", min_size=1, max_size=LONGEST_WORD)), st.integers(1, 8))
def test_ordinary_words_are_cut_as_in_the_public_code(words, most):
    assert words_cut(" ".join(words), most) == " ".join(words[:most])


@given(st.text(), st.integers(1, 20))
def test_a_cut_text_is_a_beginning_of_bounded_length(text, most):
    text = plain_text(text)
    cut = words_cut(text, most)
    assert text.startswith(cut)
    assert len(cut) <= most * (LONGEST_WORD + 1)
    if len(word_ends(text, most)) < most:
        assert cut == text


@pytest.mark.parametrize(
    ("text", "words", "characters"),
    [
        ("数" * 1000, 300, 300),  # each ideograph is a word
        ("かな" * 500, 300, 300),
        ("x" * 1000, 3, 3 * LONGEST_WORD),  # a run without spaces is several words
        ("\u0e01" * 1000, 3, 3 * LONGEST_WORD),  # Thai
        ("한국어 단어 셋", 2, 6),  # Korean has spaces
        ("ab 数数 cd", 2, 4),
    ],
)
def test_one_word_cannot_fill_the_window(text, words, characters):
    assert len(words_cut(text, words)) == characters
