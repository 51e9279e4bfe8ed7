"""A hosted judge: each answer is paid for once, through outages, caps and kills."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

import audit_queries
import fake_openai
from audit_toy import arguments, outputs, true_reply
from fake_openai import MODEL, toy_options
from posbias.corpus.segments import POSITIONS
from posbias.errors import PosbiasError
from posbias.files import read_json, read_jsonl
from posbias.queries.api_errors import ApiStopped, BudgetSpent


@pytest.fixture
def hosted(server, tmp_path, monkeypatch):
    """A server whose judge is right, and a function that returns arguments to ask it."""
    monkeypatch.setattr(fake_openai, "answer_to", true_reply)

    def given(**changes) -> dict:
        options = toy_options(max_output_tokens=64, batch_requests=25, **changes)
        return arguments(tmp_path, "gpt", {"kind": "openai", "options": options})

    return server, given


@pytest.mark.parametrize("mode", ["sync", "batch"])
def test_each_segment_is_asked_about_once_and_never_again(hosted, mode):
    server, make = hosted
    given = make(mode=mode)
    audit_queries.main(**given)
    first = outputs(given)
    assert sorted(server.paid.values()) == [1] * 60
    audit_queries.main(**given)
    assert server.paid.total() == 60 and outputs(given) == first
    summary = read_json(given["summary"])
    for row in summary["strata"]:
        assert [row[m]["mean"] for m in ("target_yes", "distractor_no", "exclusive")] == [1.0] * 3
    logged = read_jsonl(given["answers"] / "audit-gpt.jsonl")
    spent = sum(record["dollars"] for record in logged)
    assert 0 < spent == pytest.approx(summary["judging"]["usage"]["dollars"])
    assert summary["judging"]["outcomes"] == {"answered": 60, f"model: {MODEL}": 60}
    assert summary["judged_by"].startswith("gpt-4o-mini, asked about each query and segment")
    assert read_jsonl(given["judgements"])[0]["reasoning"] == dict.fromkeys(
        POSITIONS, "it stands there"
    )


def test_a_larger_sample_pays_for_the_new_queries_alone(hosted):
    server, make = hosted
    audit_queries.main(**{**make(), "per_stratum": 2})
    assert server.paid.total() == 30
    audit_queries.main(**make())
    assert sorted(server.paid.values()) == [1] * 60


@pytest.mark.parametrize("mode", ["sync", "batch"])
def test_an_outage_leaves_nothing_written_and_heals_by_the_next_run(hosted, mode):
    server, make = hosted
    given = make(mode=mode, retries=1, ask_again=0)
    audit_queries.main(**given)
    whole, prompts = outputs(given), sorted(server.paid)
    for name in ("judgements", "summary"):
        given[name].unlink()
    (given["answers"] / "audit-gpt.jsonl").unlink()
    server.paid.clear()
    for prompt in prompts[:2]:
        server.plan[prompt] = ["503"] * 2
    with pytest.raises(
        PosbiasError, match=r"gpt: 2 of 60 requests failed .*2 status_503.*run again"
    ):
        audit_queries.main(**given)
    assert not given["summary"].exists() and server.paid.total() == 58
    server.plan.clear()
    audit_queries.main(**given)
    assert outputs(given) == whole and server.paid == Counter(prompts)


def test_failures_that_are_allowed_drop_their_queries(hosted):
    server, make = hosted
    given = make(retries=0, allowed_failures=0.1)
    audit_queries.main(**given)
    prompt = sorted(server.paid)[0]
    (given["answers"] / "audit-gpt.jsonl").unlink()
    server.plan[prompt] = ["503"]
    audit_queries.main(**given)
    summary = read_json(given["summary"])
    assert summary["counts"]["unreadable"] == {"the request failed (status_503)": 1}
    assert sum(summary["counts"]["dropped"].values()) == 1
    assert sum(row["n"] for row in summary["strata"]) == 19
    assert summary["judging"]["failed_for_passing_reasons"] == {"status_503": 1}


@pytest.mark.parametrize("mode", ["sync", "batch"])
def test_a_cap_holds_and_a_higher_one_goes_on(hosted, mode):
    server, make = hosted
    changes = {"mode": mode, "concurrency": 2, "batch_requests": 5, "batches_at_once": 1}
    options = make()["entry"]["options"]
    whole = make()
    audit_queries.main(**whole)
    log = whole["answers"] / "audit-gpt.jsonl"
    full = sum(record["dollars"] for record in read_jsonl(log))
    log.unlink()
    whole["summary"].unlink()
    server.paid.clear()
    cap = full / (4 if mode == "batch" else 2)  # half of what all would cost
    capped = {**whole, "entry": {"kind": "openai", "options": {**options, **changes,
                                                                  "cap_dollars": cap}}}  # fmt: skip
    with pytest.raises(BudgetSpent, match="cap_dollars"):
        audit_queries.main(**capped)
    before = server.paid.total()
    assert 0 < before < 60 and not whole["summary"].exists()
    assert sum(record["dollars"] for record in read_jsonl(log)) <= cap
    capped["entry"]["options"]["cap_dollars"] = 1.0
    audit_queries.main(**capped)
    assert sorted(server.paid.values()) == [1] * 60


def test_a_dry_run_tells_the_price_and_asks_nothing(hosted):
    server, make = hosted
    with pytest.raises(ApiStopped, match=r"dry_run: 60 calls, about [\d,]+ input and 6,000 output"):
        audit_queries.main(**make(dry_run=True))
    assert not server.calls


RUN = """
import json, sys
from pathlib import Path
import audit_queries
given = json.loads(sys.argv[1])
for name in ("documents", "candidates", "judgements", "summary", "answers"):
    given[name] = Path(given[name])
given["scores"] = [Path(path) for path in given["scores"]]
audit_queries.main(**given)
"""


def started(given, scripts) -> subprocess.Popen:
    told = json.dumps(given, default=str)
    return subprocess.Popen([sys.executable, "-c", RUN, told], cwd=scripts, env={**os.environ},
                            stderr=subprocess.PIPE, text=True)  # fmt: skip


def test_killed_runs_pay_for_no_answer_twice(hosted, scripts):
    server, make = hosted
    given, chance, kills = make(concurrency=4), random.Random(3), 2
    server.delay, states = 0.01, []
    log = given["answers"] / "audit-gpt.jsonl"
    for _ in range(kills):
        due, reached = server.paid.total() + chance.randint(5, 20), threading.Event()
        server.on_paid = lambda due=due, reached=reached: (
            reached.set() if server.paid.total() >= due else None
        )
        process = started(given, scripts)
        assert reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not given["summary"].exists()
        lines = log.read_text("utf-8").split("\n") if log.exists() else []
        states.append((len(lines) - 1, server.paid.total()))
    server.on_paid = lambda: None
    audit_queries.main(**given)
    assert 60 <= server.paid.total() <= 60 + 4 * kills  # at most the calls under way at a kill
    # Calls that were under way at the last kill may be paid after it was looked at.
    assert states[-1][0] > 0 and server.paid.total() - states[-1][1] <= 60 - states[-1][0] + 4
    first, paid = outputs(given), server.paid.total()
    audit_queries.main(**given)
    assert server.paid.total() == paid and outputs(given) == first


@pytest.mark.slow
def test_killed_batch_runs_pay_once(hosted, scripts):
    server, make = hosted
    given, chance = make(mode="batch", poll_seconds=0.02), random.Random(1)
    for _ in range(3):
        due = sum(server.calls.values()) + chance.randint(1, 8)
        process = started(given, scripts)
        while process.poll() is None and sum(server.calls.values()) < due:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    audit_queries.main(**given)
    assert sorted(server.bill().values()) == [1] * 60
