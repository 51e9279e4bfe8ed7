"""From a config block to an answerer of a hosted model, and to what it would cost."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from posbias.queries.answer_log import AnswerLog
from posbias.queries.api_batch import BatchAsker
from posbias.queries.api_budget import Estimate, estimate, sizes
from posbias.queries.api_client import ChatApi
from posbias.queries.api_errors import ApiStopped
from posbias.queries.api_options import ApiOptions, read_options
from posbias.queries.api_sync import SyncAsker
from posbias.queries.chat import ChatAnswer, ChatRequest
from posbias.queries.logged_answerer import Asker, Chosen, LoggedAnswerer

log = logging.getLogger(__name__)


class _Announced:
    """An asker that says what the calls will likely cost before the first of them."""

    def __init__(self, asker: Asker, options: ApiOptions) -> None:
        self.name, self.settings, self.events = asker.name, asker.settings, asker.events
        self._asker, self._options = asker, options

    def ask(self, requests: Chosen, answer_log: AnswerLog) -> Iterator[ChatAnswer]:
        expected = estimate(len(requests), requests.characters, requests.utf8_bytes, self._options)
        cap = self._options.cap_dollars
        log.info("%s: %s; cap %s", self.name, expected, "none" if cap is None else f"${cap:,.2f}")
        if self._options.dry_run:
            raise ApiStopped(f"dry_run: {expected}; nothing was asked. Set dry_run to false.")
        yield from self._asker.ask(requests, answer_log)


class _Nobody:
    """Asks nothing: a dry run needs neither a key nor a server."""

    def __init__(self, options: ApiOptions, seed: int) -> None:
        self.name, self.settings, self.events = options.model, options.settings(seed), Counter()

    def ask(self, requests: Chosen, answer_log: AnswerLog) -> Iterator[ChatAnswer]:
        yield from ()


def make_api_answerer(
    options: dict, log: Path, seed: int, counts: Counter, place: str = "queries.options"
) -> LoggedAnswerer:
    """Build the answerer of a generator of kind openai (section 3.1.2).

    options: the config block, see ApiOptions; log: the answers, which no rule may delete; seed:
    of waits, and of the model with `send_seed`; counts: filled with outcomes by reason.
    Raises ConfigError for an unknown or wrong option, or a missing environment variable.
    """
    settled = read_options(options, place)
    asker: Asker
    if settled.dry_run:
        asker = _Nobody(settled, seed)
    else:
        api = ChatApi(settled, seed, place)
        asker = (SyncAsker if settled.mode == "sync" else BatchAsker)(api, settled, seed)
    return LoggedAnswerer(_Announced(asker, settled), log, counts)


def estimate_cost(
    requests: Iterable[ChatRequest | int], options: dict, place: str = "queries.options"
) -> Estimate:
    """Return calls, tokens and dollars of requests, or of numbers of characters; asks nothing.

    Raises ConfigError as `make_api_answerer` does, but needs no key.
    """
    return estimate(*sizes(requests), read_options(options, place))
