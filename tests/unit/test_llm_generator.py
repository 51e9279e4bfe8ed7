"""Two stages over a language model: who is asked what, what is kept, and what every loss is."""

import hashlib
import json
import re
from collections import Counter

import pytest

import estimate_queries
import fake_openai
import generate_queries
from fake_openai import KEY, MODEL, FakeOpenAI, toy_options
from posbias.corpus.segments import POSITIONS, segment_texts
from posbias.errors import ConfigError, DataError, PosbiasError
from posbias.files import read_json, read_jsonl, sha256_file, write_jsonl
from posbias.queries import generators
from posbias.queries.candidates import Candidate
from posbias.queries.chat import ChatAnswer, ChatRequest
from posbias.queries.generators import Surroundings, make_generator
from posbias.queries.llm_generator import Choice, LlmGenerator, Requests, aims_of
from posbias.queries.personas import OWN_LIST, PersonaChoices, read_personas
from posbias.queries.prompts import Setting, query_prompt, setting_prompt
from posbias.queries.query_costs import Unpriced, expected_costs

OWN = read_personas(OWN_LIST)
TEXTS = [
    "The tiger sleeps at noon. The river rises at night. The castle burns in May.",
    "A glacier moves in spring. An emperor wrote letters. A port traded in salt.",
    "Bees dance for food. Volcanoes warn the village. Pilots read the wind maps.",
]


def documents(n: int = 3) -> list[dict]:
    return [{"doc_id": f"d|{i}", "text": f"{i} {TEXTS[i % 3]}", "bin": "b"} for i in range(n)]


@pytest.fixture
def choices(tmp_path):
    """Return a function that gives each document two personas of our own list."""

    def make(n: int = 3) -> PersonaChoices:
        digest = sha256_file(OWN_LIST)
        rows = [
            {"doc_id": d["doc_id"], "personas": [i % 60, 61 - i % 60], "personas_sha256": digest}
            for i, d in enumerate(documents(n))
        ]
        write_jsonl(tmp_path / "choices.jsonl", rows)
        return PersonaChoices(tmp_path / "choices.jsonl")

    return make


def chosen(request: ChatRequest) -> dict:
    """Stage 1: the second person of the list, and a setting that depends on the key."""
    person = re.search(r"\n2\. (.*)\n", request.prompt)[1]
    return {"Character": person, "Difficulty": "phd", "Query_Length": "short"}


def asked(request: ChatRequest) -> dict:
    """Stage 2: the first words of the tagged segment, as query and as answer."""
    segment = re.search(r'<segment place="\w+">\n(.*?)\n</segment>', request.prompt, re.DOTALL)[1]
    words = segment.split()[1:4]
    return {"query": "what about " + " ".join(words), "answer": " ".join(words), "reasoning": "r"}


class FakeAnswerer:
    """Answers in the order of a hash of the keys; `replies` overrule by key."""

    name = "fake"

    def __init__(self, **replies) -> None:
        self.replies, self.asked, self.waves = replies, [], []

    def answers(self, requests):
        self.waves.append([request.key for request in requests])
        for request in sorted(requests, key=lambda r: hashlib.sha256(r.key.encode()).digest()):
            self.asked.append(request)
            stage_1 = request.key.endswith("|stage1")
            reply = self.replies.get(request.key, (chosen if stage_1 else asked)(request))
            if isinstance(reply, ChatAnswer):
                yield reply
            else:
                text = reply if isinstance(reply, str) else json.dumps(reply)
                yield ChatAnswer(request.key, text, None, "stop", 100, 40, 10, "m", None)


def run(choices, n: int = 3, answerer=None, **options):
    answerer = answerer or FakeAnswerer()
    generator = LlmGenerator(answerer, choices(n), "gpt", Counter(), **options)
    dropped = Counter()
    made = list(generator.generate(iter(documents(n)), dropped))
    return made, dropped, generator


def test_one_call_a_document_then_one_a_segment_with_what_the_first_chose(choices):
    answerer = FakeAnswerer()
    made, dropped, _ = run(choices, answerer=answerer)
    prompts = {request.key: request.prompt for request in answerer.asked}
    assert len(prompts) == len(answerer.asked) == 12
    assert not dropped
    for i, document in enumerate(documents()):
        near = [OWN[i], OWN[61 - i]]
        doc_id, text = document["doc_id"], document["text"]
        assert prompts[f"{doc_id}|stage1"] == setting_prompt(text, near)
        setting = Setting(near[1], "phd", "short")
        for position, segment in zip(POSITIONS, segment_texts(text), strict=True):
            assert prompts[f"{doc_id}|{position}"] == query_prompt(text, segment, position, setting)
    assert [(c.doc_id, c.position) for c in made] == [
        (d["doc_id"], position) for d in documents() for position in POSITIONS
    ]


def test_candidates_say_who_asks_and_where_the_answer_stands(choices):
    made, _, generator = run(choices)
    texts = {d["doc_id"]: d["text"] for d in documents()}
    for candidate in made:
        text = texts[candidate.doc_id]
        third = POSITIONS.index(candidate.position)
        cuts = [len(text) * k // 3 for k in range(4)]
        assert cuts[third] <= candidate.answer_start < candidate.answer_end <= cuts[third + 1]
        assert text[candidate.answer_start : candidate.answer_end] == candidate.answer
        assert candidate.query == f"what about {candidate.answer}"
        assert candidate.query_id == f"{candidate.doc_id}-{candidate.position}-0"
        assert (candidate.difficulty, candidate.length) == ("phd", "short")
        assert (candidate.generator, candidate.bin, candidate.reasoning) == ("gpt", "b", "r")
    assert len({c.persona for c in made}) == 3
    assert all(len({c.persona for c in made if c.doc_id == doc_id}) == 1 for doc_id in texts)
    assert generator.summary()["answer_place"]["end"] == {"in the segment": 3}


@pytest.mark.parametrize("at_once", [1, 2, 3, 50])
def test_the_number_of_documents_at_once_changes_the_waves_alone(choices, at_once):
    answerer = FakeAnswerer()
    made, dropped, generator = run(choices, 7, answerer, documents_at_once=at_once)
    whole, all_dropped, one = run(choices, 7)
    assert (made, dropped, generator.summary()) == (whole, all_dropped, one.summary())
    assert max(map(len, answerer.waves)) <= 3 * at_once
    assert sum(map(len, answerer.waves)) == 28


def test_documents_are_read_a_chunk_at_a_time(choices):
    taken = []
    stream = (taken.append(d["doc_id"]) or d for d in documents(9))
    generator = LlmGenerator(FakeAnswerer(), choices(9), "gpt", Counter(), documents_at_once=2)
    next(generator.generate(stream, Counter()))
    assert len(taken) == 2


def test_a_document_whose_choice_cannot_be_read_is_dropped_and_not_asked_about(choices):
    answerer = FakeAnswerer(
        **{
            "d|0|stage1": {**chosen_by_nobody(), "Character": "a passer-by"},
            "d|2|stage1": "I would rather not.",
        }
    )
    made, dropped, generator = run(choices, answerer=answerer)
    assert {c.doc_id for c in made} == {"d|1"}
    assert dropped == {
        "document: Character is none of those given": 1,
        "document: no JSON object": 1,
    }
    assert len(answerer.asked) == 3 + 3
    assert generator.summary()["usage"]["stage_2"]["calls"] == 3
    assert generator.summary()["personas_chosen"] == 1


def chosen_by_nobody() -> dict:
    return {"Character": "", "Difficulty": "phd", "Query_Length": "short"}


def test_every_call_ends_as_a_candidate_or_as_a_counted_loss(choices):
    failed = ChatAnswer("d|1|end", None, None, "error", 0, 0, 0, "m", "timeout")
    cut = ChatAnswer("d|1|middle", '{"query": "a', None, "length", 9, 0, 9, "m", None)
    refused = ChatAnswer("d|2|begin", None, "No.", "stop", 9, 0, 3, "m", None)
    same = {"query": "What  ABOUT tiger sleeps at", "answer": "night"}
    answerer = FakeAnswerer(
        **{"d|0|middle": same, "d|1|end": failed, "d|1|middle": cut, "d|2|begin": refused}
    )
    made, dropped, generator = run(choices, answerer=answerer)
    assert dropped == {
        "end query: the request failed (timeout)": 1,
        "middle query: cut before its object ended": 1,
        "begin query: refused": 1,
    }
    assert not generator.summary()["failed_for_passing_reasons"]
    repeated = {"query": "what about The Tiger sleeps", "answer": "castle"}
    first = asked(next(r for r in answerer.asked if r.key == "d|0|begin"))["query"]
    made, dropped, _ = run(
        choices,
        answerer=FakeAnswerer(**{"d|0|end": {**repeated, "query": first.upper()}}),
    )
    assert dropped == {"end query: repeated": 1}
    assert len(made) == 8
    # The same words about another document are another query.
    made, dropped, _ = run(choices, answerer=FakeAnswerer(**{"d|1|end": {**same, "query": first}}))
    assert len(made) == 9 and not dropped
    assert generator.summary()["finish"]["stage_2"] == {"error": 1, "length": 1, "stop": 7}


def lost(key: str, error: str = "status_503: down", passing: bool = True) -> ChatAnswer:
    return ChatAnswer(key, None, None, "error", 0, 0, 0, "", error, passing)


def test_faults_that_pass_end_the_run_once_all_others_were_tried(choices):
    faults = {
        "d|0|stage1": lost("d|0|stage1"),
        "d|1|end": lost("d|1|end", "timeout: http://here ReadTimeout"),
        "d|2|begin": lost("d|2|begin", "content_policy_violation: no", passing=False),
    }
    answerer = FakeAnswerer(**faults)
    generator = LlmGenerator(answerer, choices(4), "gpt", Counter(), documents_at_once=1)
    dropped, made = Counter(), []
    message = (
        r"gpt: 2 of 13 requests failed for passing reasons \(1 status_503, 1 timeout; the last: "
        r"timeout: http://here ReadTimeout\); run again: what was answered is in the log"
    )
    with pytest.raises(PosbiasError, match=message):
        made.extend(generator.generate(iter(documents(4)), dropped))
    # Of the documents behind the faults all was asked that can be.
    assert len(answerer.asked) == 4 + 3 * 3
    assert dropped == {
        "document: the request failed (status_503)": 1,
        "end query: the request failed (timeout)": 1,
        "begin query: the request failed (content_policy_violation)": 1,
    }


@pytest.mark.parametrize(
    ("allowed", "passes"), [(0, False), (0.24, False), (0.25, True), (1, True)]
)
def test_a_share_of_faults_may_be_let_pass_and_is_counted(choices, allowed, passes):
    faults = {key: lost(key) for key in ("d|0|begin", "d|1|middle", "d|2|end")}
    if not passes:
        with pytest.raises(PosbiasError, match=rf"3 of 12 requests .*\(now {allowed:g}\)"):
            run(choices, answerer=FakeAnswerer(**faults), allowed_failures=allowed)
        return
    made, dropped, generator = run(
        choices, answerer=FakeAnswerer(**faults), allowed_failures=allowed
    )
    assert len(made) == 6
    assert dropped == {f"{p} query: the request failed (status_503)": 1 for p in POSITIONS}
    assert generator.summary()["failed_for_passing_reasons"] == {"status_503": 3}


def test_final_faults_alone_never_end_the_run(choices):
    keys = [f"{d['doc_id']}|begin" for d in documents(3)]
    faults = {key: lost(key, "context_length_exceeded: long", passing=False) for key in keys}
    made, dropped, _ = run(choices, answerer=FakeAnswerer(**faults))
    assert len(made) == 6
    assert dropped == {"begin query: the request failed (context_length_exceeded)": 3}


@pytest.mark.parametrize("share", [-0.1, 1.01, "0.1", None, True, float("nan")])
def test_an_impossible_share_of_faults_is_refused(choices, share):
    with pytest.raises(ConfigError, match="gpt: allowed_failures must be from 0 to 1"):
        LlmGenerator(FakeAnswerer(), choices(1), "gpt", Counter(), allowed_failures=share)


def test_the_summary_adds_up_tokens_and_says_how_queries_fit(choices):
    long_query = "a b c d e f g h i j k"
    answerer = FakeAnswerer(
        **{
            "d|0|begin": {"query": long_query, "answer": "castle burns"},
            "d|0|end": {"query": "x", "answer": "The Lion"},
            "d|1|end": {"query": "x", "answer": "a PORT traded"},
        }
    )
    _, _, generator = run(choices, answerer=answerer, dollars=lambda used: used["calls"] / 4)
    summary = generator.summary()
    assert summary["usage"] == {
        "stage_1": {"calls": 3, "input_tokens": 300, "cached_tokens": 120, "output_tokens": 30,
                    "dollars": 0.75},
        "stage_2": {"calls": 9, "input_tokens": 900, "cached_tokens": 360, "output_tokens": 90,
                    "dollars": 2.25},
    }  # fmt: skip
    assert summary["length_asked"] == {"short": {"medium": 1, "short": 8}}
    assert summary["answer_place"] == {
        "begin": {"elsewhere in the document": 1, "in the segment": 2},
        "middle": {"in the segment": 3},
        "end": {
            "in the segment": 1,
            "in the segment but for case or spaces": 1,
            "nowhere in the document": 1,
        },
    }
    assert summary["without_reasoning"] == 3
    assert summary["difficulty"] == {"phd": 3}
    assert json.loads(json.dumps(summary)) == summary


def test_a_stage_that_asked_nothing_is_in_the_summary_as_well(choices):
    _, _, generator = run(choices, 1, FakeAnswerer(**{"d|0|stage1": "no"}))
    usage = generator.summary()["usage"]
    assert usage["stage_2"] == dict.fromkeys(usage["stage_1"], 0)
    assert usage["stage_1"]["calls"] == 1


@pytest.mark.parametrize("fault", ["unknown", "twice", "missing"])
def test_an_answerer_that_breaks_its_contract_is_named(choices, fault):
    class Faulty(FakeAnswerer):
        def answers(self, requests):
            found = list(super().answers(requests))
            extra = ChatAnswer("other", "{}", None, "stop", 0, 0, 0, "m", None)
            yield from {
                "unknown": [*found, extra],
                "twice": [*found, found[0]],
                "missing": found[1:],
            }[fault]

    with pytest.raises(DataError, match=r"fake: (an|no) answer to"):
        run(choices, answerer=Faulty())


def test_a_document_that_comes_twice_is_named(tmp_path):
    digest = sha256_file(OWN_LIST)
    row = {"doc_id": "d|0", "personas": [0, 1], "personas_sha256": digest}
    write_jsonl(tmp_path / "choices.jsonl", [row, row])
    personas = PersonaChoices(tmp_path / "choices.jsonl")
    generator = LlmGenerator(FakeAnswerer(), personas, "gpt", Counter())
    with pytest.raises(DataError, match=r"d\|0\|stage1: asked twice"):
        list(generator.generate(documents(1) * 2, Counter()))


def test_prompts_are_put_together_when_they_are_looked_at():
    document = documents(1)[0]
    aims = aims_of(document, Setting(OWN[0], "phd", "long"))
    requests = Requests([Choice(document, OWN[:2]), *aims])
    assert [r.key for r in requests] == [subject.key for subject in requests.subjects]
    assert requests[3] == requests[-1] == aims[2].request()
    assert requests[3] is not requests[3]


class TestScript:
    """generate_queries.py over a generator that asks."""

    @pytest.fixture
    def arguments(self, tmp_path, choices, monkeypatch):
        choices(3)
        write_jsonl(tmp_path / "documents.jsonl", documents(3))

        def fake(name, options, around, place):
            personas = around.persona_choices(place)
            return LlmGenerator(FakeAnswerer(**options), personas, name, Counter())

        monkeypatch.setitem(generators.GENERATORS, "fake", fake)
        return {
            "documents": tmp_path / "documents.jsonl",
            "candidates": tmp_path / "candidates.jsonl",
            "summary": tmp_path / "summary.json",
            "generator": "someone",
            "entry": {"kind": "fake", "options": {"d|0|begin": "no"}},
            "seed": 1,
            "answers": tmp_path / "answers",
            "personas": [tmp_path / "choices.jsonl"],
            "models": [],
            "model_names": [],
        }

    def test_files_hold_what_the_summary_says(self, arguments):
        generate_queries.main(**arguments)
        candidates = read_jsonl(arguments["candidates"])
        summary = read_json(arguments["summary"])
        assert summary["candidates"] == len(candidates) == 8
        assert summary["by_position"] == {"begin": 2, "middle": 3, "end": 3}
        assert summary["by_length"] == {"short": 8}
        assert summary["dropped"] == {"begin query: no JSON object": 1}
        assert summary["documents"] == 3
        assert summary["usage"]["stage_1"]["calls"] == 3
        assert [Candidate(**c) for c in candidates]
        assert {c["generator"] for c in candidates} == {"someone"}

    def test_where_nothing_is_made_the_reasons_are_in_the_message(self, arguments):
        arguments["entry"] = {
            "kind": "fake",
            "options": {f"{d['doc_id']}|stage1": "no" for d in documents(3)},
        }
        with pytest.raises(DataError, match=r"'someone' made no query.*no JSON object': 3"):
            generate_queries.main(**arguments)
        assert not arguments["candidates"].exists() and not arguments["summary"].exists()

    def test_a_dry_run_says_calls_tokens_and_dollars_and_leaves_nothing(self, arguments, caplog):
        arguments["entry"] = {
            "kind": "openai",
            "options": {
                "cap_dollars": 1,
                "documents_at_once": 7,
                "allowed_failures": 0.1,
                "key_variable": "NO_SUCH_KEY",
                "expected_output_tokens": 50,
            },
        }
        before = sorted(arguments["summary"].parent.iterdir())
        with caplog.at_level("INFO"):
            generate_queries.main(**arguments, dry_run=True)
        assert sorted(arguments["summary"].parent.iterdir()) == before
        lines = [r.message for r in caplog.records if r.name == "queries"]
        assert [re.search(r"(\w+): (\d+) calls.* (\d+) output tokens", line).groups()
                for line in lines] == [("stage_1", "3", "150"), ("stage_2", "9", "450"),
                                       ("all", "12", "600")]  # fmt: skip
        assert all("$" in line for line in lines)

    def test_a_dry_run_of_the_offline_generators_costs_nothing(self, arguments):
        around = Surroundings(1, {}, arguments["personas"], None)
        costs = expected_costs("own", {"kind": "local_lm", "options": {}}, around, documents)
        assert str(costs["stage_2"]).startswith("9 calls, ") and costs["all"].calls == 12
        assert costs["all"].characters == sum(costs[s].characters for s in ("stage_1", "stage_2"))
        costs = expected_costs("own", {"kind": "cloze", "options": {}}, around, documents)
        assert costs == {"all": Unpriced(0, 0)}

    def test_an_estimate_is_a_file_of_numbers(self, arguments, tmp_path):
        entry = {"kind": "openai", "options": {"cap_dollars": None, "expected_output_tokens": 50}}
        given = {name: arguments[name] for name in ("documents", "personas", "seed")}
        estimate_queries.main(**given, estimate=tmp_path / "e.json", generator="gpt", entry=entry)
        told = read_json(tmp_path / "e.json")
        assert [told[stage]["calls"] for stage in ("stage_1", "stage_2", "all")] == [3, 9, 12]
        assert told["all"]["dollars"] == pytest.approx(
            (told["all"]["input_tokens"] * 0.15 + 12 * 50 * 0.6) / 1e6
        )
        with pytest.raises(ConfigError, match="kind 'opnai' does not exist; known: cloze"):
            wrong = {**entry, "kind": "opnai"}
            estimate_queries.main(**given, estimate=tmp_path / "e.json", generator="g", entry=wrong)

    @pytest.mark.parametrize("mode", ["sync", "batch"])
    def test_a_hosted_model_is_asked_once_and_paid_once(self, arguments, mode, monkeypatch):
        def reply(prompt):
            answer = chosen if "<people>" in prompt else asked
            return json.dumps(answer(ChatRequest("", prompt)))

        monkeypatch.setattr(fake_openai, "answer_to", reply)
        options = toy_options(mode=mode, documents_at_once=2)
        arguments.update(generator="gpt", entry={"kind": "openai", "options": options})
        with FakeOpenAI() as server:
            monkeypatch.setenv("TOY_URL", server.url)
            monkeypatch.setenv("TOY_KEY", KEY)
            generate_queries.main(**arguments)
            first = [arguments[name].read_bytes() for name in ("candidates", "summary")]
            generate_queries.main(**arguments)
            assert sorted(server.paid.values()) == [1] * 12
        assert first == [arguments[name].read_bytes() for name in ("candidates", "summary")]
        summary = read_json(arguments["summary"])
        assert summary["candidates"] == 9 and not summary["dropped"]
        logged = read_jsonl(arguments["answers"] / "gpt.jsonl")
        dollars = sum(stage["dollars"] for stage in summary["usage"].values())
        assert 0 < dollars == pytest.approx(sum(record["dollars"] for record in logged))
        assert summary["outcomes"] == {"answered": 12, f"model: {MODEL}": 12}

    @pytest.fixture
    def hosted(self, arguments, monkeypatch):
        """A server that answers as the fake answerer does, and arguments that ask it."""
        replies = {}

        def reply(prompt):
            answer = chosen if "<people>" in prompt else asked
            replies.setdefault(prompt, json.dumps(answer(ChatRequest("", prompt))))
            return replies[prompt]

        monkeypatch.setattr(fake_openai, "answer_to", reply)
        arguments["generator"] = "gpt"
        with FakeOpenAI() as server:
            monkeypatch.setenv("TOY_URL", server.url)
            monkeypatch.setenv("TOY_KEY", KEY)
            yield server, arguments, replies

    @pytest.mark.parametrize("mode", ["sync", "batch"])
    def test_an_outage_leaves_no_candidates_and_heals_by_the_next_run(self, hosted, mode):
        server, arguments, replies = hosted
        options = toy_options(mode=mode, documents_at_once=2, retries=1, ask_again=0)
        arguments["entry"] = {"kind": "openai", "options": options}
        generate_queries.main(**arguments)
        whole = [arguments[name].read_bytes() for name in ("candidates", "summary")]
        asked_for = {prompt: "<people>" in prompt for prompt in replies}
        for left in ("candidates", "summary"):
            arguments[left].unlink()
        (arguments["answers"] / "gpt.jsonl").unlink()
        server.paid.clear()
        first = next(prompt for prompt, choosing in asked_for.items() if choosing)
        last = [prompt for prompt, choosing in asked_for.items() if not choosing][-1]
        for prompt in (first, last):  # as long as the outage lasts
            server.plan[prompt] = ["503"] * 2
        with pytest.raises(PosbiasError, match=r"2 of 9 requests failed .*2 status_503.*run again"):
            generate_queries.main(**arguments)
        assert not arguments["candidates"].exists() and not arguments["summary"].exists()
        assert server.paid.total() == 7
        server.plan.clear()
        server.bodies.clear()
        generate_queries.main(**arguments)
        assert [arguments[name].read_bytes() for name in ("candidates", "summary")] == whole
        assert server.paid == Counter(asked_for.keys())
        if mode == "sync":  # those that failed, and what depends on them
            assert len(server.bodies) == 2 + 3

    def test_a_dead_server_is_named_though_few_documents_are_asked_at_once(
        self, hosted, monkeypatch
    ):
        _, arguments, _ = hosted
        monkeypatch.setenv("TOY_URL", "http://127.0.0.1:9/v1")
        options = toy_options(documents_at_once=1, retries=0, stop_after_failures=3)
        arguments["entry"] = {"kind": "openai", "options": options}
        with pytest.raises(PosbiasError, match=r"3 requests in a row .*127\.0\.0\.1:9.*refused"):
            generate_queries.main(**arguments)
        # With fewer requests than that the end of the run says so.
        arguments["entry"]["options"]["stop_after_failures"] = 50
        message = r"3 of 3 requests .*3 connection.*http://127\.0\.0\.1:9 .*Connection refused"
        with pytest.raises(PosbiasError, match=message):
            generate_queries.main(**arguments)
        assert not arguments["candidates"].exists()

    def test_where_all_is_refused_the_reasons_are_told(self, hosted):
        server, arguments, _ = hosted
        server.always = "400:unsupported_parameter"
        arguments["entry"] = {"kind": "openai", "options": toy_options()}
        message = r"made no query of it.*the request failed \(unsupported_parameter\)': 3"
        with pytest.raises(DataError, match=message):
            generate_queries.main(**arguments)

    @pytest.mark.parametrize("kind", ["openai", "local_lm"])
    def test_what_a_kind_needs_is_asked_for(self, arguments, kind, tmp_path, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        options = {"openai": {"cap_dollars": 1}, "local_lm": {"model": "m"}}[kind]
        entry = {"kind": kind, "options": options}
        models = {"m": tmp_path / "m"}
        with pytest.raises(ConfigError, match=r"own\.options: .*set queries\.personas"):
            make_generator("own", entry, Surroundings(1, models, (), tmp_path / "answers"))
        with pytest.raises(ConfigError, match=r"own\.options: .*name a folder"):
            make_generator("own", entry, Surroundings(1, models, arguments["personas"], None))
        faulty = {"kind": kind, "options": {**options, "temprature": 1}}
        with pytest.raises(ConfigError, match=r"queries\.generators\.own\.options.*temprature"):
            around = Surroundings(1, models, arguments["personas"], tmp_path / "answers")
            make_generator("own", faulty, around)

    def test_a_model_that_is_not_given_is_named(self, arguments):
        around = Surroundings(1, {"a": arguments["answers"]}, arguments["personas"], None)
        entry = {"kind": "local_lm", "options": {"model": "b"}}
        with pytest.raises(ConfigError, match="model 'b' is not one of a"):
            make_generator("own", entry, around)


@pytest.mark.parametrize("at_once", [0, -1, 2.5, True, "many"])
def test_an_impossible_number_of_documents_at_once_is_refused(choices, at_once):
    with pytest.raises(ConfigError, match="documents_at_once"):
        LlmGenerator(FakeAnswerer(), choices(1), "gpt", Counter(), documents_at_once=at_once)
