"""From a queue of requests to batches that keep all limits: requests, bytes, tokens, dollars."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from posbias.errors import ConfigError
from posbias.queries.answer_log import fingerprint
from posbias.queries.api_batch_state import Row
from posbias.queries.api_budget import Budget, Prices
from posbias.queries.api_client import ChatApi
from posbias.queries.api_options import ApiOptions
from posbias.queries.logged_answerer import Chosen


@dataclass
class Pack:
    """A batch about to be sent; tokens: of input, about."""

    rows: list[Row] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    tokens: int = 0


class Packer:
    """The requests that are to be sent, and where those under way stand among all.

    Only indices are held. `under_way`: custom ids that an earlier run has sent.
    """

    def __init__(
        self, api: ChatApi, options: ApiOptions, settings: dict, requests: Chosen,
        under_way: set[str],
    ) -> None:  # fmt: skip
        self._api, self._options, self._settings = api, options, settings
        self._requests, self._prices = requests, Prices(options)
        self._places: dict[str, int] = {}
        if under_way:
            for index, request in enumerate(requests):
                custom_id = fingerprint(settings, request)
                if custom_id in under_way:
                    self._places[custom_id] = index
        sent = set(self._places.values())
        self._fresh: Iterator[int] = (i for i in range(len(requests)) if i not in sent)
        self._again: deque[int] = deque()
        self._tries: Counter[int] = Counter()

    def take(self, custom_id: str) -> bool:
        """Strike a request off those under way; return whether it was one of this run's."""
        return self._places.pop(custom_id, None) is not None

    def put_back(self, custom_id: str, counted: bool) -> bool:
        """Queue a request under way again; return False if it has been asked too often.

        counted: whether this was an attempt that `ask_again` limits.
        """
        index = self._places.pop(custom_id, None)
        if index is None:  # of an earlier run, and not wanted in this one
            return True
        self._tries[index] += counted
        if self._tries[index] > self._options.ask_again:
            return False
        self._again.append(index)
        return True

    def pack(self, budget: Budget, open_batches: int, open_tokens: int) -> Pack:
        """Take requests from the queue as long as they fit, and reserve their dollars.

        Empty if nothing is left or if there is no room before a batch ends. Raises BudgetSpent if
        no batch is under way and the next request does not fit under the cap; ConfigError if it
        is larger than a batch may be.
        """
        options, pack = self._options, Pack()
        while len(pack.rows) < options.batch_requests:
            index = self._again.popleft() if self._again else next(self._fresh, None)
            if index is None:
                break
            request = self._requests[index]
            custom_id = fingerprint(self._settings, request)
            line = self._api.batch_line(custom_id, request.prompt)
            tokens = self._prices.likely_input(len(request.prompt), 1)
            dollars = self._prices.bound(request.prompt)
            self._check("batch_bytes", request.key, len(line), options.batch_bytes)
            self._check("enqueued_tokens", request.key, tokens, options.enqueued_tokens)
            full = pack.size + len(line) > options.batch_bytes or (
                options.enqueued_tokens is not None
                and open_tokens + pack.tokens + tokens > options.enqueued_tokens
            )
            if full or not budget.try_reserve(dollars):
                self._again.appendleft(index)
                if not full and not pack.rows and not open_batches:
                    raise budget.exhausted(dollars)
                break
            self._places[custom_id] = index
            pack.rows.append(Row(custom_id, request.key, dollars))
            pack.lines.append(line)
            pack.size += len(line)
            pack.tokens += tokens
        return pack

    @staticmethod
    def _check(name: str, key: str, value: int, allowed: int | None) -> None:
        if allowed is not None and value > allowed:
            raise ConfigError(
                f"{name}: {allowed} is too small for the request {key!r}, which needs {value}; "
                "raise it, or leave that document out."
            )
