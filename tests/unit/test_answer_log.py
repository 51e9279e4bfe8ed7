"""The log of paid answers: what a kill, a full disk, a second run or a hand can do to it."""

import errno
import fcntl
import functools
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posbias.errors import DataError, PosbiasError
from posbias.locks import LockedError
from posbias.logs import Heartbeat
from posbias.queries import answer_log
from posbias.queries.answer_log import AnswerLog, fingerprint
from posbias.queries.chat import ChatAnswer, ChatRequest
from posbias.queries.logged_answerer import LoggedAnswerer, Unpaid, outcome

SETTINGS = {"model": "m", "temperature": 1.0}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def request(key: str, prompt: str = "p") -> ChatRequest:
    return ChatRequest(key, prompt)


def answer(key: str, text: str | None = "t", finish: str = "stop") -> ChatAnswer:
    return ChatAnswer(key, text, None, finish, 3, 1, 2, "m-1", None)


def mark(key: str, prompt: str = "p") -> str:
    return fingerprint(SETTINGS, request(key, prompt))


def fill(path, *keys: str, dollars: float = 0.25) -> list[bytes]:
    with AnswerLog(path) as log:
        for key in keys:
            log.append(mark(key), answer(key), dollars)
    return path.read_bytes().splitlines(keepends=True)


class Echo:
    """A model that answers with the prompt and counts how often each key is asked."""

    name = "echo"

    def __init__(self) -> None:
        self.asked: Counter = Counter()

    def answers(self, requests):
        for request in requests:
            self.asked[request.key] += 1
            yield answer(request.key, request.prompt)


@settings(max_examples=40)
@given(st.dictionaries(TEXT, TEXT, max_size=8))
def test_answers_come_back_as_they_were(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("log") / "answers.jsonl"
    with AnswerLog(path) as log:
        for key, text in texts.items():
            log.append(mark(key), answer(key, text), 0.5)
            assert log.find(mark(key)) == answer(key, text)  # in the same run
    with AnswerLog(path) as log:
        assert {key: log.find(mark(key)).text for key in texts} == texts
        assert log.dollars == 0.5 * len(texts)
    assert path.read_bytes().count(b"\n") == len(texts)


@given(TEXT, TEXT, TEXT, TEXT)
def test_fingerprints_tell_keys_and_prompts_apart(key, prompt, other_key, other_prompt):
    same = (key, prompt) == (other_key, other_prompt)
    assert (mark(key, prompt) == mark(other_key, other_prompt)) == same
    # What stands at a border cannot wander to the other side of it.
    assert mark(key + "x", prompt) != mark(key, "x" + prompt)


def test_fingerprints_depend_on_every_setting():
    marks = {
        fingerprint(changed, request("k"))
        for changed in (
            SETTINGS,
            {**SETTINGS, "model": "n"},
            {**SETTINGS, "temperature": 0.0},
            {**SETTINGS, "seed": None},
        )
    }
    assert len(marks) == 4
    assert fingerprint(dict(reversed(SETTINGS.items())), request("k")) == mark("k")


def test_text_that_cannot_be_sent_is_named():
    with pytest.raises(DataError, match=r"request 'k': .*surrogates"):
        mark("k", "half \ud83d")


def test_a_kill_can_tear_the_last_line_anywhere(tmp_path, caplog):
    path = tmp_path / "answers.jsonl"
    lines = fill(path, "a", "b", "c")
    length = len(lines[2])
    for cut in {*range(0, length, 11), 1, length - 2, length - 1, length}:
        path.write_bytes(lines[0] + lines[1] + lines[2][:cut])
        with AnswerLog(path) as log:
            whole = cut >= len(lines[2]) - 1  # only the line end is missing
            assert log.torn == (0 < cut < len(lines[2]) - 1)
            assert (mark("a") in log, mark("b") in log, mark("c") in log) == (True, True, whole)
            assert log.dollars == (0.75 if whole else 0.5)
            log.append(mark("d"), answer("d"), 0.0)
        with AnswerLog(path) as log:  # what was added after the cut stands on a line of its own
            assert mark("d") in log and log.torn == 0
        assert path.read_bytes().count(b"\n") == 3 + whole
    assert "cut an unfinished last line" in caplog.text


@pytest.mark.parametrize(
    "broken",
    [b"\x00" * 20, b"not json", b"[1]", b'{"key": "b"}', b'"text"', b"", b'{"a": "\xff"}'],
    ids=["zeros", "text", "list", "fields", "string", "empty", "not utf-8"],
)
def test_a_broken_line_in_the_middle_is_named(tmp_path, broken):
    path = tmp_path / "answers.jsonl"
    lines = fill(path, "a", "b", "c")
    path.write_bytes(lines[0] + broken + b"\n" + lines[2])
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"answers.jsonl, line 2: not an answer.*delete"):
        AnswerLog(path).__enter__()
    assert path.read_bytes() == before
    path.write_bytes(lines[0] + lines[2])  # the remedy works, and the lock was given back
    with AnswerLog(path) as log:
        assert mark("c") in log


@pytest.mark.parametrize(
    ("field", "value"), [("fingerprint", "xyz"), ("dollars", "much"), ("fingerprint", 7)]
)
def test_a_field_of_the_wrong_kind_is_named(tmp_path, field, value):
    path = tmp_path / "answers.jsonl"
    lines = fill(path, "a", "b")
    path.write_text(json.dumps({**json.loads(lines[0]), field: value}) + "\n" + lines[1].decode())
    with pytest.raises(DataError, match="line 1: not an answer"), AnswerLog(path):
        pass


def test_a_second_run_is_told_which_process_holds_the_log(tmp_path):
    path = tmp_path / "answers.jsonl"
    with AnswerLog(path):
        with pytest.raises(LockedError, match=rf"answers.jsonl: .*process {os.getpid()}\b"):
            AnswerLog(path).__enter__()
        # An answerer on the same log fails in the same way, and asks nothing.
        echo = Echo()
        second = LoggedAnswerer(Unpaid(echo, SETTINGS), path, Counter())
        with pytest.raises(LockedError):
            list(second.answers([request("a")]))
        assert not echo.asked
    with AnswerLog(path):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path, scripts):
    path = tmp_path / "answers.jsonl"
    code = (
        "import sys, time\nfrom posbias.queries.answer_log import AnswerLog\n"
        "AnswerLog(sys.argv[1]).__enter__(); print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, path], cwd=scripts, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"held\n"
    with pytest.raises(LockedError, match=f"process {process.pid}"):
        AnswerLog(path).__enter__()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with AnswerLog(path):
        pass


def test_a_file_system_without_locks_is_refused(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(PosbiasError, match=r"no locks.*another disk"), AnswerLog(tmp_path / "a"):
        pass


@pytest.mark.parametrize("written", [0, 10])
def test_a_full_disk_leaves_whole_lines(tmp_path, monkeypatch, written):
    path = tmp_path / "answers.jsonl"
    write, tries = os.write, []

    def full(descriptor, raw):
        tries.append(raw)
        if written and len(tries) == 1:
            return write(descriptor, raw[:written])
        raise OSError(errno.ENOSPC, "full")

    with AnswerLog(path) as log:
        log.append(mark("a"), answer("a"), 0.5)
        with monkeypatch.context() as patch:
            patch.setattr(answer_log.os, "write", full)
            with pytest.raises(PosbiasError, match="no space left"):
                log.append(mark("b"), answer("b"), 0.5)
        assert mark("b") not in log and log.dollars == 0.5
        log.append(mark("c"), answer("c"), 0.5)
        assert log.find(mark("c")) == answer("c")
    with AnswerLog(path) as log:
        assert (mark("a") in log, mark("b") in log, mark("c") in log) == (True, False, True)
        assert log.torn == 0


def test_short_writes_are_completed(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(answer_log.os, "write", lambda d, raw: write(d, raw[:7]))
    fill(tmp_path / "a", "a", "b")
    with AnswerLog(tmp_path / "a") as log:
        assert log.find(mark("b")) == answer("b")


def test_threads_do_not_mix_their_lines(tmp_path):
    path = tmp_path / "answers.jsonl"
    with AnswerLog(path) as log:

        def add(name: str) -> None:
            for number in range(50):
                key = f"{name}{number}"
                log.append(mark(key), answer(key, "x" * (number * 37)), 1.0)
                assert log.find(mark(key)).text == "x" * (number * 37)

        threads = [threading.Thread(target=add, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert log.dollars == 200
    with AnswerLog(path) as log:
        assert all(mark(f"{name}{number}") in log for name in "abcd" for number in range(50))


def test_an_open_log_sees_what_others_added_while_it_was_closed(tmp_path):
    path = tmp_path / "answers.jsonl"
    log = AnswerLog(path)
    with log:
        log.append(mark("a"), answer("a"), 1.0)
    fill(path, "b", dollars=2.0)
    with log:
        assert mark("b") in log and log.dollars == 3.0
    path.write_bytes(b"")  # and when its file was emptied
    with log:
        assert mark("a") not in log and log.dollars == 0.0


def test_what_is_not_final_costs_but_answers_nothing(tmp_path):
    path = tmp_path / "answers.jsonl"
    with AnswerLog(path) as log:
        log.append(mark("a"), answer("a", None, "error"), 0.5, final=False)
    with AnswerLog(path) as log:
        assert mark("a") not in log and log.find(mark("a")) is None
        assert log.dollars == 0.5 and not log.knows("a")


# The answerer around the log.


@settings(max_examples=40)
@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.integers(0, 8))
def test_a_stopped_run_and_the_next_ask_each_key_once(tmp_path_factory, keys, stop):
    path = tmp_path_factory.mktemp("log") / "answers.jsonl"
    requests, echo = [request(key, f"prompt {key}") for key in keys], Echo()
    first = LoggedAnswerer(Unpaid(echo, SETTINGS), path, Counter()).answers(requests)
    for _ in zip(range(stop), first, strict=False):
        pass
    first.close()
    counts = Counter()
    again = LoggedAnswerer(Unpaid(echo, SETTINGS), path, counts)
    answers = list(again.answers(requests))
    assert {a.key: a.text for a in answers} == {r.key: r.prompt for r in requests}
    assert len(answers) == len(keys)
    assert echo.asked == Counter(keys)
    assert counts["answered"] == len(keys)


def test_an_answer_to_another_prompt_or_of_another_model_is_not_taken(tmp_path):
    path, echo = tmp_path / "answers.jsonl", Echo()
    list(LoggedAnswerer(Unpaid(echo, SETTINGS), path, Counter()).answers([request("a", "old")]))
    changed = [
        (SETTINGS, "new"),
        ({**SETTINGS, "temperature": 0.5}, "old"),
        ({**SETTINGS, "model": "n"}, "old"),
    ]
    for number, (model, prompt) in enumerate(changed, start=2):
        answerer = LoggedAnswerer(Unpaid(echo, model), path, Counter())
        (found,) = answerer.answers(
            [
                request("a", prompt),
            ]
        )
        assert found.text == prompt
        assert echo.asked["a"] == number
        assert answerer.events["stale"] == 1
    assert path.read_bytes().count(b"\n") == 4  # nothing is deleted
    answerer = LoggedAnswerer(Unpaid(echo, SETTINGS), path, Counter())
    (found,) = answerer.answers([request("a", "old")])
    assert (found.text, echo.asked["a"], answerer.events["stale"]) == ("old", 4, 0)


def test_a_key_that_comes_twice_is_an_error(tmp_path):
    answerer = LoggedAnswerer(Unpaid(Echo(), SETTINGS), tmp_path / "a", Counter())
    with pytest.raises(DataError, match="'a' comes twice"):
        list(answerer.answers([request("a", "x"), request("b"), request("a", "y")]))


def test_requests_may_be_made_one_by_one(tmp_path):
    """A sequence that builds its prompts when it is asked for them is never held as a whole."""

    class Lazy:
        made = 0

        def __len__(self):
            return 40

        def __getitem__(self, index):
            if index >= 40:
                raise IndexError
            Lazy.made += 1
            return request(f"k{index}")

    counts = Counter()
    answers = LoggedAnswerer(Unpaid(Echo(), SETTINGS), tmp_path / "a", counts).answers(Lazy())
    assert sum(1 for _ in answers) == counts["answered"] == 40
    assert Lazy.made <= 3 * 40


def test_outcomes_are_counted_by_reason(tmp_path):
    kinds = {
        "answered": answer("a"),
        "cut": answer("b", "{", "length"),
        "content_filter": answer("c", None, "content_filter"),
        "refused": replace(answer("d", None), refusal="no"),
        "error: timeout": replace(answer("e", None, "error"), error="timeout: after 3 s: x"),
    }
    assert {name: outcome(kind) for name, kind in kinds.items()} == {name: name for name in kinds}

    class Mixed:
        name = "mixed"

        def answers(self, requests):
            return iter(kinds.values())

    requests = [request(key) for key in "abcde"]
    first, second = Counter(), Counter()
    list(LoggedAnswerer(Unpaid(Mixed(), SETTINGS), tmp_path / "a", first).answers(requests))
    assert first == Counter({**dict.fromkeys(kinds, 1), "model: m-1": 5})

    class OnlyE(Mixed):
        def answers(self, requests):
            assert [r.key for r in requests] == ["e"]  # a fault is asked again, the rest is not
            return iter([kinds["error: timeout"]])

    list(LoggedAnswerer(Unpaid(OnlyE(), SETTINGS), tmp_path / "a", second).answers(requests))
    assert second == first


def test_the_heartbeat_tells_dollars_and_eta(tmp_path, caplog, monkeypatch):
    often = functools.partial(Heartbeat, every=0.0)
    monkeypatch.setattr("posbias.queries.logged_answerer.Heartbeat", often)
    with caplog.at_level(logging.INFO):
        heart = LoggedAnswerer(Unpaid(Echo(), SETTINGS), tmp_path / "a", Counter())
        list(heart.answers([request("a"), request("b")]))
    beats = [line for line in caplog.messages if "eta" in line]
    assert beats[0].startswith("answers of echo 1/2 $0.00 spent eta 0:")
