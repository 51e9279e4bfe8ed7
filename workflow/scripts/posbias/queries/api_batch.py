"""The batch endpoint: files of requests, answered within a day at a part of the price.

A batch is written down before it is sent (`BatchState`) and is forgotten only when all its
answers are in the log, so that a run may end anywhere, and the next one goes on from there.
"""

import itertools
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeVar

from posbias.logs import Heartbeat
from posbias.queries.answer_log import AnswerLog
from posbias.queries.api_batch_packing import Packer
from posbias.queries.api_batch_results import read_results
from posbias.queries.api_batch_state import MARK, BatchState, OpenBatch, Row
from posbias.queries.api_budget import Budget, Prices
from posbias.queries.api_client import ChatApi
from posbias.queries.api_completion import error_answer, read_completion, read_usage
from posbias.queries.api_errors import ApiFault, ApiStopped
from posbias.queries.api_options import ApiOptions
from posbias.queries.api_retry import Patience
from posbias.queries.chat import ChatAnswer
from posbias.queries.logged_answerer import Chosen

log = logging.getLogger(__name__)

T = TypeVar("T")
ENDED = ("completed", "expired", "cancelled", "failed")
CLOCKS_DIFFER = 86_400.0  # seconds that our clock and the provider's may be apart
LONGEST_HOLD = 32  # polls before a batch that a token limit kept out is sent again


class BatchAsker:
    """Asks for chat completions in batches, several of which are under way at a time."""

    def __init__(self, api: ChatApi, options: ApiOptions, seed: int) -> None:
        self.name = options.model
        self.settings = options.settings(seed)
        self.events: Counter = Counter()
        self._api, self._options, self._seed = api, options, seed

    def ask(self, requests: Chosen, answer_log: AnswerLog) -> Iterator[ChatAnswer]:
        """Yield answers as batches end.

        Raises ApiStopped for what a new run can go on from, ConfigError if a single request is
        too large for a batch, DataError if the notes on open batches are damaged.
        """
        batches = _Batches(
            self._api,
            self._options,
            Patience(self._options, self._seed, self.events),
            self.events,
            answer_log,
        )
        batches.find_lost()
        under_way = batches.under_way()
        packer = Packer(self._api, self._options, self.settings, requests, under_way)
        heartbeat = Heartbeat(f"batches of {self.name}", len(requests))
        done = 0
        while True:
            held_back = batches.send(packer)
            if not batches.open_count() and not held_back:
                return
            ended, counted = batches.poll()
            for batch, now in ended:
                for answer in batches.collect(batch, now, packer):
                    done += 1
                    yield answer
            heartbeat.beat(done + counted, batches.note())
            if not ended:
                time.sleep(self._options.poll_seconds)


class _Batches:
    """The batches under way, and what they may cost."""

    def __init__(
        self, api: ChatApi, options: ApiOptions, patience: Patience, events: Counter,
        answer_log: AnswerLog,
    ) -> None:  # fmt: skip
        self._api, self._options, self._patience = api, options, patience
        self._events, self._log, self._prices = events, answer_log, Prices(options)
        self._state = BatchState(answer_log.path)
        reserved = sum(batch.dollars for batch in self._state.open.values())
        self._budget = Budget(options.cap_dollars, answer_log.dollars, reserved)
        self._held_until, self._kept_out = 0.0, 0

    def under_way(self) -> set[str]:
        """Return the custom ids of all requests that an earlier run has sent."""
        return {custom_id for mark in self._state.open for custom_id in self._state.rows(mark)}

    def open_count(self) -> int:
        """Return how many batches are under way."""
        return len(self._state.open)

    def note(self) -> str:
        """Return the state in a few words."""
        return (
            f"{len(self._state.open)} batches open, ${self._budget.spent:.2f} spent, up to "
            f"${self._budget.reserved:.2f} under way,"
        )

    def _must(self, what: str, function: Callable[[], T]) -> T:
        """Make a call that the run cannot do without."""
        try:
            return self._patience.call(what, function)
        except (ApiFault, ApiStopped) as fault:
            raise ApiStopped(
                f"{what}: {fault} (Batches under way are noted in {self._state.folder}.)"
            ) from None

    def find_lost(self) -> None:
        """Find batches whose run ended before their id was noted; forget those never created."""
        lost = {mark for mark, batch in self._state.open.items() if batch.batch_id is None}
        if not lost:
            return
        found = self._must("the list of batches", lambda: self._listed(lost))
        for mark in lost:
            if mark in found:
                self._state.created(mark, found[mark])
                self._events["batches_found_again"] += 1
            else:
                self._budget.settle(self._state.open[mark].dollars, 0.0)
                self._state.close(mark)
                self._events["batches_never_created"] += 1

    def _listed(self, marks: set[str]) -> dict[str, str]:
        """Return the ids of batches by mark, as far as the provider knows them."""
        oldest = min(self._state.open[mark].created for mark in marks) - CLOCKS_DIFFER
        found = {}
        for body in self._api.batches():
            if (body.get("created_at") or 0) < oldest:
                break
            mark = (body.get("metadata") or {}).get(MARK)
            if mark in marks:
                found[mark] = body["id"]
        return found

    def send(self, packer: Packer) -> bool:
        """Send batches until the queue is empty or a limit is reached.

        Return True if what is queued has to wait for a while, whether or not a batch ends.
        """
        while len(self._state.open) < self._options.batches_at_once:
            if time.monotonic() < self._held_until:
                return True
            open_tokens = sum(batch.tokens for batch in self._state.open.values())
            pack = packer.pack(self._budget, len(self._state.open), open_tokens)
            if not pack.rows:
                break
            mark = self._state.add(pack.rows, pack.tokens, time.time()).mark
            content = b"".join(pack.lines)
            pack.lines.clear()  # up to 200 MB
            file_id = self._must(
                "upload", lambda m=mark, c=content: self._api.upload(f"{m}.jsonl", c)
            )
            batch_id = self._create(mark, file_id)
            self._state.created(mark, batch_id)
            self._events["batches"] += 1
            log.info("batch %s with %d requests is under way; a new run would find it again",
                     batch_id, len(pack.rows))  # fmt: skip
        return False

    def _create(self, mark: str, file_id: str) -> str:
        """Start a batch; after a fault, look whether it was started all the same."""
        for attempt in itertools.count():
            try:
                return self._api.create_batch(file_id, {MARK: mark})
            except ApiFault as fault:
                try:
                    self._patience.wait("create", attempt, fault)
                except (ApiFault, ApiStopped) as last:
                    raise ApiStopped(f"a batch was not accepted: {last}") from None
            found = self._must("the list of batches", lambda: self._listed({mark}))
            if mark in found:
                self._events["batches_found_again"] += 1
                return found[mark]

    def poll(self) -> tuple[list[tuple[OpenBatch, dict]], int]:
        """Return the batches that have ended, with their states, and the results of the others."""
        ended, counted = [], 0
        for batch in self._state.open.values():
            now = self._must(f"batch {batch.batch_id}", lambda b=batch: self._api.batch(b.batch_id))
            if now.get("status") in ENDED:
                ended.append((batch, now))
            else:
                counts = now.get("request_counts") or {}
                counted += (counts.get("completed") or 0) + (counts.get("failed") or 0)
        return ended, counted

    def collect(self, batch: OpenBatch, now: dict, packer: Packer) -> Iterator[ChatAnswer]:
        """Log and yield the answers of a batch that has ended, and queue what is left of it."""
        status, rows = now["status"], self._state.rows(batch.mark)
        output, errors = self._content(now, "output_file_id"), self._content(now, "error_file_id")
        dollars, good, stop = 0.0, 0, None
        left, reasons = dict(rows), {}
        for custom_id, result in read_results(output, errors, rows, self._events):
            row = rows[custom_id]
            if isinstance(result, ApiFault):
                self._events[f"fault: {result.reason}"] += 1
                said, passing = self._api.secret_free(result), result.action != "answer"
                answer = error_answer(row.key, said, passing)
                paid = row.bound if result.perhaps_paid else 0.0
                self._events["lost_calls"] += result.perhaps_paid
                self._log.append(custom_id, answer, paid, final=False)
                dollars += paid
                stop = result if result.action == "stop" else stop
                if passing:
                    reasons[custom_id] = answer.error
                    continue
            else:
                answer = read_completion(row.key, result)
                good += 1
                if custom_id not in self._log:  # it may have been logged before a kill
                    paid = self._dollars(result, row)
                    self._log.append(custom_id, answer, paid)
                    dollars += paid
            del left[custom_id]
            if packer.take(custom_id):
                yield answer
        self._log.sync()
        self._state.close(batch.mark)
        self._budget.settle(batch.dollars, dollars)
        self._events[f"{status}_batches"] += 1
        self._events["missing_results"] += len(left) - len(reasons)
        self._judge(batch, now, good, len(left), stop)
        # A batch that ends early costs its requests no attempt as long as something comes back.
        counted = status == "completed" or (status == "expired" and not good)
        for custom_id, row in left.items():
            if not packer.put_back(custom_id, counted):
                error = reasons.get(custom_id, "missing: in neither file of its batch")
                answer = error_answer(row.key, error, passing=True)
                self._log.append(custom_id, answer, 0.0, final=False)
                yield answer

    def _content(self, now: dict, name: str) -> bytes:
        file_id = now.get(name)
        if not file_id:
            return b""
        return self._must(f"file {file_id}", lambda: self._api.content(file_id))

    def _dollars(self, body: dict, row: Row) -> float:
        usage = read_usage(body)
        if usage is None:
            self._events["missing_usage"] += 1
            return row.bound
        dollars = self._prices.dollars(usage)
        self._events["over_bound"] += dollars > row.bound
        return dollars

    def _judge(
        self, batch: OpenBatch, now: dict, good: int, left: int, stop: ApiFault | None
    ) -> None:
        """Raise ApiStopped if the end of a batch is a reason to end the run."""
        name = f"batch {batch.batch_id}"
        if now["status"] == "failed":
            self._judge_failure(name, batch, now)
            return
        self._held_until, self._kept_out = 0.0, 0
        if stop is not None:
            raise ApiStopped(f"{name}: {self._api.secret_free(stop)}")
        if now["status"] == "cancelled":
            raise ApiStopped(
                f"{name} was cancelled, not by this run, with {left} requests left; run again to "
                "ask for them."
            )
        counts = now.get("request_counts") or {}
        failed = counts.get("failed") or 0
        if not good and failed >= self._options.stop_after_failures:
            raise ApiStopped(
                f"{name}: none of its requests got an answer and {failed} failed "
                f"(stop_after_failures); see to the cause in {self._log.path}."
            )

    def _judge_failure(self, name: str, batch: OpenBatch, now: dict) -> None:
        """Hold back for a while what a limit of enqueued tokens keeps out; stop for the rest."""
        errors = (now.get("errors") or {}).get("data") or []
        said = self._api.secret_free(
            "; ".join(f"line {e.get('line')}: {e.get('code')}, {e.get('message')}" for e in errors)
        )
        limited = any(
            e.get("code") == "token_limit_exceeded"
            or "enqueued token" in str(e.get("message")).lower()
            for e in errors
        )
        if not limited:
            raise ApiStopped(f"{name} failed: {said or 'no reason given'}; see to the cause.")
        self._kept_out += 1
        if self._kept_out > self._options.limit_waits:
            raise ApiStopped(
                f"{name} failed {self._kept_out} times in a row (limit_waits): {said}; set "
                f"enqueued_tokens below the account's limit (it had about {batch.tokens})."
            )
        polls = min(2**self._kept_out, LONGEST_HOLD)
        self._held_until = time.monotonic() + polls * self._options.poll_seconds
        log.info("%s: %s; waiting before it is sent again", name, said)
