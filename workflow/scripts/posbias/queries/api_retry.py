"""How long to wait before a call is tried again, and when to give up."""

import itertools
import logging
import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from posbias.keyed import keyed_unit
from posbias.queries.api_errors import ApiFault, ApiStopped
from posbias.queries.api_options import ApiOptions

log = logging.getLogger(__name__)

T = TypeVar("T")
LONG = 30.0  # seconds; a longer wait is announced


class Halted(Exception):
    """The run ends: a call that waited is not tried again."""


class Patience:
    """Exponential waits with jitter, bounded; a longer one that the server asks for is kept.

    The jitter depends on (seed, what is called, attempt) only, so threads need no generator.
    """

    def __init__(self, options: ApiOptions, seed: int, events: Counter) -> None:
        self._options, self._seed, self._events = options, seed, events
        self.halt = threading.Event()
        self._mutex = threading.Lock()

    def count(self, event: str) -> None:
        """Count what happened on the way; threads may do so at once."""
        with self._mutex:
            self._events[event] += 1

    def seconds(self, what: str, attempt: int, asked: float | None) -> float:
        """Return how long to wait before the attempt after the 0-based `attempt`."""
        options = self._options
        bound = min(options.first_wait_seconds * 2**attempt, options.longest_wait_seconds)
        jitter = keyed_unit(self._seed, "wait", what, attempt)
        if asked is None:
            return bound * (0.5 + 0.5 * jitter)
        # Never earlier than asked; a little later, so that not all come back at once.
        return asked + jitter * min(bound, 1.0)

    def wait(self, what: str, attempt: int, fault: ApiFault) -> None:
        """Wait before a call is tried again.

        Raises ApiStopped for a fault that ends the run or a wait beyond `longest_wait_seconds`,
        the fault itself if there is no use in another attempt or it was the last, and Halted when
        the run ends meanwhile.
        """
        self.count(f"fault: {fault.reason}")
        if fault.action == "stop":
            raise ApiStopped(f"the server says {fault}") from None
        if fault.action == "answer" or attempt >= self._options.retries:
            raise fault
        if fault.wait is not None and fault.wait > self._options.longest_wait_seconds:
            raise ApiStopped(
                f"the server asks to wait {fault.wait:.0f} s ({fault}), longer than "
                f"longest_wait_seconds ({self._options.longest_wait_seconds:g}); run again then."
            ) from None
        seconds = self.seconds(what, attempt, fault.wait)
        if seconds > LONG:
            log.info("waiting %.0f s: %s", seconds, fault)
        if self.halt.wait(seconds):
            raise Halted

    def call(self, what: str, function: Callable[[], T]) -> T:
        """Call until it works; raises as `wait` does. For calls that cost nothing."""
        for attempt in itertools.count():
            try:
                return function()
            except ApiFault as fault:
                self.wait(what, attempt, fault)
