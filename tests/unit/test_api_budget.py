"""Dollars: the cap holds whatever happens, and the estimate is arithmetic."""

import json
import random
import threading
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_openai import FakeOpenAI, completion, requests_of, toy_options, usage_of
from posbias.errors import ConfigError
from posbias.queries.answer_log import AnswerLog
from posbias.queries.api_answerer import estimate_cost
from posbias.queries.api_batch import BatchAsker
from posbias.queries.api_budget import Budget, Prices
from posbias.queries.api_completion import Usage
from posbias.queries.api_errors import ApiFault, ApiStopped, BudgetSpent
from posbias.queries.api_options import read_options
from posbias.queries.api_sync import SyncAsker
from posbias.queries.chat import ChatRequest
from posbias.queries.logged_answerer import Chosen, LoggedAnswerer

PRICES = {"input_price": 2e5, "cached_input_price": 1e5, "output_price": 1e6}  # dollars a million
ALMOST = 1e-6


def options_of(**changes):
    return read_options(toy_options(**changes), "here")


# Prices, bounds, estimates.


def test_prices_are_dollars_a_million_tokens():
    million = 1_000_000
    sync, batch = Prices(options_of()), Prices(options_of(mode="batch"))
    assert sync.dollars(Usage(million, 0, 0)) == pytest.approx(0.15)
    assert sync.dollars(Usage(million, million, 0)) == pytest.approx(0.075)
    assert sync.dollars(Usage(0, 0, million)) == pytest.approx(0.60)
    # Half price, and no second discount for cached input is counted on.
    assert batch.dollars(Usage(million, million // 2, million)) == pytest.approx(0.375)


@given(st.text(max_size=50), st.booleans(), st.data())
def test_no_call_costs_more_than_its_bound(prompt, batch, data):
    options = options_of(mode="batch" if batch else "sync", max_output_tokens=50, **PRICES)
    prices = Prices(options)
    given_tokens = data.draw(st.integers(0, len(prompt.encode("utf-8", "replace")) + 16))
    cached = data.draw(st.integers(0, given_tokens))
    usage = Usage(given_tokens, cached, data.draw(st.integers(0, 50)))
    assert prices.dollars(usage) <= prices.bound(prompt) + ALMOST


def test_bounds_count_bytes_and_not_characters():
    prices = Prices(options_of())
    assert prices.input_bound("北京") == 6 + 16
    assert Prices(options_of(least_bytes_per_token=4.0)).input_bound("北京") == 2 + 16


@given(st.lists(st.text(max_size=30), max_size=10), st.sampled_from([1.0, 3.0]))
def test_the_most_of_an_estimate_bounds_the_sum_of_bounds(prompts, least):
    options = toy_options(least_bytes_per_token=least)
    found = estimate_cost([ChatRequest(str(n), p) for n, p in enumerate(prompts)], options)
    prices = Prices(read_options(options, "here"))
    assert sum(prices.bound(prompt) for prompt in prompts) <= found.dollars_at_most + ALMOST
    assert found.dollars <= found.dollars_at_most + ALMOST
    assert found.calls == len(prompts)


def test_an_estimate_is_arithmetic_and_needs_no_key(monkeypatch):
    monkeypatch.delenv("TOY_KEY", raising=False)
    options = toy_options(chars_per_token=4.0, expected_output_tokens=100)
    found = estimate_cost([4000] * 1_000_000, options)
    assert (found.calls, found.input_tokens, found.output_tokens) == (10**6, 1008 * 10**6, 10**8)
    assert found.dollars == pytest.approx(1008 * 0.15 + 100 * 0.60)
    half = estimate_cost([4000] * 1_000_000, {**options, "mode": "batch"})
    assert half.dollars == pytest.approx(found.dollars / 2)
    assert str(found).startswith("1,000,000 calls, about 1,008,000,000 input and 100,000,000")
    assert estimate_cost(requests_of("a" * 4000), options).input_tokens == 1008
    with pytest.raises(ConfigError, match="chars_per_tokens"):
        estimate_cost([1], {**options, "chars_per_tokens": 3})


# The budget.


@given(st.floats(0, 100), st.lists(st.tuples(st.floats(0, 20), st.floats(0, 1)), max_size=30))
def test_spent_and_reserved_never_pass_the_cap(cap, calls):
    budget, under_way = Budget(cap, 0.0), []
    for bound, share in calls:
        if budget.try_reserve(bound):
            under_way.append((bound, bound * share))
        elif under_way:
            budget.settle(*under_way.pop(0))
        assert budget.spent + budget.reserved <= cap + ALMOST
    for call in under_way:
        budget.settle(*call)
    assert budget.spent <= cap + ALMOST
    assert budget.reserved == pytest.approx(0, abs=ALMOST)


def test_a_call_waits_for_those_under_way_before_it_is_refused():
    budget = Budget(10.0, 0.0)
    budget.reserve(8.0)
    threading.Timer(0.05, budget.settle, (8.0, 1.0)).start()
    budget.reserve(8.0)  # fits once the first turned out cheap
    assert (budget.spent, budget.reserved) == (1.0, 8.0)
    threading.Timer(0.05, budget.settle, (8.0, 8.0)).start()
    with pytest.raises(BudgetSpent, match=r"\$9.0000 of \$10.0000.*up to \$8.0000.*raise"):
        budget.reserve(8.0)


def test_without_a_cap_nothing_is_refused():
    assert Budget(None, 1e9).try_reserve(1e9)


# The askers, without a network.


class RandomApi:
    """Charges a random part of what a call may cost, and loses some calls on the way."""

    server = "http://nowhere"

    def __init__(self, seed: int, most_output: int) -> None:
        self._random, self._lock = random.Random(seed), threading.Lock()
        self._most, self.charged = most_output, 0.0
        self.fake = FakeOpenAI()

    def _usage(self, prompt: str) -> dict:
        given_tokens = self._random.randint(0, len(prompt.encode()) + 16)
        return {"prompt_tokens": given_tokens,
                "completion_tokens": self._random.choice([0, self._most, self._most]),
                "prompt_tokens_details": {
                    "cached_tokens": self._random.randint(0, given_tokens)}}  # fmt: skip

    def complete(self, prompt: str) -> dict:
        with self._lock:
            kind = self._random.choice(["ok", "ok", "ok", "lost", "no_usage", "empty", "500"])
            if kind == "500":
                raise ApiFault("retry", "status_500", "down")
            usage = self._usage(prompt)
            sync = Prices(options_of(**PRICES))
            self.charged += sync.dollars(Usage(
                usage["prompt_tokens"], usage["prompt_tokens_details"]["cached_tokens"],
                usage["completion_tokens"]))  # fmt: skip
        if kind == "lost":
            raise ApiFault("retry", "timeout", "late", perhaps_paid=True)
        body = completion(prompt, {"no_usage": "no_usage", "empty": "no_choices"}.get(kind, "ok"))
        if kind == "ok":
            body["usage"] = usage
        return body

    # The batch endpoint, straight to the fake's files.

    def secret_free(self, message: object) -> str:
        return str(message)

    def batch_line(self, custom_id: str, prompt: str) -> bytes:
        message = {"role": "user", "content": prompt}
        line = {"custom_id": custom_id, "body": {"messages": [message]}}
        return json.dumps(line).encode() + b"\n"

    def upload(self, name: str, content: bytes) -> str:
        return self.fake.new_file(content)

    def create_batch(self, file_id: str, metadata: dict) -> str:
        body = {"endpoint": "e", "completion_window": "24h", "input_file_id": file_id,
                "metadata": metadata}  # fmt: skip
        self.fake.batch_plan = [
            {
                "statuses": [],
                "end": self._random.choice(["completed", "expired", "completed"]),
                "processed": self._random.randint(0, 4),
            }
        ]
        return self.fake.new_batch(body)["id"]

    def batch(self, batch_id: str) -> dict:
        return self.fake.advance(self.fake.batches[batch_id])

    def batches(self):
        return iter(())

    def content(self, file_id: str) -> bytes:
        return self.fake.files[file_id]


def log_of(folder, api, asker_class, options) -> LoggedAnswerer:
    return LoggedAnswerer(asker_class(api, options, 1), folder / "log.jsonl", Counter())


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(0, 400), st.integers(1, 4), st.integers(0, 12))
def test_the_cap_is_never_passed_one_call_after_the_other(
    tmp_path_factory, seed, cap, threads, number
):
    folder = tmp_path_factory.mktemp("log")
    api = RandomApi(seed, most_output=10)
    requests = requests_of(*[f"p{n}" * (1 + n % 3) for n in range(number)])
    for capped in (cap / 2, cap):  # the second run counts what the first has cost
        options = options_of(cap_dollars=capped, concurrency=threads, max_output_tokens=10,
                             first_wait_seconds=0.0, stop_after_failures=1000,
                             **PRICES)  # fmt: skip
        one = log_of(folder, api, SyncAsker, options)
        try:
            assert len(list(one.answers(requests))) == number
        except BudgetSpent as stop:
            assert f" of {number} answers are in" in str(stop)
        assert api.charged <= one.log.dollars + ALMOST
        assert one.log.dollars <= capped + ALMOST


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(0, 60), st.integers(0, 12))
def test_the_cap_is_never_passed_in_batches(tmp_path_factory, seed, cap, number):
    folder = tmp_path_factory.mktemp("log")
    api = RandomApi(seed, most_output=10)
    requests = requests_of(*[f"p{n}" for n in range(number)])
    for capped in (cap / 2, cap):
        options = options_of(cap_dollars=capped, max_output_tokens=10, mode="batch",
                             poll_seconds=0.0, **PRICES)  # fmt: skip
        one = log_of(folder, api, BatchAsker, options)
        try:
            assert len(list(one.answers(requests))) == number
        except ApiStopped as stop:
            assert isinstance(stop, BudgetSpent)
        spent = sum(
            times * Prices(options).dollars(Usage(usage_of(prompt)["prompt_tokens"], 0, 7))
            for prompt, times in api.fake.paid.items()
        )
        assert one.log.dollars == pytest.approx(spent)
        assert one.log.dollars <= capped + ALMOST


def test_batches_under_way_count_in_the_next_run(tmp_path):
    """A run ends with a batch under way; the next one may not spend the same dollars again."""
    api = RandomApi(1, most_output=10)
    options = options_of(mode="batch", max_output_tokens=10, cap_dollars=60.0, batches_at_once=1,
                         **PRICES)  # fmt: skip
    bound = Prices(options).bound("p0")
    requests = requests_of(*[f"p{n}" for n in range(12)])
    chosen = Chosen(requests)
    for index, request in enumerate(requests):
        chosen.add(index, request)
    api.batch = lambda batch_id: (_ for _ in ()).throw(ApiFault("stop", "quota", "gone"))
    with AnswerLog(tmp_path / "log.jsonl") as log, pytest.raises(ApiStopped, match="quota"):
        list(BatchAsker(api, options, 1).ask(chosen, log))
    assert len(api.fake.batches) == 1
    less = options_of(mode="batch", max_output_tokens=10, cap_dollars=4 * bound + bound / 2,
                      **PRICES)  # fmt: skip
    with AnswerLog(tmp_path / "log.jsonl") as log, pytest.raises(ApiStopped, match="quota"):
        list(BatchAsker(api, less, 1).ask(chosen, log))
    assert len(api.fake.batches) == 1
