"""What an API's faults mean, how long to wait for the next try, and what a body holds."""

import json
from collections import Counter
from urllib.parse import quote

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_openai import MODEL, answer_to, completion, error, toy_options, usage_of
from posbias.queries.api_batch_results import read_results
from posbias.queries.api_completion import BadBody, Usage, read_completion, read_usage
from posbias.queries.api_errors import (
    ApiFault,
    ApiStopped,
    fault_of,
    fault_of_status,
    one_line,
    seconds_to_wait,
)
from posbias.queries.api_options import read_options
from posbias.queries.api_retry import Patience
from posbias.queries.logged_answerer import outcome

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("status", "code", "action", "reason", "perhaps_paid"),
    [
        (400, "content_policy_violation", "answer", "content_policy_violation", False),
        (400, "context_length_exceeded", "answer", "context_length_exceeded", False),
        (400, "billing_hard_limit_reached", "stop", "quota", False),
        (401, "invalid_api_key", "stop", "authentication", False),
        (402, "insufficient_balance", "stop", "payment", False),
        (403, "unsupported_country", "stop", "permission", False),
        (404, "model_not_found", "stop", "not_found", False),
        (413, None, "answer", "status_413", False),
        (422, None, "answer", "status_422", False),
        (429, "rate_limit_exceeded", "retry", "rate_limit", False),
        (429, "insufficient_quota", "stop", "quota", False),
        (408, None, "retry", "status_408", True),
        (409, None, "retry", "status_409", False),
        (500, "server_error", "retry", "status_500", False),
        (502, None, "retry", "status_502", True),
        (503, None, "retry", "status_503", False),
        (504, None, "retry", "status_504", True),
    ],
)
def test_every_status_has_its_meaning(status, code, action, reason, perhaps_paid):
    fault = fault_of_status(status, {"code": code, "message": "m"})
    assert (fault.action, fault.reason, fault.perhaps_paid) == (action, reason, perhaps_paid)
    assert str(fault).startswith(f"{reason}: ")


def test_a_quota_is_known_by_its_type_as_well():
    assert fault_of_status(429, {"type": "insufficient_quota", "code": None}).action == "stop"


@given(st.integers(400, 599), JSON)
def test_no_error_body_is_too_strange(status, body):
    fault = fault_of_status(status, body)
    assert fault.action in ("stop", "retry", "answer")
    assert "\n" not in str(fault)
    # A colon ends the reason, so there is none within it.
    assert str(fault).split(":")[0] == fault.reason


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 70.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers, seconds):
    assert seconds_to_wait(headers, now=30.0) == seconds


def test_messages_are_short_and_keep_the_secret():
    assert one_line("a\n b\tsk-1 c", "sk-1") == "a b *** c"
    assert len(one_line("x" * 10_000)) <= 300
    assert "sk-1" not in one_line("x" * 297 + "sk-1", "sk-1")


@pytest.mark.parametrize(
    "form", [repr, lambda key: repr(key.encode()), json.dumps, quote, lambda key: f"Bearer {key}"]
)
@pytest.mark.parametrize("key", ["sk-1", "a\\b'c", "say\"it's", "p%q/r+s"])
def test_no_written_form_of_the_secret_is_told(key, form):
    told = one_line(f"header {form(key)} was bad", key)
    assert "***" in told
    assert key not in told and form(key).strip("b'\"") not in told


def test_what_was_never_sent_has_cost_nothing():
    request = httpx2.Request("POST", "http://here/v1")
    for cause, paid in (
        (httpx2.LocalProtocolError("Illegal header value b'Bearer sk-1\\n'"), False),
        (httpx2.UnsupportedProtocol("ftp"), False),
        (httpx2.ConnectError("[Errno 111] Connection refused"), False),
        (httpx2.ConnectTimeout("late"), False),
        (httpx2.PoolTimeout("none free"), False),
        (UnicodeEncodeError("ascii", "k\u201c", 1, 2, "ordinal"), False),
        (httpx2.RemoteProtocolError("gone"), True),
        (httpx2.ReadTimeout("late"), True),
        (httpx2.WriteError("half"), True),
    ):
        fault = openai.APIConnectionError(request=request)
        fault.__cause__ = cause
        found = fault_of(fault, "sk-1", "http://here:80")
        assert found.perhaps_paid == paid, cause
        assert found.action == "retry" and "sk-1" not in str(found)
        assert f"http://here:80 {type(cause).__name__}" in str(found)


def test_a_request_that_cannot_be_written_ends_the_run():
    found = fault_of(UnicodeError("label empty or too long"))
    assert (found.action, found.reason, found.perhaps_paid) == ("stop", "not_sent", False)


def test_a_code_of_the_server_does_not_tell_the_key():
    for status in (400, 401, 403, 429):
        fault = fault_of_status(status, {"code": "bad sk-1:x\ny", "message": "m"}, secret="sk-1")
        assert "sk-1" not in str(fault) and "\n" not in str(fault)


def patience(**changes) -> Patience:
    return Patience(read_options(toy_options(**changes), "here"), 3, Counter())


@given(st.integers(0, 60), st.text(max_size=5))
def test_waits_double_up_to_a_bound_and_never_fall_below_half(attempt, key):
    one = patience(first_wait_seconds=2.0, longest_wait_seconds=60.0)
    seconds = one.seconds(key, attempt, None)
    bound = min(2.0 * 2**attempt, 60.0)
    assert bound / 2 <= seconds <= bound
    assert seconds == one.seconds(key, attempt, None)  # the seed decides


@given(st.integers(0, 60), st.floats(0, 1000))
def test_nobody_comes_back_earlier_than_asked(attempt, asked):
    seconds = patience(first_wait_seconds=2.0).seconds("k", attempt, asked)
    assert asked <= seconds <= asked + 1


def test_jitter_spreads_the_threads():
    one = patience(first_wait_seconds=1.0)
    waits = sorted(one.seconds(f"key{number}", 0, None) for number in range(200))
    assert len(set(waits)) == 200
    assert waits[0] < 0.55 and waits[-1] > 0.95


def test_calls_are_tried_a_bounded_number_of_times():
    tries = []

    def fails():
        tries.append(1)
        raise ApiFault("retry", "status_500", "down")

    with pytest.raises(ApiFault, match="status_500"):
        patience(retries=3).call("x", fails)
    assert len(tries) == 4


@pytest.mark.parametrize("action", ["stop", "answer"])
def test_what_cannot_help_is_not_tried_again(action):
    tries = []

    def fails():
        tries.append(1)
        raise ApiFault(action, "x", "y")

    with pytest.raises(ApiStopped if action == "stop" else ApiFault):
        patience(retries=3).call("x", fails)
    assert len(tries) == 1


def test_a_wait_of_hours_ends_the_run_instead():
    fault = ApiFault("retry", "rate_limit", "daily limit", wait=7200.0)
    with pytest.raises(ApiStopped, match=r"wait 7200 s.*longest_wait_seconds"):
        patience().wait("k", 0, fault)


# Bodies.


def test_a_completion_is_read():
    answer = read_completion("k", completion("p"))
    assert (answer.key, answer.text, answer.finish) == ("k", answer_to("p"), "stop")
    assert (answer.refusal, answer.error, answer.model) == (None, None, MODEL)
    usage = usage_of("p")
    assert answer.input_tokens == usage["prompt_tokens"]
    assert answer.cached_tokens == usage["prompt_tokens_details"]["cached_tokens"]
    assert answer.output_tokens == usage["completion_tokens"]


@pytest.mark.parametrize(
    ("behaviour", "text", "refusal", "finish", "name"),
    [
        ("refusal", None, "I cannot help with that.", "stop", "refused"),
        ("length", '{"query": "wh', None, "length", "cut"),
        ("filter", None, None, "content_filter", "content_filter"),
        ("null_text", None, None, "error", "error: no text"),
        ("surrogate", "half �", None, "stop", "answered"),
        ("tool_calls", answer_to("p"), None, "error", "error: unknown finish_reason"),
    ],
)
def test_unusual_messages_keep_what_they_hold(behaviour, text, refusal, finish, name):
    answer = read_completion("k", completion("p", behaviour))
    assert (answer.text, answer.refusal, answer.finish) == (text, refusal, finish)
    assert outcome(answer) == name
    assert (answer.error is not None) == (finish == "error")


@pytest.mark.parametrize(
    "body",
    [None, [], "text", {}, error("x"), {"choices": []}, {"choices": None}, {"choices": [None]},
     {"choices": [{"message": None}]}, {"choices": {"0": {}}}],
)  # fmt: skip
def test_a_body_without_a_message_is_none(body):
    with pytest.raises(BadBody):
        read_completion("k", body)


@given(JSON)
def test_no_body_is_too_strange(body):
    with pytest.raises(BadBody):
        read_completion("k", body)
    assert read_usage(body) is None


@given(JSON, JSON, JSON)
def test_no_field_is_too_strange(content, refusal, finish):
    message = {"content": content, "refusal": refusal}
    answer = read_completion("k", {"choices": [{"message": message, "finish_reason": finish}]})
    for text in (answer.text, answer.refusal, answer.error):
        assert text is None or text.encode("utf-8") is not None
    assert answer.finish in ("stop", "length", "content_filter", "error")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, Usage(9, 0, 2)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None},
         Usage(9, 0, 2)),
        ({"prompt_tokens": 9, "completion_tokens": 2,
          "prompt_tokens_details": {"cached_tokens": 99}}, Usage(9, 9, 2)),
        ({"prompt_tokens": 9}, None),
        ({"prompt_tokens": -9, "completion_tokens": 2}, None),
        ({"prompt_tokens": "9", "completion_tokens": 2}, None),
        ({"prompt_tokens": True, "completion_tokens": 2}, None),
        (None, None),
    ],
)  # fmt: skip
def test_usage_is_believed_only_if_it_makes_sense(usage, expected):
    assert read_usage({"usage": usage}) == expected


# Result files of batches.


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def good(custom_id: str) -> dict:
    response = {"status_code": 200, "body": completion(custom_id)}
    return {"custom_id": custom_id, "response": response, "error": None}


def test_results_come_in_any_order_from_two_files_and_once():
    bad = {"custom_id": "b", "response": {"status_code": 400, "body": error("x")}, "error": None}
    late = {"custom_id": "c", "response": None, "error": {"code": "batch_expired", "message": "m"}}
    events = Counter()
    output = lines(good("d"), good("a"), good("a"), good("z"), {"no": "id"}, 7) + b"{torn\n\n"
    found = dict(read_results(output, lines(late, bad, good("a")), set("abcd"), events))
    assert set(found) == set("abcd")
    assert found["a"] == completion("a") and found["d"] == completion("d")
    assert (found["b"].action, found["b"].reason) == ("answer", "x")
    assert (found["c"].action, found["c"].reason) == ("retry", "unprocessed")
    assert events == {"duplicate_results": 2, "unknown_results": 1, "bad_result_lines": 3}


def test_a_separator_inside_a_text_does_not_split_a_line():
    output = json.dumps(good("a"), ensure_ascii=False).encode()
    assert "\u2028".encode() in output
    events = Counter()
    assert dict(read_results(output, b"", {"a"}, events)) == {"a": completion("a")}
    assert not events


@given(st.lists(JSON, max_size=5), st.binary(max_size=30))
def test_no_result_line_is_too_strange(records, rest):
    raw = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    assert not list(read_results(raw, rest, {"a"}, Counter()))


@given(JSON, JSON)
def test_no_result_of_ours_is_too_strange(response, fault):
    line = {"custom_id": "a", "response": response, "error": fault}
    ((_, result),) = read_results(lines(line), b"", {"a"}, Counter())
    assert isinstance(result, ApiFault)
