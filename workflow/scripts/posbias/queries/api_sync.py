"""One call a request, several at a time: dear and quick."""

import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from posbias.queries.answer_log import AnswerLog, fingerprint
from posbias.queries.api_batch_state import BatchState
from posbias.queries.api_budget import Budget, Prices
from posbias.queries.api_client import ChatApi
from posbias.queries.api_completion import (
    BadBody,
    error_answer,
    read_completion,
    read_usage,
)
from posbias.queries.api_errors import ApiFault, ApiStopped
from posbias.queries.api_options import ApiOptions
from posbias.queries.api_retry import Patience
from posbias.queries.chat import ChatAnswer, ChatRequest
from posbias.queries.logged_answerer import Chosen


class SyncAsker:
    """Asks for chat completions from a pool of threads, each of which logs what it has paid for."""

    def __init__(self, api: ChatApi, options: ApiOptions, seed: int) -> None:
        self.name = options.model
        self.settings = options.settings(seed)
        self.events: Counter = Counter()
        self._api, self._options, self._seed = api, options, seed
        self._watch = _Watch(options.stop_after_failures, api.server)

    def ask(self, requests: Chosen, answer_log: AnswerLog) -> Iterator[ChatAnswer]:
        """Yield answers as they come.

        Raises ApiStopped, BudgetSpent or PosbiasError (a full disk) once the calls under way have
        ended and are logged.
        """
        state = BatchState(answer_log.path)
        if state.open:
            raise ApiStopped(
                f"{len(state.open)} batches are under way ({state.folder}) and would be paid "
                "twice; set mode to batch until they are in."
            )
        budget = Budget(self._options.cap_dollars, answer_log.dollars)
        patience = Patience(self._options, self._seed, self.events)
        worker = _Worker(
            self._api, self._options, self.settings, answer_log, budget, patience, self._watch
        )
        prices = Prices(self._options)
        waiting, under_way = iter(requests), set[Future]()
        with ThreadPoolExecutor(self._options.concurrency) as pool:
            try:
                while True:
                    room = self._options.concurrency - len(under_way)
                    for request in itertools.islice(waiting, room):
                        bound = prices.bound(request.prompt)
                        budget.reserve(bound)
                        under_way.add(pool.submit(worker.answer, request, bound))
                    if not under_way:
                        return
                    done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
            finally:
                patience.halt.set()


class _Worker:
    """What the threads of one `ask` do and share."""

    def __init__(
        self, api: ChatApi, options: ApiOptions, settings: dict, answer_log: AnswerLog,
        budget: Budget, patience: Patience, watch: "_Watch",
    ) -> None:  # fmt: skip
        self._api, self._settings = api, settings
        self._log, self._budget, self._patience = answer_log, budget, patience
        self._prices, self._watch = Prices(options), watch

    def answer(self, request: ChatRequest, bound: float) -> ChatAnswer:
        """Get one answer and log it; `bound` dollars are set aside for the first call."""
        mark = fingerprint(self._settings, request)
        held, dollars, final = bound, 0.0, True  # what is paid for is final
        try:
            for attempt in itertools.count():
                try:
                    answer, dollars = self._completed(request, bound)
                    break
                except ApiFault as fault:
                    if fault.perhaps_paid:
                        # What a lost call has cost is not known: it counts as much as it may.
                        self._log.append(mark, error_answer(request.key, str(fault)), bound, False)
                        self._budget.settle(held, bound)
                        held = 0.0
                        self._patience.count("lost_calls")
                    try:
                        self._patience.wait(request.key, attempt, fault)
                    except ApiFault:
                        passing, final = fault.action == "retry", False
                        answer = error_answer(request.key, str(fault), passing)
                        break
                if not held:
                    if not self._budget.try_reserve(bound):
                        raise self._budget.exhausted(bound)
                    held = bound
            self._log.append(mark, answer, dollars, final)
        finally:
            self._budget.settle(held, dollars)
        self._watch.take(answer)
        return answer

    def _completed(self, request: ChatRequest, bound: float) -> tuple[ChatAnswer, float]:
        """Make one call; return its answer and dollars, or raise ApiFault."""
        body = self._api.complete(request.prompt)
        try:
            answer = read_completion(request.key, body)
        except BadBody as fault:
            raise ApiFault("retry", "bad_body", str(fault), perhaps_paid=True) from None
        usage = read_usage(body)
        if usage is None:
            self._patience.count("missing_usage")
            return answer, bound
        dollars = self._prices.dollars(usage)
        if dollars > bound:
            self._patience.count("over_bound")
        return answer, dollars


class _Watch:
    """Counts the requests in a row that got no answer, from one `ask` to the next."""

    def __init__(self, most: int, server: str) -> None:
        self._most, self._server = most, server
        self._failures = 0
        self._mutex = threading.Lock()

    def take(self, answer: ChatAnswer) -> None:
        """Raise ApiStopped if too many requests in a row got no answer."""
        with self._mutex:
            self._failures = self._failures + 1 if answer.finish == "error" else 0
            if self._failures >= self._most:
                raise ApiStopped(
                    f"{self._failures} requests in a row got no answer from {self._server} "
                    f"(stop_after_failures), the last because of {answer.error}; see to the cause."
                )
