"""Synchronous calls against a server that misbehaves: every fault by its name."""

import logging
import time
from collections import Counter

import pytest

from api_runs import answerer, by_prompt, logged
from fake_openai import KEY, MODEL, answer_to, requests_of, usage_of
from posbias.errors import ConfigError
from posbias.queries.api_errors import ApiStopped, BudgetSpent

PROMPTS = [f"p{number}" for number in range(12)]


def test_every_request_gets_its_own_answer(server, path):
    counts = Counter()
    found = by_prompt(answerer(path, counts).answers(requests_of(*PROMPTS)))
    assert {prompt: answer.text for prompt, answer in found.items()} == {
        prompt: answer_to(prompt) for prompt in PROMPTS
    }
    assert all(answer.input_tokens == usage_of(prompt)["prompt_tokens"]
               for prompt, answer in found.items())  # fmt: skip
    assert counts == {"answered": 12, f"model: {MODEL}": 12}
    assert server.paid == Counter(PROMPTS)
    # The next run is told the same and asks nothing.
    again, calls = Counter(), sum(server.calls.values())
    assert by_prompt(answerer(path, again).answers(requests_of(*PROMPTS))) == found
    assert again == counts
    assert sum(server.calls.values()) == calls


def test_the_body_holds_what_the_options_say(server, path):
    list(answerer(path).answers(requests_of("a")))
    assert server.bodies == [{
        "model": "gpt-4o-mini",
        "messages": [{"role": "user", "content": "a"}],
        "temperature": 1.0,
        "top_p": 1.0,
        "max_completion_tokens": 1024,
    }]  # fmt: skip
    changed = {"model": "m", "temperature": 0.5, "top_p": 0.9, "max_output_tokens": 7,
               "json_object": True, "send_seed": True, "limit_parameter": "max_tokens"}  # fmt: skip
    list(answerer(path, **changed).answers(requests_of("a")))
    assert server.bodies[1] == {
        "model": "m",
        "messages": [{"role": "user", "content": "a"}],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 7,
        "response_format": {"type": "json_object"},
        "seed": 5,
    }


@pytest.mark.parametrize(
    ("change", "asked_again"),
    [
        ({"model": "gpt-4o"}, True),
        ({"temperature": 0.0}, True),
        ({"top_p": 0.5}, True),
        ({"max_output_tokens": 5}, True),
        ({"json_object": True}, True),
        ({"send_seed": True}, True),
        ({"limit_parameter": "max_tokens"}, False),
        ({"concurrency": 1, "retries": 0, "temperature": 1}, False),
        ({"mode": "batch"}, False),
    ],
)
def test_only_what_shapes_an_answer_makes_it_stale(server, path, change, asked_again):
    list(answerer(path).answers(requests_of("a")))
    second = answerer(path, **change)
    list(second.answers(requests_of("a")))
    assert server.paid["a"] == 1 + asked_again
    assert second.events["stale"] == asked_again
    assert len(logged(path)) == 1 + asked_again


def test_calls_are_made_at_once_but_not_too_many(server, path):
    server.delay = 0.05
    list(answerer(path, concurrency=3).answers(requests_of(*PROMPTS)))
    assert server.most_at_once == 3


# Faults that pass.


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("429", "rate_limit"),
        ("429:0.01", "rate_limit"),
        ("500", "status_500"),
        ("503", "status_503"),
        ("409", "status_409"),
        ("drop", "connection"),
        ("refuse_connection", "connection"),
        ("slow", "timeout"),
        ("not_json", "bad_body"),
        ("html", "bad_body"),
        ("list", "bad_body"),
        ("no_choices", "bad_body"),
    ],
)
def test_a_fault_that_passes_is_outlasted(server, path, behaviour, reason):
    server.plan["p3"] = [behaviour, behaviour]
    counts = Counter()
    one = answerer(path, counts, timeout_seconds=0.25 if behaviour == "slow" else 10.0)
    found = by_prompt(one.answers(requests_of(*PROMPTS)))
    assert found["p3"].text == answer_to("p3")
    assert counts["answered"] == 12
    assert one.events[f"fault: {reason}"] == 2
    # What a lost call may have cost is in the log: never less than what was charged.
    unpaid = behaviour in ("429", "429:0.01", "500", "503", "409")
    lines = [line for line in logged(path) if line["key"] == "doc-p3|begin"]
    assert [line["final"] for line in lines] == [True] if unpaid else [False, False, True]
    assert one.events["lost_calls"] == (0 if unpaid else 2)
    assert sum(line["dollars"] for line in logged(path)) == pytest.approx(one.log.dollars)
    assert all(line["dollars"] > 0 for line in lines)


def test_retry_after_is_honoured(server, path):
    server.plan["a"] = ["429:0.4"]
    start = time.monotonic()
    list(answerer(path).answers(requests_of("a")))
    assert time.monotonic() - start >= 0.4


def test_a_rate_limit_of_hours_ends_the_run(server, path):
    server.plan["a"] = ["429:4000"]
    with pytest.raises(ApiStopped, match=r"wait 4000 s"):
        list(answerer(path).answers(requests_of("a")))


def test_a_fault_that_stays_is_an_error_answer_and_is_asked_again_next_time(server, path):
    server.plan["p3"] = ["500"] * 4
    counts = Counter()
    found = by_prompt(answerer(path, counts).answers(requests_of(*PROMPTS)))
    assert (found["p3"].finish, found["p3"].text) == ("error", None)
    assert found["p3"].error.startswith("status_500: ")
    assert counts["answered"] == 11 and counts["error: status_500"] == 1
    found = by_prompt(answerer(path).answers(requests_of(*PROMPTS)))
    assert found["p3"].text == answer_to("p3")
    assert server.paid == Counter(PROMPTS)


def test_a_server_that_is_not_there_stops_the_run_and_costs_nothing(server, path, monkeypatch):
    monkeypatch.setenv("TOY_URL", "http://127.0.0.1:9/v1")
    one = answerer(path, retries=1, stop_after_failures=5)
    told = (
        r"\d requests in a row got no answer from http://127\.0\.0\.1:9 .*because of connection: "
        r"http://127\.0\.0\.1:9 .*Connection refused.*0 of 12 answers"
    )
    with pytest.raises(ApiStopped, match=told):
        list(one.answers(requests_of(*PROMPTS)))
    assert one.log.dollars == 0


def test_failures_in_a_row_are_counted_from_one_wave_to_the_next(server, path):
    server.always = "500"
    one = answerer(path, concurrency=1, retries=0, stop_after_failures=5)
    assert [len(list(one.answers(requests_of(*PROMPTS[at : at + 2])))) for at in (0, 2)] == [2, 2]
    with pytest.raises(ApiStopped, match="5 requests in a row"):
        list(one.answers(requests_of(*PROMPTS[4:6])))
    assert server.calls["POST /chat/completions"] == 5
    # An answer in between begins the count anew.
    server.always = "ok"
    list(one.answers(requests_of("p6")))
    server.always = "500"
    assert len(list(one.answers(requests_of(*PROMPTS[7:11])))) == 4


@pytest.mark.parametrize(
    ("behaviour", "passing"),
    [
        ("500", True),
        ("503", True),
        ("429", True),
        ("drop", True),
        ("html", True),
        ("slow", True),
        ("400:content_policy_violation", False),
        ("422", False),
        ("refusal", False),
        ("length", False),
        ("null_text", False),
    ],
)
def test_only_a_fault_that_may_pass_is_said_to(server, path, behaviour, passing):
    server.plan["a"] = [behaviour] * 9
    timeout = 0.25 if behaviour == "slow" else 10.0
    one = answerer(path, retries=1, timeout_seconds=timeout)
    (answer,) = one.answers(requests_of("a"))
    assert answer.passing == passing
    assert not any("passing" in line for line in logged(path))  # logs stay as they were


def test_too_many_failures_in_a_row_stop_the_run(server, path):
    server.always = "500"
    server.plan["p0"] = ["ok"]
    one = answerer(path, concurrency=1, retries=0, stop_after_failures=3)
    with pytest.raises(ApiStopped, match=r"3 requests in a row.*status_500.*1 of 12 answers"):
        list(one.answers(requests_of(*PROMPTS)))
    assert server.calls["POST /chat/completions"] == 4


def test_failures_with_answers_between_them_do_not(server, path):
    for prompt in PROMPTS[::2]:
        server.plan[prompt] = ["400:context_length_exceeded"]
    counts = Counter()
    one = answerer(path, counts, concurrency=1, stop_after_failures=2)
    list(one.answers(requests_of(*PROMPTS)))
    assert counts["answered"] == counts["error: context_length_exceeded"] == 6


# Faults that end the run.


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("quota", "quota: the account has no credit left"),
        ("401", r"authentication: the key was not accepted \(status 401"),
        ("402:insufficient_balance", "payment: status 402, insufficient_balance"),
        ("403:unsupported_country", "permission: status 403, unsupported_country"),
        ("404:model_not_found", "not_found: status 404, model_not_found"),
        ("400:billing_hard_limit_reached", "quota: "),
    ],
)
def test_a_fault_of_the_account_stops_at_once_and_the_next_run_goes_on(
    server, path, behaviour, message
):
    server.plan["p5"] = [behaviour]
    one = answerer(path, concurrency=1)
    with pytest.raises(ApiStopped, match=f"{message}.*5 of 12 answers are in .*goes on"):
        list(one.answers(requests_of(*PROMPTS)))
    assert server.calls["POST /chat/completions"] == 6
    assert len(by_prompt(answerer(path).answers(requests_of(*PROMPTS)))) == 12
    assert server.paid == Counter(PROMPTS)


def test_a_stop_does_not_wait_for_those_who_wait(server, path):
    server.plan["p0"] = ["429:9"]
    server.plan["p1"] = ["quota"]
    start = time.monotonic()
    with pytest.raises(ApiStopped, match="no credit left"):
        list(answerer(path).answers(requests_of(*PROMPTS)))
    assert time.monotonic() - start < 6


def test_calls_under_way_at_a_stop_are_not_lost(server, path):
    server.delay = 0.1
    server.plan["p2"] = ["quota"]
    with pytest.raises(ApiStopped):
        list(answerer(path, concurrency=12).answers(requests_of(*PROMPTS)))
    assert sum(line["final"] for line in logged(path)) == sum(server.paid.values()) == 11


def test_a_reader_that_stops_early_loses_nothing(server, path):
    answers = answerer(path).answers(requests_of(*PROMPTS))
    next(answers)
    answers.close()
    assert {line["key"] for line in logged(path)} == {
        f"doc-{prompt}|begin" for prompt in server.paid
    }
    list(answerer(path).answers(requests_of(*PROMPTS)))
    assert server.paid == Counter(PROMPTS)


# Answers that are none, or half of one.


@pytest.mark.parametrize(
    ("behaviour", "name", "final"),
    [
        ("400:content_policy_violation", "error: content_policy_violation", False),
        ("400:context_length_exceeded", "error: context_length_exceeded", False),
        ("422", "error: some_code", False),
        ("refusal", "refused", True),
        ("length", "cut", True),
        ("filter", "content_filter", True),
        ("null_text", "error: no text", True),
        ("tool_calls", "error: unknown finish_reason", True),
    ],
)
def test_one_request_without_an_answer_does_not_stop_the_rest(server, path, behaviour, name, final):
    server.plan["p3"] = [behaviour]
    counts = Counter()
    found = by_prompt(answerer(path, counts).answers(requests_of(*PROMPTS)))
    assert len(found) == 12
    assert counts["answered"] == 11 and counts[name] == 1
    # What was paid for is not asked for again.
    server.plan["p3"] = [behaviour]
    again = Counter()
    assert by_prompt(answerer(path, again).answers(requests_of(*PROMPTS))) == found
    assert again == counts
    assert server.calls["POST /chat/completions"] == (12 if final else 13)
    assert server.paid["p3"] == final


def test_an_answer_without_usage_counts_at_its_most(server, path):
    server.plan["p3"] = ["no_usage"]
    one = answerer(path)
    found = by_prompt(one.answers(requests_of(*PROMPTS)))
    assert found["p3"].text == answer_to("p3") and found["p3"].input_tokens == 0
    assert one.events["missing_usage"] == 1
    (line,) = (line for line in logged(path) if line["key"] == "doc-p3|begin")
    assert line["dollars"] == pytest.approx((2 + 16) * 0.15e-6 + 1024 * 0.6e-6)


def test_dollars_follow_the_usage(server, path):
    server.usage["a"] = {"prompt_tokens": 15, "completion_tokens": 100,
                         "prompt_tokens_details": {"cached_tokens": 10}}  # fmt: skip
    one = answerer(path)
    list(one.answers(requests_of("a")))
    assert one.log.dollars == pytest.approx(5 * 0.15e-6 + 10 * 0.075e-6 + 100 * 0.6e-6)
    assert not one.events["over_bound"]


def test_more_tokens_than_should_be_possible_are_counted(server, path):
    server.usage["a"] = {"prompt_tokens": 1000, "completion_tokens": 5000}
    one = answerer(path)
    list(one.answers(requests_of("a")))
    assert one.events["over_bound"] == 1
    assert one.log.dollars == pytest.approx(1000 * 0.15e-6 + 5000 * 0.6e-6)


# The cap.


def test_the_cap_stops_before_the_call_and_a_higher_one_goes_on(server, path):
    for prompt in PROMPTS:
        server.usage[prompt] = {"prompt_tokens": 18, "completion_tokens": 10}
    costs = {
        "input_price": 0.0,
        "cached_input_price": 0.0,
        "output_price": 1e6,
        "max_output_tokens": 10,
    }  # $1 a token, fmt: skip
    with pytest.raises(BudgetSpent, match=r"\$50.*of \$55.*5 of 12 answers.*goes on"):
        list(answerer(path, cap_dollars=55, **costs).answers(requests_of(*PROMPTS)))
    assert sum(server.paid.values()) == 5
    # What the log has cost counts in the next run.
    with pytest.raises(BudgetSpent, match=r"\$50.*of \$59.9"):
        list(answerer(path, cap_dollars=59.9, **costs).answers(requests_of(*PROMPTS)))
    assert sum(server.paid.values()) == 5
    assert len(list(answerer(path, cap_dollars=120, **costs).answers(requests_of(*PROMPTS)))) == 12
    assert server.paid == Counter(PROMPTS)


def test_answers_in_the_log_are_free_under_any_cap(server, path):
    list(answerer(path).answers(requests_of(*PROMPTS)))
    found = list(answerer(path, cap_dollars=0).answers(requests_of(*PROMPTS)))
    assert len(found) == 12


def test_a_dry_run_says_what_it_would_cost_and_asks_nothing(server, path, monkeypatch, caplog):
    list(answerer(path).answers(requests_of("p0", "p1")))
    calls = sum(server.calls.values())
    monkeypatch.delenv("TOY_KEY")
    with caplog.at_level(logging.INFO):
        one = answerer(path, dry_run=True)
        with pytest.raises(ApiStopped, match=r"dry_run: 10 calls, about .*\$.*nothing was asked"):
            list(one.answers(requests_of(*PROMPTS)))
    assert any("10 calls, about" in line for line in caplog.messages)
    assert sum(server.calls.values()) == calls


# The key.


@pytest.mark.parametrize(
    "behaviour", ["ok", "echo_key", "401", "403", "429:4000", "500", "html", "drop", "quota"]
)
def test_the_key_is_nowhere(server, tmp_path, path, behaviour, caplog, capfd):
    server.always = behaviour
    text = ""
    with caplog.at_level(logging.DEBUG):
        try:
            list(answerer(path, retries=1, stop_after_failures=3).answers(requests_of(*PROMPTS)))
        except ApiStopped as stop:
            text = repr(stop) + str(stop.__cause__) + str(stop.__cause__.__context__)
    assert any(headers["authorization"] == f"Bearer {KEY}" for headers in server.headers)
    text += caplog.text + "".join(capfd.readouterr())
    for file in tmp_path.rglob("*"):
        text += file.read_text("utf-8") if file.is_file() else file.name
    assert KEY not in text


def test_a_wrong_key_is_not_repeated_by_way_of_the_servers_words(server, path, monkeypatch):
    monkeypatch.setenv("TOY_KEY", "sk-wrong-1234567890")
    with pytest.raises(ApiStopped, match="key was not accepted") as stop:
        list(answerer(path).answers(requests_of("a")))
    assert "1234567890" not in str(stop.value)
    assert not server.paid


def test_without_a_key_the_variable_is_named(server, path, monkeypatch):
    monkeypatch.setenv("TOY_KEY", " ")
    with pytest.raises(ConfigError, match=r"queries.options.key_variable: .* TOY_KEY is not set"):
        answerer(path)


def test_without_an_address_nothing_is_sent_elsewhere(path, monkeypatch):
    monkeypatch.setenv("TOY_KEY", KEY)
    monkeypatch.delenv("TOY_URL", raising=False)
    with pytest.raises(ConfigError, match=r"base_url_variable: .* TOY_URL holds ''"):
        answerer(path)
