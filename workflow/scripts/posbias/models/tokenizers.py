"""Special tokens of a checkpoint's tokenizer: what pads, what ends a text, on which side it is cut.

The paper says nothing of them (section 4.2), and families differ: encoders end each text with an
end token, decoders do not; GPT-2 has no pad token; BLOOM and Llama pad on the left. The policy is
made part of the tokenizer's own files, so that SentenceTransformer(path) keeps it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from posbias.errors import ConfigError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

SIDES = ("right", "left")
# Texts by which a tokenizer is compared with itself after it was stored.
PROBES = ("", "a", "One sentence, and: another one?", "word " * 50)


@dataclass(frozen=True)
class TokenPolicy:
    """What is done about special tokens; the defaults leave the family's own behaviour.

    pad_token: pads where the tokenizer names no pad token; None = its end token. append_end:
    whether a text ends with the end token, also where it is cut; None = as the tokenizer does.
    truncation_side: the side on which a text loses tokens.
    """

    pad_token: str | None = None
    append_end: bool | None = None
    truncation_side: str = "right"


def token_policy(options: Mapping[str, Any] | None) -> TokenPolicy:
    """Read the `tokenizer` block of a registry entry; raises ConfigError for what it cannot be."""
    options = dict(options or {})
    unknown = sorted(options.keys() - TokenPolicy.__dataclass_fields__.keys())
    if unknown:
        raise ConfigError(
            f"tokenizer has no option {', '.join(unknown)}; known: "
            f"{', '.join(TokenPolicy.__dataclass_fields__)}."
        )
    policy = TokenPolicy(**options)
    if policy.truncation_side not in SIDES:
        raise ConfigError(
            f"tokenizer.truncation_side {policy.truncation_side!r} does not exist; "
            f"known: {', '.join(SIDES)}."
        )
    if policy.append_end not in (None, True, False):
        raise ConfigError("tokenizer.append_end must be true, false or null.")
    return policy


def apply_policy(tokenizer: "PreTrainedTokenizerBase", policy: TokenPolicy, name: str) -> None:
    """Make a tokenizer follow the policy, with padding on the right; changes it in place.

    name: of the checkpoint in messages. Raises ConfigError for a policy that this tokenizer
    cannot follow, or would forget when it is stored.
    """
    for name_of_side, side in (
        ("padding_side", "right"),
        ("truncation_side", policy.truncation_side),
    ):
        setattr(tokenizer, name_of_side, side)
        tokenizer.init_kwargs[name_of_side] = side  # what is stored
    _set_pad_token(tokenizer, policy.pad_token, name)
    if policy.append_end is not None:
        _set_end_token(tokenizer, policy.append_end, name)
    _check_survives_storage(tokenizer, name)


def end_token(tokenizer: "PreTrainedTokenizerBase", name: str) -> tuple[str, int]:
    """Return the token that ends a text and its id; raises ConfigError if there is none."""
    for token, number in (
        (tokenizer.eos_token, tokenizer.eos_token_id),
        (tokenizer.sep_token, tokenizer.sep_token_id),
    ):
        if number is not None:
            return token, number
    raise ConfigError(f"{name}: the tokenizer has no end token; set tokenizer.append_end to null.")


def check_room(tokenizer: "PreTrainedTokenizerBase", max_tokens: int) -> None:
    """Raise ConfigError unless an input of `max_tokens` holds more than special tokens."""
    special = tokenizer.num_special_tokens_to_add()
    if max_tokens <= special:
        raise ConfigError(
            f"max_tokens is {max_tokens}, which leaves no room for text beside {special} special "
            "tokens; raise max_tokens of the retriever or of the training block."
        )


def describe(tokenizer: "PreTrainedTokenizerBase") -> str:
    """Say in words what a tokenizer does about special tokens, for the model card."""
    before, after = _added(tokenizer)
    parts = [
        f"before each text: {_words(tokenizer, before)}",
        f"after it: {_words(tokenizer, after)}",
        f"padding on the {tokenizer.padding_side} with {tokenizer.pad_token}, never pooled",
        f"cut on the {tokenizer.truncation_side}",
    ]
    return "; ".join(parts)


def _words(tokenizer: "PreTrainedTokenizerBase", ids: list[int]) -> str:
    return " ".join(tokenizer.convert_ids_to_tokens(ids)) or "nothing"


def _set_pad_token(tokenizer: "PreTrainedTokenizerBase", wanted: str | None, name: str) -> None:
    if wanted is None:
        if tokenizer.pad_token is None:
            tokenizer.pad_token = end_token(tokenizer, name)[0]
        return
    if wanted not in tokenizer.get_vocab():
        raise ConfigError(
            f"{name}: tokenizer.pad_token {wanted!r} is not in the vocabulary; name one of its "
            "tokens, or null for the end token. New tokens are not added: they have no vector."
        )
    if tokenizer.pad_token is not None and tokenizer.pad_token != wanted:
        raise ConfigError(
            f"{name}: tokenizer.pad_token is {wanted!r}, but the checkpoint was trained with "
            f"{tokenizer.pad_token!r}; set it to null."
        )
    tokenizer.pad_token = wanted


def _added(tokenizer: "PreTrainedTokenizerBase") -> tuple[list[int], list[int]]:
    """Return the ids that a tokenizer puts before and after every text."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a")["input_ids"]
    starts = range(len(whole) - len(bare) + 1)
    first = next((at for at in starts if whole[at : at + len(bare)] == bare), 0)
    return whole[:first], whole[first + len(bare) :]


def _set_end_token(tokenizer: "PreTrainedTokenizerBase", wanted: bool, name: str) -> None:
    token, number = end_token(tokenizer, name)
    before, after = _added(tokenizer)
    ends = after[-1:] == [number]
    if ends == wanted:
        return
    if not wanted:
        raise ConfigError(
            f"{name}: the tokenizer ends each text with {token}, and the checkpoint was trained "
            "so; set tokenizer.append_end to true or null."
        )
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ConfigError(
            f"{name}: an end token can only be appended by a tokenizer with a tokenizer.json; "
            "convert it, or set tokenizer.append_end to null."
        )
    from tokenizers.processors import Sequence, TemplateProcessing

    tokens = [*tokenizer.convert_ids_to_tokens(before + after), token]
    texts = [*tokens[: len(before)], "$A", *tokens[len(before) :]]
    template = TemplateProcessing(
        single=" ".join(texts),
        special_tokens=list(zip(tokens, [*before, *after, number], strict=True)),
    )
    # What adds no token stays: byte-level tokenizers mend the offsets of leading blanks there.
    keeps = backend.post_processor is not None and not before and not after
    backend.post_processor = Sequence([backend.post_processor, template]) if keeps else template
    # With these in tokenizer_config.json the library would build its own template when it loads.
    for flag in ("add_bos_token", "add_eos_token"):
        tokenizer.init_kwargs.pop(flag, None)


def _check_survives_storage(tokenizer: "PreTrainedTokenizerBase", name: str) -> None:
    from transformers import AutoTokenizer

    with TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        stored = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    texts = list(PROBES)
    limits = {"truncation": True, "max_length": 16, "padding": True}
    if any(
        tokenizer(texts, **limits)[field] != stored(texts, **limits)[field]
        for field in ("input_ids", "attention_mask")
    ):
        raise ConfigError(
            f"{name}: the tokenizer forgets what is done about special tokens when it is stored "
            "and loaded; set tokenizer.append_end and tokenizer.pad_token to null."
        )
