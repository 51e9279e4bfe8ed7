"""Runs of the batch endpoint that end at the worst moment: the next one pays for nothing twice.

`Killed` is caught nowhere in the library, so that what it leaves is what a kill would leave.
"""

from collections import Counter

import pytest

from api_runs import ALL, PROMPTS, REQUESTS, batch_answerer, logged, texts
from fake_openai import MODEL, requests_of, toy_options
from posbias.errors import DataError
from posbias.queries import api_batch
from posbias.queries.api_answerer import make_api_answerer
from posbias.queries.api_batch_state import BatchState, Row
from posbias.queries.api_client import ChatApi
from posbias.queries.api_errors import ApiStopped


class Killed(BaseException):
    pass


def killing(function, before: bool, number: int):
    """Let the process die before or after the `number`-th call of a function."""
    calls = []

    def wrapped(*arguments, **named):
        calls.append(1)
        if len(calls) == number and before:
            raise Killed
        result = function(*arguments, **named)
        if len(calls) == number:
            raise Killed
        return result

    return wrapped


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (ChatApi, "upload"),
        (ChatApi, "create_batch"),
        (ChatApi, "batch"),
        (ChatApi, "content"),
        (BatchState, "add"),
        (BatchState, "created"),
        (BatchState, "close"),
        (BatchState, "_write"),
        (api_batch.AnswerLog, "append"),
        (api_batch.AnswerLog, "sync"),
    ],
)
def test_no_kill_pays_twice(server, path, monkeypatch, owner, name, number, before):
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, killing(getattr(owner, name), before, number))
        one = batch_answerer(path)
        with pytest.raises(Killed):
            list(one.answers(REQUESTS))
    counts = Counter()
    assert texts(batch_answerer(path, counts).answers(REQUESTS)) == ALL
    assert counts == {"answered": 10, f"model: {MODEL}": 10}
    assert server.bill() == Counter(PROMPTS)
    assert len(logged(path)) == 10
    # Nothing is left behind but the answers.
    assert [file.name for file in path.with_name("answers.jsonl.batches").iterdir()] == [
        "state.json"
    ]


def test_a_lost_batch_is_found_behind_those_of_others(server, path, monkeypatch):
    for number in range(3):
        server.new_batch({"endpoint": "e", "completion_window": "24h", "input_file_id": "x",
                          "metadata": {"of": "others"} if number else None})  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(ChatApi, "create_batch", killing(ChatApi.create_batch, False, 1))
        with pytest.raises(Killed):
            list(batch_answerer(path).answers(REQUESTS))
    for _ in range(5):
        server.new_batch({"endpoint": "e", "completion_window": "24h", "input_file_id": "x"})
    one = batch_answerer(path)
    assert texts(one.answers(REQUESTS)) == ALL
    assert one.events["batches_found_again"] == 1
    assert server.calls["GET /batches"] > 1  # its list came in pages


def test_answers_of_requests_that_are_no_longer_wanted_are_kept(server, path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(ChatApi, "batch", killing(ChatApi.batch, True, 1))
        with pytest.raises(Killed):
            list(batch_answerer(path).answers(REQUESTS))
    assert set(texts(batch_answerer(path).answers(REQUESTS[:1]))) == {"p0"}
    list(batch_answerer(path).answers(requests_of("other")))
    assert texts(batch_answerer(path).answers(REQUESTS)) == ALL
    assert server.bill() == Counter([*PROMPTS, "other"])


def test_sync_calls_are_refused_while_batches_are_under_way(server, path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(ChatApi, "batch", killing(ChatApi.batch, True, 1))
        with pytest.raises(Killed):
            list(batch_answerer(path).answers(REQUESTS))
    with pytest.raises(ApiStopped, match=r"2 batches are under way.*mode to batch"):
        list(make_api_answerer(toy_options(), path, 5, Counter()).answers(REQUESTS))
    assert not server.paid


@pytest.mark.parametrize("text", ["{", "{}", '{"made": 1, "open": [{}]}', '{"made": 1, "open": 3}'])
def test_damaged_notes_are_named(server, path, text):
    state = BatchState(path)
    state.add([Row("c", "k", 0.1)], 5, 1.0)
    (state.folder / "state.json").write_text(text)
    with pytest.raises(DataError, match=r"state\.json"):
        list(batch_answerer(path).answers(REQUESTS))
    assert not server.batches
