"""A reply that a local model writes token by token, freely or into the blanks of a form.

Small models lose their way in JSON. With a form the keys and punctuation are given, a value with
few choices can only become one of them, and any other value ends with its quotation mark.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_END = re.compile(r'(?:[^\\"\n]|\\.)*(?P<end>["\n])', re.DOTALL)
Choose = Callable[[np.ndarray], int]  # a token by its logits (vocabulary,)
Form = Mapping[str, Sequence[str] | None]  # keys of the reply, and the values that each may have


class FreeReply:
    """Whatever the model writes until it stops."""

    opening = ""

    def __init__(
        self, tokenizer: "PreTrainedTokenizerBase", choose: Choose, stops: frozenset[int]
    ) -> None:
        self.tokenizer, self.choose, self.stops = tokenizer, choose, stops
        self.ids: list[int] = []
        self.ended = False

    def take(self, logits: np.ndarray) -> int:
        """Return the next token, of logits (vocabulary,)."""
        token = self.choose(logits)
        self.ended = token in self.stops
        self.ids += [] if self.ended else [token]
        return token

    def text(self) -> str:
        return self.tokenizer.decode(self.ids, skip_special_tokens=True)


class FormReply:
    """A JSON object whose values alone are the model's."""

    def __init__(
        self,
        tokenizer: "PreTrainedTokenizerBase",
        choose: Choose,
        stops: frozenset[int],
        form: Form,
    ) -> None:
        self.tokenizer, self.choose, self.stops = tokenizer, choose, stops
        self.form, self.keys = form, list(form)
        self.opening = f'{{"{self.keys[0]}": "'
        self.values: list[str] = []
        self.ids: list[int] = []  # of the value being written
        self.given: list[int] = []  # tokens between two values, still to be taken
        self.ended = False

    def take(self, logits: np.ndarray) -> int:
        """Return the next token, of logits (vocabulary,)."""
        if self.given:
            return self.given.pop(0)
        choices = self.form[self.keys[len(self.values)]]
        return self._free(logits) if choices is None else self._one_of(logits, choices)

    def _free(self, logits: np.ndarray) -> int:
        token = self.choose(logits)
        before = self._decode(self.ids)
        written = before if token in self.stops else self._decode([*self.ids, token])
        end = len(before) if token in self.stops else _end_of_value(written)
        if end is None:
            self.ids.append(token)
            return token
        # The model sees the value's end as the tokens of the text that is kept, not as its own.
        rest = self._close(written[:end])
        self.given = self._encode(written[len(before) : end] + '"' + rest)
        return self.given.pop(0)

    def _one_of(self, logits: np.ndarray, choices: Sequence[str]) -> int:
        """Take the likeliest token that leads to one of the choices."""
        # With its quotation mark no choice is the beginning of another.
        ways = [self._encode(choice + '"') for choice in choices]
        at = len(self.ids)
        allowed = sorted({ids[at] for ids in ways if ids[:at] == self.ids})
        token = allowed[self.choose(logits[allowed])]
        self.ids.append(token)
        if self.ids in ways:
            self.given = self._encode(self._close(choices[ways.index(self.ids)]))
        return token

    def _close(self, value: str) -> str:
        """End a value; return what stands between its quotation mark and the next value."""
        self.values.append(_unescaped(value))
        self.ids = []
        self.ended = len(self.values) == len(self.keys)
        return "}" if self.ended else f', "{self.keys[len(self.values)]}": "'

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False, verbose=False).input_ids

    def _decode(self, ids: Sequence[int]) -> str:
        return self.tokenizer.decode(ids, skip_special_tokens=True)

    def text(self) -> str:
        """Return the object; a form that was not filled to its end is no whole one."""
        values = dict(zip(self.keys, self.values, strict=False))
        text = json.dumps(values, ensure_ascii=False)
        return text if self.ended else text.removesuffix("}")


def _end_of_value(text: str) -> int | None:
    """Return where a JSON string ends: at a quotation mark without a backslash, or a line's end."""
    found = _END.match(text)
    return found.start("end") if found else None


def _unescaped(value: str) -> str:
    try:
        return json.loads(f'"{value}"', strict=False)
    except json.JSONDecodeError:  # a lone backslash, say: the model's words as they stand
        return value
