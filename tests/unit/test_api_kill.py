"""Real processes killed by SIGKILL at random moments, and a server that counts what it is paid."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter

import pytest

from fake_openai import KEY, FakeOpenAI, answer_to, requests_of, toy_options

PROMPTS = [f"prompt {number}" for number in range(60)]
CONCURRENCY = 4
RUN = """
import json, sys
from collections import Counter
from pathlib import Path
from posbias.queries.api_answerer import make_api_answerer
from posbias.queries.chat import ChatRequest
options, log, requests = json.loads(sys.argv[1])
answerer = make_api_answerer(options, Path(log), 1, Counter())
print(json.dumps({a.key: a.text for a in answerer.answers([ChatRequest(*r) for r in requests])}))
"""


@pytest.fixture
def server():
    with FakeOpenAI() as fake:
        yield fake


def start(server, scripts, path, **changes) -> subprocess.Popen:
    requests = [[request.key, request.prompt] for request in requests_of(*PROMPTS)]
    options = toy_options(concurrency=CONCURRENCY, **changes)
    return subprocess.Popen(
        [sys.executable, "-c", RUN, json.dumps([options, str(path), requests])],
        cwd=scripts,
        env={**os.environ, "TOY_KEY": KEY, "TOY_URL": server.url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_when(server, process, event: threading.Event) -> None:
    assert event.wait(60)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.communicate()


def finished(process) -> dict:
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    return json.loads(printed)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_kills_cost_at_most_the_calls_under_way(server, scripts, tmp_path, seed):
    path, chance = tmp_path / "answers.jsonl", random.Random(seed)
    server.delay, kills, states = 0.01, 3, []
    for _ in range(kills):
        due = sum(server.paid.values()) + chance.randint(1, 14)
        reached = threading.Event()
        server.on_paid = lambda due=due, reached=reached: (
            reached.set() if sum(server.paid.values()) >= due else None
        )
        kill_when(server, start(server, scripts, path), reached)
        # Whoever has an answer in the log, even in a last line without its end, is done.
        lines = path.read_text("utf-8").split("\n") if path.exists() else []
        states.append(({line["key"] for line in map(whole, lines) if line}, +server.paid))
    server.on_paid = lambda: None
    assert finished(start(server, scripts, path)) == {
        request.key: answer_to(request.prompt) for request in requests_of(*PROMPTS)
    }
    total = sum(server.paid.values())
    assert len(PROMPTS) <= total <= len(PROMPTS) + kills * CONCURRENCY
    for done, paid in states:
        for request in requests_of(*PROMPTS):
            if request.key in done:
                assert server.paid[request.prompt] == paid[request.prompt]
    assert states[-1][0]
    # And again: all there, nothing paid.
    assert len(finished(start(server, scripts, path))) == len(PROMPTS)
    assert sum(server.paid.values()) == total


def whole(line: str) -> dict | None:
    try:
        return json.loads(line)
    except ValueError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_batch_runs_pay_once(server, scripts, tmp_path, seed):
    path, chance = tmp_path / "answers.jsonl", random.Random(seed)
    changes = {"mode": "batch", "batch_requests": 7, "batches_at_once": 3, "poll_seconds": 0.02}
    for _ in range(4):
        before = sum(server.calls.values())
        process = start(server, scripts, path, **changes)
        due, reached = before + chance.randint(1, 25), threading.Event()

        def watch(due=due, reached=reached, process=process) -> None:
            while process.poll() is None and sum(server.calls.values()) < due:
                reached.wait(0.001)
            reached.set()

        threading.Thread(target=watch, daemon=True).start()
        assert reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert finished(start(server, scripts, path, **changes)) == {
        request.key: answer_to(request.prompt) for request in requests_of(*PROMPTS)
    }
    assert server.bill() == Counter(PROMPTS)


def test_a_second_process_on_the_same_log_is_turned_away(server, scripts, tmp_path):
    path, paid, go_on = tmp_path / "answers.jsonl", threading.Event(), threading.Event()
    server.on_paid = lambda: (paid.set(), go_on.wait(60))
    first = start(server, scripts, path, timeout_seconds=60.0)
    assert paid.wait(60)
    second = start(server, scripts, path)
    _, said = second.communicate(timeout=60)
    go_on.set()
    assert second.returncode != 0
    assert f"another run (process {first.pid} on {socket.gethostname()}) is writing to it" in said
    assert len(finished(first)) == len(PROMPTS)
    assert server.paid == Counter(PROMPTS)
