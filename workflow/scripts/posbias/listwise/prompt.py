"""The prompt of FIRST-family rerankers: passages named by letters.

The wording is the one their checkpoints were trained on, kept in templates/first_prompt.json.
Later releases of the public code changed it; a checkpoint read with other words loses quality
without a sign, which is why results record `prompt_hash`. Text repair (ftfy) is left out.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posbias.errors import ConfigError, DataError
from posbias.files import read_json
from posbias.listwise.passage_text import control_pattern, plain_text, word_ends

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
TEMPLATE = Path(__file__).parent / "templates" / "first_prompt.json"
EXAMPLE = ("what is x", ("alpha text", "beta text"))


@lru_cache
def template() -> dict[str, Any]:
    """Return the parts of the prompt: version, system, prefix, passage, suffix and joints."""
    return read_json(TEMPLATE)


def check_window(size: int) -> None:
    """Raise ConfigError for a window that has more passages than there are letters, or none."""
    if not 1 <= size <= len(LETTERS):
        raise ConfigError(
            f"window of {size}: at most {len(LETTERS)} letters name its passages, and at least "
            f"one is needed; choose a window of 1 to {len(LETTERS)}."
        )


def user_turn(query: str, passages: Sequence[str]) -> str:
    """Return the user's turn for texts that are harmless already (`plain_text`).

    Raises ConfigError for more passages than letters.
    """
    check_window(len(passages))
    parts, count = template(), len(passages)
    lines = [
        parts["passage"].format(letter=letter, text=text)
        for letter, text in zip(LETTERS, passages, strict=False)
    ]
    prefix = parts["prefix"].format(count=count, query=query)
    return "".join([prefix, *lines, parts["suffix"].format(count=count, query=query)])


def answer_text(order: Sequence[int]) -> str:
    """Return the answer "[B] > [A]" that names slots (counted from 0), best first."""
    return template()["answer_joint"].join(f"[{LETTERS[slot]}]" for slot in order)


def prompt_hash(chat: "ChatPrompt | None" = None) -> str:
    """Return the SHA-256 of the prompt of a fixed example; of two hosts, equal means same prompt.

    Without `chat` it covers the wording (system turn and user turn), with it also the tokenizer's
    chat template.
    """
    if chat is None:
        text = template()["system"] + "\n" + user_turn(*EXAMPLE)
    else:
        text = chat.text(*EXAMPLE)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


class ChatPrompt:
    """The prompt as one tokenizer's chat template and vocabulary render it."""

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", name: str) -> None:
        """name: what to call the tokenizer in messages, such as its folder.

        Raises ConfigError if the tokenizer has no chat template, or one that cannot be rendered.
        """
        if not getattr(tokenizer, "chat_template", None):
            raise ConfigError(
                f"{name}: the tokenizer has no chat template, so where its turns begin is not "
                "known; use an instruction-tuned model, or add its chat_template.jinja."
            )
        self.tokenizer, self.name = tokenizer, name
        # An added word of letters and digits only is vocabulary of a subject, not a mark.
        marks = {
            number: str(token)
            for number, token in tokenizer.added_tokens_decoder.items()
            if token.special or not str(token).isalnum()
        }
        self.control = control_pattern([*marks.values(), *tokenizer.all_special_tokens])
        # Text outside the vocabulary becomes the unknown token, and that is no intrusion.
        self._control_ids = marks.keys() - {tokenizer.unk_token_id}
        self._harmless: dict[int, int] = {}
        first = tokenizer("").input_ids[:1]
        self._begin = first if first == [tokenizer.bos_token_id] else []
        system = template()["system"]
        try:
            self.takes_system = system in self._render([_turn("system", system), _turn("user")])
        except Exception:  # templates refuse a system turn by an error of their own
            self.takes_system = False
        try:
            self.context = self.text("", [""])
        except Exception as fault:  # templates are programs, which raise what they like
            raise ConfigError(
                f"{name}: the tokenizer's chat template fails ({type(fault).__name__}: {fault}); "
                "use another model, or mend its chat_template.jinja."
            ) from fault

    def _render(self, turns: list[dict[str, str]]) -> str:
        return self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)

    def text(self, query: str, passages: Sequence[str]) -> str:
        """Return the whole prompt up to where the answer begins.

        A chat template without a system role gets the system text in front of the user's turn.
        """
        parts, user = template(), user_turn(query, passages)
        if self.takes_system:
            return self._render([_turn("system", parts["system"]), _turn("user", user)])
        return self._render([_turn("user", parts["system"] + parts["system_joint"] + user)])

    def plain_ids(self, text: str) -> list[int]:
        """Return the token ids of a text, with nothing put around it."""
        return self.tokenizer(text, add_special_tokens=False, verbose=False).input_ids

    def ids(self, query: str, passages: Sequence[str]) -> list[int]:
        """Return the token ids of the prompt of harmless texts.

        They begin with the begin-of-text token if the tokenizer would put it there by itself and
        the chat template has not.
        """
        ids = self.plain_ids(self.text(query, passages))
        return ids if ids[:1] == self._begin else self._begin + ids

    def intrusions(self, ids: Sequence[int], passages: int) -> int:
        """Count the control tokens beyond those that a prompt of as many empty passages has."""
        if passages not in self._harmless:
            self._harmless[passages] = self._controls(self.ids("", [""] * passages))
        return self._controls(ids) - self._harmless[passages]

    def _controls(self, ids: Sequence[int]) -> int:
        return sum(map(self._control_ids.__contains__, ids))


def _turn(role: str, content: str = "") -> dict[str, str]:
    return {"role": role, "content": content}


@dataclass(frozen=True)
class Prompt:
    """Token ids of a prompt up to where the answer begins, and the cap on each passage's words."""

    ids: list[int]
    words: int


def fitted_prompt(
    chat: ChatPrompt, query: str, passages: Sequence[str], words: int, room: int, place: str
) -> Prompt:
    """Return the prompt of raw texts, with each passage cut to `words` words, or fewer to fit.

    room: most tokens of the prompt; place: what the window is called in messages. A prompt that
    is too long lowers the cap of all its passages alike, by a quarter of its excess tokens for
    each passage and at least by one word, and is built again, as in the public code. Raises
    DataError if even one word is too many, or if a control token got through.
    """
    check_window(len(passages))
    query = plain_text(query, chat.control)
    texts = [plain_text(text, chat.control) for text in passages]
    ends = [word_ends(text, words) for text in texts]
    while True:
        cut = [
            text[: marks[min(words, len(marks)) - 1]] if marks else ""
            for text, marks in zip(texts, ends, strict=True)
        ]
        ids = chat.ids(query, cut)
        excess = len(ids) - room
        if excess <= 0:
            break
        if words == 1:
            raise DataError(
                f"{place}: {excess} tokens too long even with one word of each of its "
                f"{len(texts)} passages; shorten the query, take a smaller window or raise "
                "max_tokens."
            )
        words = max(1, words - max(1, excess // (4 * len(texts))))
    if chat.intrusions(ids, len(texts)) > 0:
        raise DataError(
            f"{place}: a text holds a control token of the tokenizer {chat.name} in a spelling "
            "that was not recognised; take it out of the query or the passage."
        )
    return Prompt(ids, words)
