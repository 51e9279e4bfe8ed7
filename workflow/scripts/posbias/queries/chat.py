"""What is asked of a chat model and what it answers, whoever runs it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class ChatRequest:
    """One user message; `key` is unique, as in "<doc_id>|stage1" or "<doc_id>|begin"."""

    key: str
    prompt: str


@dataclass(frozen=True)
class ChatAnswer:
    """What came of one request: a text, a refusal, or the fault that kept it from an answer.

    finish: "stop", "length" (cut), "content_filter" or "error"; error: set with "error" only, the
    reason up to its first colon; cached_tokens: those of input_tokens that were read from the
    provider's prompt cache; passing: the error may be gone when the request is made again.
    """

    key: str
    text: str | None
    refusal: str | None
    finish: str
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    model: str
    error: str | None
    passing: bool = False

    @property
    def reason(self) -> str:
        """The kind of the error, such as timeout."""
        return (self.error or "unknown").split(":")[0]


class Answerer(Protocol):
    """Anything that answers chat requests: a hosted model, a local one, a log around either."""

    name: str

    def answers(self, requests: Sequence[ChatRequest]) -> Iterator[ChatAnswer]:
        """Yield one answer a request, in any order; a failure is an answer of finish "error"."""
        ...
