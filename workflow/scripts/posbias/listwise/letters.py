"""The tokens that name passages, and those of an answer.

Vocabularies hold each letter twice, with and without a space in front, and the answer "[A] > [B]"
uses the second kind. Which token that is follows from how the tokenizer reads a bracketed letter
right behind the prompt, never from what a token looks like when it is printed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from posbias.errors import ConfigError
from posbias.listwise.prompt import LETTERS, ChatPrompt, answer_text


@dataclass(frozen=True)
class LetterTokens:
    """Token ids of the opening bracket that begins an answer and of the bare letters A to Z."""

    opening: int
    letters: tuple[int, ...]


def find_letters(chat: ChatPrompt) -> LetterTokens:
    """Return the tokens that name passages in an answer.

    Raises ConfigError naming the tokenizer if a bracketed letter behind the prompt is not the
    bracket, the letter and the rest in tokens of their own.
    """
    before = chat.plain_ids(chat.context)
    start = len(before)
    opened = chat.plain_ids(chat.context + "[")
    bracket = chat.tokenizer.convert_ids_to_tokens(opened[start:])
    if opened[:start] != before or len(bracket) != 1 or not bracket[0].endswith("["):
        raise ConfigError(
            f"{chat.name}: the tokenizer does not keep the opening bracket apart from the end of "
            "the prompt, so there is no position to read; use another model."
        )
    found = [chat.plain_ids(f"{chat.context}[{letter}]") for letter in LETTERS]
    for letter, ids in zip(LETTERS, found, strict=True):
        # A token's own string tells the bare letter from the one with a space in front, and each
        # letter from the others.
        behind = chat.tokenizer.convert_ids_to_tokens(ids[start + 1 :])
        if ids[: start + 1] != opened or behind[:1] != [letter] or len(behind) < 2:
            raise ConfigError(
                f"{chat.name}: the tokenizer reads [{letter}] behind the opening bracket as "
                f"{behind}, not as {[letter, ']']}; use a model that keeps letters apart."
            )
    return LetterTokens(opened[start], tuple(ids[start + 1] for ids in found))


def answer_ids(chat: ChatPrompt, tokens: LetterTokens, order: Sequence[int]) -> list[int]:
    """Return the tokens of the answer that names slots (counted from 0), best first, and its end.

    They follow right behind the prompt's tokens: bracket, first letter, ..., end of turn. Raises
    ConfigError if the tokenizer has no end token or reads the answer in another way.
    """
    end = chat.tokenizer.eos_token_id
    if end is None:
        raise ConfigError(
            f"{chat.name}: the tokenizer has no end token, so an answer cannot be learned; "
            "set eos_token in its tokenizer_config.json."
        )
    before = chat.plain_ids(chat.context)
    ids = chat.plain_ids(chat.context + answer_text(order))
    answer = ids[len(before) :]
    if ids[: len(before)] != before or answer[:2] != [tokens.opening, tokens.letters[order[0]]]:
        raise ConfigError(
            f"{chat.name}: the tokenizer reads the answer {answer_text(order)} behind the prompt "
            "in another way than one letter in brackets; use another model."
        )
    return [*answer, end]
