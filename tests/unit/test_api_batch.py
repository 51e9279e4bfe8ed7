"""The batch endpoint against a server that misbehaves: every fault by its name."""

import json
from collections import Counter

import pytest

from api_runs import ALL, PROMPTS, REQUESTS, batch_answerer, by_prompt, logged, texts
from fake_openai import KEY, MODEL, toy_options
from posbias.errors import ConfigError
from posbias.queries.api_answerer import make_api_answerer
from posbias.queries.api_batch_state import MARK
from posbias.queries.api_errors import ApiStopped, BudgetSpent


def test_batch_and_sync_give_the_same_answers(server, path, tmp_path):
    server.plan.update({"p1": ["refusal"], "p2": ["length"], "p3": ["filter"],
                        "p4": ["null_text"], "p5": ["400:content_policy_violation"]})  # fmt: skip
    plan = {prompt: list(behaviours) for prompt, behaviours in server.plan.items()}
    in_batches, in_sync = Counter(), Counter()
    first = set(batch_answerer(path, in_batches).answers(REQUESTS))
    assert server.paid == Counter(set(PROMPTS) - {"p5"})
    server.plan.update(plan)
    other = make_api_answerer(toy_options(), tmp_path / "sync.jsonl", 5, in_sync)
    assert set(other.answers(REQUESTS)) == first
    assert in_batches == in_sync
    assert len(first) == 10
    assert in_sync["answered"] == 5 and in_sync[f"model: {MODEL}"] == 9


def test_batches_keep_their_limits(server, path):
    list(batch_answerer(path).answers(REQUESTS))
    sizes = [len(server.prompts(batch)) for batch in server.batches.values()]
    assert sizes == [4, 4, 2]
    line = len(server.files["file-0"].split(b"\n")[0]) + 1
    second = path.with_name("bytes.jsonl")
    before = len(server.batches)
    list(batch_answerer(second, batch_bytes=3 * line + line // 2).answers(REQUESTS))
    sent = list(server.batches.values())[before:]
    assert [len(server.prompts(batch)) for batch in sent] == [3, 3, 3, 1]
    assert all(len(server.files[batch["input_file_id"]]) <= 3.5 * line for batch in sent)


def test_not_more_batches_are_under_way_than_allowed(server, path):
    most = []
    server.on_paid = lambda: most.append(
        sum(batch["status"] not in ("completed",) for batch in server.batches.values())
    )
    list(batch_answerer(path, batch_requests=1, batches_at_once=3).answers(REQUESTS))
    assert len(server.batches) == 10
    assert max(most) <= 3


def test_ids_are_short_stable_and_the_fingerprints(server, path):
    list(batch_answerer(path).answers(REQUESTS))
    ids = [json.loads(line)["custom_id"] for line in server.files["file-0"].splitlines()]
    assert all(len(custom_id) <= 64 for custom_id in ids) and len(set(ids)) == 4
    marks = {line["key"]: line["fingerprint"] for line in logged(path)}
    assert ids == [marks[request.key] for request in REQUESTS[:4]]
    marks = [batch["metadata"][MARK] for batch in server.batches.values()]
    assert len(set(marks)) == 3 and all(len(mark) <= 64 for mark in marks)


def test_a_request_that_is_too_large_is_named(server, path):
    with pytest.raises(ConfigError, match=r"batch_bytes: 50 is too small .*'doc-p0\|begin'"):
        list(batch_answerer(path, batch_bytes=50).answers(REQUESTS))
    with pytest.raises(ConfigError, match=r"enqueued_tokens: 3 is too small"):
        list(batch_answerer(path, enqueued_tokens=3).answers(REQUESTS))
    assert not server.batches


# Results that are not as they should be.


def test_results_in_any_order_and_twice_and_of_others(server, path):
    stranger = json.dumps({"custom_id": "f" * 32, "response": {"status_code": 200, "body": {}}})
    server.batch_plan = [{"duplicates": True, "more_lines": [stranger, "{torn"]}]
    one = batch_answerer(path)
    assert texts(one.answers(REQUESTS)) == ALL
    assert one.events["duplicate_results"] == 4
    assert one.events["unknown_results"] == 1
    assert one.events["bad_result_lines"] == 1
    assert len(logged(path)) == 10


@pytest.mark.parametrize("empty", [None, ""])
def test_all_results_in_the_error_file(server, path, empty):
    server.batch_plan = [{"empty_id": empty}]
    for prompt in PROMPTS[:4]:
        server.plan[prompt] = ["400:context_length_exceeded"]
    counts = Counter()
    found = texts(batch_answerer(path, counts).answers(REQUESTS))
    assert found == {**ALL, **dict.fromkeys(PROMPTS[:4])}
    assert counts["error: context_length_exceeded"] == 4


def test_missing_results_are_asked_again(server, path):
    server.plan["p2"] = ["missing"]
    one = batch_answerer(path)
    assert texts(one.answers(REQUESTS)) == ALL
    assert one.events["missing_results"] == 1
    assert len(server.batches) == 4 or len(server.prompts(server.batches["batch_2"])) == 3
    assert server.paid == Counter(PROMPTS)


def test_missing_results_are_given_up_after_a_while(server, path):
    server.plan["p2"] = ["missing"] * 3
    counts = Counter()
    one = batch_answerer(path, counts, ask_again=2)
    assert texts(one.answers(REQUESTS)) == {**ALL, "p2": None}
    assert counts["error: missing"] == 1 and one.events["missing_results"] == 3
    assert texts(batch_answerer(path).answers(REQUESTS)) == ALL  # but not for ever
    assert server.paid == Counter(PROMPTS)


def test_only_requests_that_may_fare_better_are_said_to(server, path):
    server.plan.update({"p1": ["missing"], "p2": ["500"], "p3": ["no_choices"],
                        "p4": ["400:context_length_exceeded"], "p5": ["null_text"],
                        "p6": ["refusal"]})  # fmt: skip
    found = by_prompt(batch_answerer(path, ask_again=0).answers(REQUESTS))
    passing = {prompt for prompt, answer in found.items() if answer.passing}
    assert passing == {"p1", "p2", "p3"}
    assert {p for p, answer in found.items() if answer.finish == "error"} == passing | {"p4", "p5"}


def test_both_files_empty(server, path):
    server.plan.update({prompt: ["missing"] for prompt in PROMPTS[:4]})
    one = batch_answerer(path)
    assert texts(one.answers(REQUESTS)) == ALL
    assert one.events["missing_results"] == 4


@pytest.mark.parametrize("behaviour", ["500", "429", "no_choices"])
def test_results_that_failed_for_a_time_are_asked_again(server, path, behaviour):
    server.plan["p2"] = [behaviour]
    one = batch_answerer(path)
    assert texts(one.answers(REQUESTS)) == ALL
    # A paid result without an answer counts as much as it may cost.
    assert [line["final"] for line in logged(path) if line["key"] == "doc-p2|begin"] == [
        False, True]  # fmt: skip
    assert one.events["lost_calls"] == (behaviour == "no_choices")


def test_a_batch_of_nothing_but_errors_stops_the_run(server, path):
    server.plan.update({prompt: ["400:unsupported_parameter"] for prompt in PROMPTS})
    one = batch_answerer(path, stop_after_failures=4, batches_at_once=1)
    with pytest.raises(ApiStopped, match=r"none of its requests got an answer and 4 failed"):
        list(one.answers(REQUESTS))
    assert len(server.batches) == 1
    server.plan.clear()
    assert texts(batch_answerer(path).answers(REQUESTS)) == ALL


# Ends of batches.


def test_an_expired_batch_is_used_as_far_as_it_came(server, path):
    server.batch_plan = [{"end": "expired", "processed": 2}]
    one = batch_answerer(path, ask_again=0)
    assert texts(one.answers(REQUESTS)) == ALL
    assert server.paid == Counter(PROMPTS)
    assert one.events["expired_batches"] == 1
    assert one.events["fault: unprocessed"] == 2


def test_a_batch_that_expires_untouched_is_not_sent_for_ever(server, path):
    server.batch_plan = [{"end": "expired", "processed": 0} for _ in range(9)]
    counts = Counter()
    one = batch_answerer(path, counts, ask_again=1)
    assert set(texts(one.answers(REQUESTS)).values()) == {None}
    assert counts["error: unprocessed"] == 10
    assert not server.paid


def test_a_cancelled_batch_stops_the_run_and_what_it_did_is_used(server, path):
    server.batch_plan = [{"end": "cancelled", "processed": 3}]
    with pytest.raises(ApiStopped, match=r"batch_0 was cancelled, not by this run, with 1 req"):
        list(batch_answerer(path, batches_at_once=1).answers(REQUESTS))
    assert server.paid == Counter(PROMPTS[:3])
    assert texts(batch_answerer(path).answers(REQUESTS)) == ALL
    assert server.paid == Counter(PROMPTS)


def test_a_batch_is_cancelled_at_the_server_while_a_run_polls(server, path):
    server.batch_plan = [{"statuses": ["in_progress"] * 3 + ["cancelling"], "processed": 0,
                          "end": "cancelled"}]  # fmt: skip
    with pytest.raises(ApiStopped, match="was cancelled"):
        list(batch_answerer(path, batches_at_once=1).answers(REQUESTS))


def test_a_failed_batch_stops_the_run_with_the_reason(server, path):
    server.batch_plan = [{"end": "failed", "code": "invalid_model", "message": "no such model"}]
    with pytest.raises(ApiStopped, match="batch_0 failed: line None: invalid_model, no such mod"):
        list(batch_answerer(path, batches_at_once=1).answers(REQUESTS))
    assert texts(batch_answerer(path).answers(REQUESTS)) == ALL
    assert server.paid == Counter(PROMPTS)


def test_a_limit_of_enqueued_tokens_is_waited_out(server, path):
    server.batch_plan = [{}, {"end": "failed"}, {"end": "failed"}, {"end": "failed"}]
    one = batch_answerer(path, ask_again=0)
    assert texts(one.answers(REQUESTS)) == ALL
    assert one.events["failed_batches"] == 3
    assert server.paid == Counter(PROMPTS)


def test_a_limit_of_enqueued_tokens_that_stays_stops_the_run(server, path):
    server.batch_plan = [{"end": "failed"} for _ in range(9)]
    with pytest.raises(ApiStopped, match=r"failed 3 times.*limit_waits.*enqueued_tokens below"):
        list(batch_answerer(path, limit_waits=2, batches_at_once=1).answers(REQUESTS))
    assert not server.paid


def test_our_own_limit_of_enqueued_tokens_is_kept(server, path):
    # Every prompt has about 8 tokens, so that two fit at a time.
    one = batch_answerer(path, enqueued_tokens=17)
    assert texts(one.answers(REQUESTS)) == ALL
    assert [len(server.prompts(batch)) for batch in server.batches.values()] == [2] * 5


def test_a_status_of_the_future_is_waited_for(server, path):
    server.batch_plan = [{"statuses": ["pondering", "in_progress"]}]
    assert texts(batch_answerer(path).answers(REQUESTS)) == ALL


# Faults of single calls.


@pytest.mark.parametrize(
    "call",
    ["POST /files", "POST /batches", "GET /batches/{id}", "GET /files/{id}/content"],
)
@pytest.mark.parametrize("fault", ["500", "429:0.01", "refuse_connection", "done_then_500"])
def test_faults_that_pass_cost_nothing(server, path, call, fault):
    server.faults[call] = [fault, fault]
    assert texts(batch_answerer(path).answers(REQUESTS)) == ALL
    assert server.bill() == Counter(PROMPTS)
    assert len(server.batches) == 3


@pytest.mark.parametrize(
    ("call", "fault", "message"),
    [
        ("POST /files", "quota", "upload: .*no credit left"),
        ("POST /files", "400:bad_file", "upload: bad_file"),
        ("POST /batches", "400:bad_batch", "a batch was not accepted: bad_batch"),
        ("POST /batches", "quota", "a batch was not accepted: .*no credit left"),
        ("GET /batches/{id}", "404:gone", "batch batch_0: .*not_found.*noted in .*batches"),
        ("GET /files/{id}/content", "404:gone", "file file-1: .*not_found"),
    ],
)
def test_faults_that_stay_stop_the_run_and_the_next_goes_on(server, path, call, fault, message):
    server.faults[call] = [fault]
    one = batch_answerer(path, batches_at_once=1)
    with pytest.raises(ApiStopped, match=message):
        list(one.answers(REQUESTS))
    assert texts(batch_answerer(path).answers(REQUESTS)) == ALL
    assert server.paid == Counter(PROMPTS)


def test_the_key_is_in_no_file(server, tmp_path, path, caplog):
    server.faults["POST /batches"] = ["echo_key"]
    with pytest.raises(ApiStopped) as stop:
        list(batch_answerer(path).answers(REQUESTS))
    assert "your key *** was seen" in str(stop.value)
    list(batch_answerer(path).answers(REQUESTS))
    text = caplog.text + "".join(
        file.read_text("utf-8") for file in tmp_path.rglob("*") if file.is_file()
    )
    assert KEY not in text


# The cap.


def test_batches_wait_for_each_other_under_a_tight_cap(server, path):
    one = batch_answerer(path, cap_dollars=2.3 * (1024 * 0.3e-6))
    assert texts(one.answers(REQUESTS)) == ALL
    assert all(len(server.prompts(batch)) <= 2 for batch in server.batches.values())


def test_a_cap_below_one_call_asks_nothing(server, path):
    with pytest.raises(BudgetSpent, match="0 of 10 answers"):
        list(batch_answerer(path, cap_dollars=1e-6).answers(REQUESTS))
    assert not server.batches and not server.files
