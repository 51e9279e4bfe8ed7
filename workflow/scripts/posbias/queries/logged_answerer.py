"""An answerer that first looks into the log and asks only for what it does not find there."""

import logging
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from posbias.errors import DataError
from posbias.logs import Heartbeat
from posbias.queries.answer_log import AnswerLog, fingerprint
from posbias.queries.api_errors import ApiStopped
from posbias.queries.chat import Answerer, ChatAnswer, ChatRequest

log = logging.getLogger(__name__)


class Chosen(Sequence[ChatRequest]):
    """Some of the requests, by index, without a copy; with the sizes of all their prompts.

    characters, utf8_bytes: sums over the prompts.
    """

    def __init__(self, requests: Sequence[ChatRequest]) -> None:
        self._requests, self._indices = requests, array("q")
        self.characters = self.utf8_bytes = 0

    def add(self, index: int, request: ChatRequest) -> None:
        self._indices.append(index)
        self.characters += len(request.prompt)
        self.utf8_bytes += len(request.prompt.encode("utf-8"))

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, place: int) -> ChatRequest:
        return self._requests[self._indices[place]]


class Asker(Protocol):
    """Puts requests to a model and writes each answer into the log before it yields it.

    settings: all that shapes an answer besides the prompt, a JSON value; events: what happened on
    the way (retries, lost calls), by reason.
    """

    name: str
    settings: dict
    events: Counter

    def ask(self, requests: Chosen, answer_log: AnswerLog) -> Iterator[ChatAnswer]: ...


class Unpaid:
    """Any answerer that costs nothing, such as a local model, in an asker's clothes."""

    def __init__(self, answerer: Answerer, settings: dict) -> None:
        self.name, self.settings, self.events = answerer.name, settings, Counter()
        self._answerer = answerer

    def ask(self, requests: Chosen, answer_log: AnswerLog) -> Iterator[ChatAnswer]:
        marks = {request.key: fingerprint(self.settings, request) for request in requests}
        for answer in self._answerer.answers(requests):
            answer_log.append(marks[answer.key], answer, 0.0, answer.finish != "error")
            yield answer


def outcome(answer: ChatAnswer) -> str:
    """Name what came of a request: answered, refused, cut, content_filter or error: <reason>."""
    if answer.finish == "error":
        return f"error: {answer.reason}"
    if answer.finish == "length":
        return "cut"
    if answer.finish == "content_filter":
        return "content_filter"
    return "refused" if answer.refusal is not None else "answered"


class LoggedAnswerer:
    """Answers from the log first; what is missing there is asked, logged and then yielded.

    counts: filled with the outcome of each answer (`outcome`), the same for a run in one piece and
    for one that was killed and went on; events: what happened on the way, which differs.
    """

    def __init__(self, asker: Asker, path: Path, counts: Counter) -> None:
        self.name, self.asker, self.counts = asker.name, asker, counts
        self.log = AnswerLog(path)
        self.events = asker.events

    def answers(self, requests: Sequence[ChatRequest]) -> Iterator[ChatAnswer]:
        """Yield one answer a request, in any order.

        Raises DataError for a key that comes twice, LockedError while another run writes to the
        log, and ApiStopped when going on makes no sense: what was answered stays in the log.
        """
        with self.log:
            torn = self.log.torn
            missing = Chosen(requests)
            for answer in self._logged(requests, missing):
                yield self._counted(answer)
            done = found = len(requests) - len(missing)
            self.events["from_log"] += found
            self.events["torn_lines"] = torn
            if not missing:
                return
            log.info("%s: %d of %d answers are in %s ($%.2f so far)",
                     self.name, found, len(requests), self.log.path, self.log.dollars)  # fmt: skip
            heartbeat = Heartbeat(f"answers of {self.name}", len(requests), done=found)
            try:
                for answer in self.asker.ask(missing, self.log):
                    done += 1
                    heartbeat.beat(done, f"${self.log.dollars:.2f} spent")
                    yield self._counted(answer)
            except ApiStopped as stop:
                # Answers that came in while the run was stopping are in the log as well.
                have = sum(self._mark(request) in self.log for request in missing)
                raise type(stop)(
                    f"{stop} {found + have} of {len(requests)} answers are in {self.log.path} "
                    f"(${self.log.dollars:.2f}); a new run goes on from there and pays for none "
                    "of them again."
                ) from stop
            log.info("%s: $%.4f spent in all; on the way: %s", self.name, self.log.dollars,
                     dict(sorted((+self.events).items())))  # fmt: skip

    def _mark(self, request: ChatRequest) -> str:
        return fingerprint(self.asker.settings, request)

    def _logged(self, requests: Sequence[ChatRequest], missing: Chosen) -> Iterator[ChatAnswer]:
        """Yield what the log holds and add what it does not hold to `missing`."""
        seen: set[str] = set()
        for index, request in enumerate(requests):
            if request.key in seen:
                raise DataError(f"request {request.key!r} comes twice; keys must be unique.")
            seen.add(request.key)
            answer = self.log.find(self._mark(request))
            if answer is not None:
                yield answer
                continue
            self.events["stale"] += self.log.knows(request.key)
            missing.add(index, request)

    def _counted(self, answer: ChatAnswer) -> ChatAnswer:
        self.counts[outcome(answer)] += 1
        if answer.model:
            self.counts[f"model: {answer.model}"] += 1
        return answer
