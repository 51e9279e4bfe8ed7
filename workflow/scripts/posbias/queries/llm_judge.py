"""A judge that asks a language model, one request a query and segment (appendix B.3).

The prompt is our own. It holds the query and the segment and nothing else of them, so that which
segment the query is aimed at, and where in its document the segment stands, stay hidden.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from string import Template
from typing import Any

from posbias.errors import DataError
from posbias.queries.chat import Answerer, ChatAnswer, ChatRequest
from posbias.queries.judges import Pair, Verdict
from posbias.queries.passing_failures import allowed_share, check_failures
from posbias.queries.prompts import TEMPLATES
from posbias.queries.reply import UnreadableReply, read_object

COUNTED = ("calls", "input_tokens", "cached_tokens", "output_tokens")
WORDS = {"yes": True, "no": False}


@lru_cache
def _template() -> Template:
    return Template((TEMPLATES / "judge_segment.txt").read_text(encoding="utf-8"))


def judge_prompt(query: str, segment: str) -> str:
    """Return the question whether this segment answers this query."""
    return _template().substitute(query=query, segment=segment)


def read_verdict(answer: ChatAnswer) -> Verdict:
    """Return the verdict in a reply; one that is neither yes nor no is named, never guessed at."""
    try:
        found = read_object(answer, ("answer",))
        said = found["answer"]
        word = said.strip().rstrip(".").casefold() if isinstance(said, str) else ""
        if word not in WORDS:
            raise UnreadableReply("answer is neither yes nor no")
    except UnreadableReply as reason:
        return Verdict(None, unreadable=str(reason))
    reasoning = found.get("reasoning")
    text = " ".join(reasoning.split()) if isinstance(reasoning, str) else ""
    return Verdict(WORDS[word], text or None)


class LlmJudge:
    """Asks an answerer for all verdicts at once."""

    def __init__(
        self,
        answerer: Answerer,
        name: str,
        outcomes: Counter,
        dollars: Callable[[Counter], float] = lambda used: 0.0,
        allowed_failures: float = 0.0,
    ) -> None:
        """outcomes: the answerer's own counts; dollars: the price of calls by their tokens.

        allowed_failures: share of the requests, 0 to 1, that may end by faults which pass, such as
        timeouts; more of them end the run once all others were tried.
        """
        self.answerer, self.name, self.outcomes, self.dollars = answerer, name, outcomes, dollars
        self.allowed_failures = allowed_share(name, allowed_failures)
        self.usage: Counter = Counter()
        self.failures: Counter = Counter()
        self.description = f"{answerer.name}, asked about each query and segment by itself"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return the verdicts in the order of the pairs.

        Raises what the answerer raises to stop; DataError if its answers are not those of the
        requests; PosbiasError if more requests than allowed ended by a fault that passes.
        """
        requests = [ChatRequest(pair.key, judge_prompt(pair.query, pair.segment)) for pair in pairs]
        verdicts: dict[str, Verdict] = {}
        for answer in self.answerer.answers(requests):
            if answer.key in verdicts:
                raise DataError(f"{self.answerer.name}: two answers to {answer.key}.")
            verdicts[answer.key] = read_verdict(answer)
            used = (1, answer.input_tokens, answer.cached_tokens, answer.output_tokens)
            self.usage.update(dict(zip(COUNTED, used, strict=True)))
            if answer.passing:
                self.failures[answer.reason] += 1
        missing = [request.key for request in requests if request.key not in verdicts]
        if missing:
            raise DataError(
                f"{self.answerer.name}: no answer to {missing[0]} and {len(missing) - 1} more."
            )
        check_failures(self.name, self.failures, len(requests), self.allowed_failures)
        return [verdicts[request.key] for request in requests]

    def summary(self) -> dict[str, Any]:
        """Return what was asked and what it cost; equal prompt hashes mean equal wording."""
        example = judge_prompt("alpha", "alpha beta gamma")
        return {
            "answerer": self.answerer.name,
            "prompt_sha256": hashlib.sha256(example.encode("utf-8")).hexdigest(),
            "usage": {
                **{what: self.usage[what] for what in COUNTED},
                "dollars": self.dollars(self.usage),
            },
            "outcomes": dict(sorted(self.outcomes.items())),
            "failed_for_passing_reasons": dict(sorted(self.failures.items())),
        }
