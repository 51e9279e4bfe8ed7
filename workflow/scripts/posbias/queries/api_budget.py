"""What calls cost, at most and most likely, and a cap that no call may break."""

import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from posbias.queries.api_completion import Usage
from posbias.queries.api_errors import BudgetSpent
from posbias.queries.api_options import ApiOptions
from posbias.queries.chat import ChatRequest

ROUNDING = 1e-9  # dollars; sums of floats do not come out even
MESSAGE_TOKENS = 16  # that a chat format puts around one message, and some to spare


class Prices:
    """Dollars of calls in the mode of the options.

    A batch is paid at `batch_factor` of the full prices: that its cached input is cheaper still
    is not promised, so it is not counted on.
    """

    def __init__(self, options: ApiOptions) -> None:
        self._options = options
        batch = options.mode == "batch"
        factor = 1e-6 * (options.batch_factor if batch else 1.0)
        self._input = factor * options.input_price
        self._cached = self._input if batch else factor * options.cached_input_price
        self._output = factor * options.output_price

    def dollars(self, usage: Usage) -> float:
        """Return what a call has cost."""
        fresh = usage.input - usage.cached
        return fresh * self._input + usage.cached * self._cached + usage.output * self._output

    def input_bound(self, prompt: str) -> int:
        """Return how many input tokens a prompt has at most, without a tokenizer."""
        size = len(prompt.encode("utf-8"))
        return math.ceil(size / self._options.least_bytes_per_token) + MESSAGE_TOKENS

    def likely_input(self, characters: int, calls: int) -> int:
        """Return how many input tokens prompts of so many characters have, about."""
        return round(characters / self._options.chars_per_token) + calls * MESSAGE_TOKENS // 2

    def bound(self, prompt: str) -> float:
        """Return what one call costs at most, in dollars."""
        return self.most(self.input_bound(prompt), 1)

    def most(self, input_tokens: int, calls: int) -> float:
        """Return the dollars of calls with so many input tokens and the longest answers."""
        made = calls * self._options.max_output_tokens
        return input_tokens * max(self._input, self._cached) + made * self._output


@dataclass(frozen=True)
class Estimate:
    """What a number of calls will likely cost, and at most, before the first of them."""

    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float
    dollars_at_most: float

    def __str__(self) -> str:
        return (
            f"{self.calls:,} calls, about {self.input_tokens:,} input and {self.output_tokens:,} "
            f"output tokens, about ${self.dollars:,.2f}, at most ${self.dollars_at_most:,.2f}"
        )


def estimate(calls: int, characters: int, utf8_bytes: int, options: ApiOptions) -> Estimate:
    """Estimate from sums over all prompts; nothing is counted on to be cached."""
    prices = Prices(options)
    given = prices.likely_input(characters, calls)
    made = calls * options.expected_output_tokens
    # One more a call, as each is rounded up by itself.
    most_given = math.ceil(utf8_bytes / options.least_bytes_per_token)
    most_given += calls * (MESSAGE_TOKENS + 1)
    return Estimate(
        calls,
        given,
        made,
        prices.dollars(Usage(given, 0, made)),
        prices.most(most_given, calls),
    )


def sizes(requests: Iterable[ChatRequest | int]) -> tuple[int, int, int]:
    """Return number, characters and bytes of requests, or of numbers of (ASCII) characters."""
    calls = characters = utf8_bytes = 0
    for request in requests:
        plain = isinstance(request, int)
        calls += 1
        characters += request if plain else len(request.prompt)
        utf8_bytes += request if plain else len(request.prompt.encode("utf-8"))
    return calls, characters, utf8_bytes


class Budget:
    """Dollars spent and reserved for calls under way; their sum never passes the cap.

    Safe to use from several threads.
    """

    def __init__(self, cap: float | None, spent: float, reserved: float = 0.0) -> None:
        self.cap, self.spent, self.reserved = cap, spent, reserved
        self._changed = threading.Condition()

    def _fits(self, dollars: float) -> bool:
        return self.cap is None or self.spent + self.reserved + dollars <= self.cap + ROUNDING

    def try_reserve(self, dollars: float) -> bool:
        """Set dollars aside if the cap leaves them; return whether it does."""
        with self._changed:
            if not self._fits(dollars):
                return False
            self.reserved += dollars
            return True

    def reserve(self, dollars: float) -> None:
        """Set dollars aside, waiting for calls under way if need be.

        Raises BudgetSpent if the cap does not leave them though no call is under way.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._fits(dollars) or self.reserved <= 0)
            if not self._fits(dollars):
                raise self.exhausted(dollars)
            self.reserved += dollars

    def settle(self, reserved: float, dollars: float) -> None:
        """Replace what was set aside for a call by what it has cost."""
        with self._changed:
            rest = self.reserved - reserved
            self.reserved = rest if rest > ROUNDING else 0.0
            self.spent += dollars
            self._changed.notify_all()

    def exhausted(self, dollars: float) -> BudgetSpent:
        """Return the fault of a call that does not fit."""
        return BudgetSpent(
            f"cap_dollars: ${self.spent:.4f} of ${self.cap:.4f} are spent and the next call may "
            f"cost up to ${dollars:.4f}; raise cap_dollars to go on."
        )
