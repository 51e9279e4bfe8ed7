"""From the JSON body of one chat completion to an answer."""

from collections.abc import Mapping
from dataclasses import dataclass

from posbias.queries.api_errors import one_line
from posbias.queries.chat import ChatAnswer

FINISHES = ("stop", "length", "content_filter")


class BadBody(ValueError):
    """A body of status 200 that is no chat completion."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one call; `cached` are those of `input` that came from the prompt cache."""

    input: int
    cached: int
    output: int


def _count(value: object) -> int | None:
    fine = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if fine else None


def read_usage(body: object) -> Usage | None:
    """Return the tokens that a body says it cost, or None if it does not say."""
    usage = body.get("usage") if isinstance(body, Mapping) else None
    if not isinstance(usage, Mapping):
        return None
    given, made = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if given is None or made is None:
        return None
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    return Usage(given, min(cached or 0, given), made)


def _text(value: object) -> str | None:
    """Return a text whose lone surrogates, which no file can hold, are U+FFFD."""
    if not isinstance(value, str):
        return None
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def read_completion(key: str, body: object) -> ChatAnswer:
    """Return the answer in a chat completion's body; tokens are 0 where it does not say.

    A message with neither text nor refusal, or with an unknown finish_reason, is an answer of
    finish "error". Raises BadBody if there is no message at all.
    """
    if not isinstance(body, Mapping):
        raise BadBody(f"expected a JSON object, found {one_line(repr(body))}")
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(message, Mapping):
        raise BadBody(f"no choices: {one_line(body.get('error') or 'none given')}")
    text, refusal = _text(message.get("content")), _text(message.get("refusal"))
    finish, error = first.get("finish_reason"), None
    if finish not in FINISHES:
        error = f"unknown finish_reason: {one_line(repr(finish))}"
    elif finish == "stop" and text is None and refusal is None:
        error = "no text: the message is empty"
    usage = read_usage(body) or Usage(0, 0, 0)
    return ChatAnswer(
        key=key,
        text=text,
        refusal=refusal,
        finish="error" if error else finish,
        input_tokens=usage.input,
        cached_tokens=usage.cached,
        output_tokens=usage.output,
        model=_text(body.get("model")) or "",
        error=error,
    )


def error_answer(key: str, error: str, passing: bool = False) -> ChatAnswer:
    """Return the answer of a request that got none; error: "<reason>: <what was said>".

    passing: whether a later try may get one.
    """
    return ChatAnswer(key, None, None, "error", 0, 0, 0, "", error, passing)
