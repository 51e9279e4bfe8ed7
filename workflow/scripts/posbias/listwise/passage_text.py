"""Passages and queries made harmless for a prompt, and cut to a number of words.

A passage that holds "[B]" looks like the mark of another passage, and one that holds a control
token of the tokenizer ("</s>", "<|im_start|>") ends a turn. Damaged text (mojibake, ligatures) is
left as it is: the public code repairs it with ftfy, here it is the corpus's business (our choice).
"""

import re
from collections.abc import Iterable
from itertools import islice

LONGEST_WORD = 24  # characters

_IDENTIFIER = re.compile(r"\[\s*([^\W_]+)\s*\]")
# Kana and the ideographs, which stand without spaces between words.
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_WIDE}]|[^\s{_WIDE}]{{1,{LONGEST_WORD}}}")


def control_pattern(tokens: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern that finds each of the tokens in any case of letters.

    Tokens of nothing but whitespace are left out: some tokenizers add runs of spaces. None if no
    token is left.
    """
    marks = sorted({token for token in tokens if token.strip()})
    return re.compile("|".join(map(re.escape, marks)), re.IGNORECASE) if marks else None


def plain_text(text: str, control: re.Pattern[str] | None = None) -> str:
    """Return a text with single spaces, without bracketed identifiers and control tokens.

    "[B]" becomes "(B)" and so does any one run of letters and digits in square brackets. A control
    token gets a space behind its first character; one of a single character or with a space in
    it, which no space can break, is dropped.
    """
    while True:
        before = text
        text = _IDENTIFIER.sub(r"(\1)", " ".join(text.split()))
        if control is not None:
            text = " ".join(control.sub(_broken, text).split())
        # Breaking one mark can complete another; each round leaves fewer brackets, characters
        # or neighbours, so that there is a last one.
        if text == before:
            return text


def _broken(match: re.Match[str]) -> str:
    token = match[0]
    return " " if len(token) == 1 or " " in token else f"{token[0]} {token[1:]}"


def word_ends(text: str, words: int) -> list[int]:
    """Return where the first words of a text end, in characters, at most `words` of them.

    A word is a run without spaces, as in the public code, with two exceptions that keep one word
    from filling the window: a kana or an ideograph counts as a word of its own, and a longer run
    than LONGEST_WORD characters as one word for each LONGEST_WORD begun.
    """
    return [match.end() for match in islice(_WORD.finditer(text), words)]
