"""Replies of a model: fences and prose are forgiven, everything else has a named reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.queries.answer_place import ALMOST, ELSEWHERE, EXACT, NOWHERE, place_of_answer
from posbias.queries.chat import ChatAnswer
from posbias.queries.prompts import DIFFICULTIES, LENGTHS, Setting
from posbias.queries.reply import UnreadableReply, read_query, read_setting

PEOPLE = ["A baker of bread.", "A pilot who flies at night.", "A 3D artist (in Łódź)."]
GOOD = {"query": "when do tigers sleep", "answer": "at noon", "reasoning": "only there"}
SETTING = {"Character": PEOPLE[1], "Difficulty": "university", "Query_Length": "medium"}


def said(
    text: str | None, finish: str = "stop", refusal: str | None = None, error: str | None = None
) -> ChatAnswer:
    return ChatAnswer("k", text, refusal, finish, 1, 0, 1, "m", error)


def reason_of(read, *arguments) -> str:
    with pytest.raises(UnreadableReply) as caught:
        read(*arguments)
    return str(caught.value)


def setting_of(**changes) -> Setting:
    return read_setting(said(json.dumps({**SETTING, **changes})), PEOPLE)


WORDS = st.text(min_size=1).filter(lambda text: any(c.isalnum() for c in text))
PROSE = st.text(alphabet=st.characters(exclude_characters="{"))


@given(WORDS, WORDS, WORDS, PROSE, PROSE, st.sampled_from(["{}", "```json\n{}\n```", "```\n{}```"]))
def test_any_reply_in_json_is_read_whatever_stands_around_it(q, a, r, before, after, frame):
    record = json.dumps({"query": q, "answer": a, "reasoning": r})
    found = read_query(said(before + frame.replace("{}", record) + after))
    assert found == tuple(" ".join(text.split()) for text in (q, a, r))


@given(st.text() | st.text(alphabet='{}[]"\\:,aquery \n'), st.sampled_from(["stop", "length"]))
def test_no_text_makes_the_reader_fail_otherwise(text, finish):
    for read in (read_query, lambda answer: read_setting(answer, PEOPLE)):
        try:
            read(said(text, finish))
        except UnreadableReply as reason:
            # Reasons are counted by name, so they must not carry the reply's own text.
            assert len(str(reason)) < 60


@given(st.integers(0, 200))
def test_a_cut_reply_is_never_half_a_query(at):
    text = "Here it is: " + json.dumps(GOOD)
    if at < len(text):
        assert reason_of(read_query, said(text[:at], "length")) in (
            "cut before its object ended",
            "empty reply",
        )
    else:
        assert read_query(said(text, "length")) == tuple(GOOD.values())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (said(None, "error"), "the request failed (unknown)"),
        (said(json.dumps(GOOD), "error", error="too_long: 9"), "the request failed (too_long)"),
        (said(None, refusal="I cannot help with that."), "refused"),
        (said("", "content_filter"), "stopped by the content filter"),
        (said(json.dumps(GOOD), "content_filter"), "stopped by the content filter"),
        (said(None), "empty reply"),
        (said(" \n"), "empty reply"),
        (said("I'm sorry, but I cannot write that."), "no JSON object"),
        (said(json.dumps([1, 2])), "no JSON object"),
        (said("{'query': 'a', 'answer': 'b'}"), "single quotes in place of JSON's"),
        (said('{"query": "a", "answer": "b",}'), "not valid JSON"),
        (said('{"query": "a\nb", "answer": "b"}'), "not valid JSON"),
        (said('{"query": NaN, "answer": "b"}'), "not valid JSON"),
        (said("{" * 20_000), "not valid JSON"),
        (said('{"a":' * 1500 + "1"), "not valid JSON"),
        (said('{"query": "a"}'), "answer is missing"),
        (said('{"answer": "a"} {}'), "query is missing"),
        (said('{"result": {"query": "a", "answer": "b"}}'), "query is missing"),
        (said('{"query": "a", "answer": 1848}'), "answer is no text"),
        (said('{"query": ["a"], "answer": "b"}'), "query is no text"),
        (said('{"query": null, "answer": "b"}'), "query is no text"),
        (said('{"query": " ", "answer": "b"}'), "query is empty"),
        (said('{"query": "...", "answer": "..."}'), "query is empty"),
        (said('{"query": "a", "answer": ""}'), "answer is empty"),
        (said('{"query": "a", "answer": "b", "reasoning": 1}'), "reasoning is no text"),
        (said('{"query": "a", "query": "c", "answer": "b"}'), "a key with two values"),
        (said('{"query": "a", "Query": "c", "answer": "b"}'), "a key with two values"),
        (said(json.dumps(GOOD) + json.dumps({**GOOD, "query": "x"})), "several different objects"),
    ],
)  # fmt: skip
def test_each_fault_has_its_reason(answer, reason):
    assert reason_of(read_query, answer) == reason


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD) * 2,
        '{"note": "first"} ' + json.dumps(GOOD),
        json.dumps({name.upper(): value for name, value in GOOD.items()}),
        json.dumps({f" {name.title()} ": value for name, value in GOOD.items()}),
        json.dumps({**GOOD, "confidence": 1}),
        "A set {of braces} first: " + json.dumps(GOOD),
    ],
)
def test_what_is_forgiven(text):
    assert read_query(said(text)) == tuple(GOOD.values())


@pytest.mark.parametrize("left", [{}, {"reasoning": None}, {"reasoning": " "}])
def test_a_query_without_a_reason_is_still_a_query(left):
    text = json.dumps({"query": "a", "answer": "b", **left})
    assert read_query(said(text)).reasoning is None


@pytest.mark.parametrize(
    "character",
    [
        "A pilot who flies at night.",
        "a pilot who  flies at night",
        "2. A pilot who flies at night.",
        "2) a pilot who flies at night",
        2,
        "2",
        "2.",
        "Persona 2",
        "#2",
    ],
)
def test_the_character_is_found_among_the_given_ones(character):
    assert setting_of(Character=character) == Setting(PEOPLE[1], "university", "medium")


@pytest.mark.parametrize(
    "character",
    [
        "A pilot",
        "A pilot who flies at night and bakes.",
        0,
        4,
        "-1",
        True,
        2.0,
        "nobody",
        "pilot 2",
    ],
)
def test_nobody_else_may_ask(character):
    reason = reason_of(lambda: setting_of(Character=character))
    assert reason in ("Character is none of those given", "Character is no text")


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize("length", LENGTHS)
def test_the_values_are_read_in_any_case(difficulty, length):
    written = difficulty.replace("_", " ").title()
    found = setting_of(Difficulty=written, Query_Length=length.upper())
    assert (found.difficulty, found.length) == (difficulty, length)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"Difficulty": "easy"}, "Difficulty is none of those given"),
        ({"Difficulty": "high_school or university"}, "Difficulty is none of those given"),
        ({"Difficulty": ["phd"]}, "Difficulty is no text"),
        ({"Query_Length": "12 words"}, "Query_Length is none of those given"),
        ({"Query_Length": 12}, "Query_Length is no text"),
        ({"Character": ""}, "Character is empty"),
    ],
)
def test_a_field_that_is_no_choice_drops_the_whole(changes, reason):
    assert reason_of(lambda: setting_of(**changes)) == reason
    short = {key: value for key, value in SETTING.items() if key not in changes}
    missing = reason_of(read_setting, said(json.dumps(short)), PEOPLE)
    assert missing == f"{next(iter(changes))} is missing"


TEXT = "The Tiger sleeps at noon. The river\nrises at night. The tiger eats at night."


@pytest.mark.parametrize(
    ("segment", "answer", "kind", "found"),
    [
        ((0, 25), "at noon", EXACT, "at noon"),
        ((0, 25), "the tiger sleeps", ALMOST, "The Tiger sleeps"),
        ((26, 51), "river rises", ALMOST, "river\nrises"),
        ((26, 51), "at noon", ELSEWHERE, None),
        ((26, 51), "at night. The tiger", ELSEWHERE, None),  # it reaches over the border
        ((0, 25), "the lion", NOWHERE, None),
        ((0, 25), ".*", NOWHERE, None),
    ],
)
def test_an_answer_is_looked_for_in_its_segment(segment, answer, kind, found):
    place = place_of_answer(TEXT, *segment, answer)
    assert place.kind == kind
    assert (None if place.start is None else TEXT[place.start : place.end]) == found


def test_of_two_places_the_one_inside_the_segment_counts():
    assert place_of_answer(TEXT, 51, len(TEXT), "at night") == (67, 75, EXACT)
    assert place_of_answer(TEXT, 0, len(TEXT), "at night") == (42, 50, EXACT)


# Case folding must not move places: these letters change their length in lower or upper case.
CAPRICIOUS = st.text(alphabet="aAßẞİıŉ ſ\n東é́", min_size=1, max_size=30)


@given(CAPRICIOUS, CAPRICIOUS, CAPRICIOUS, st.data())
def test_a_stretch_of_the_segment_is_found_inside_it(before, segment, after, data):
    text = before + segment + after
    start, end = len(before), len(before) + len(segment)
    low = data.draw(st.integers(start, end - 1))
    high = data.draw(st.integers(low + 1, end))
    answer = text[low:high]
    if answer.strip():
        place = place_of_answer(text, start, end, answer)
        assert place.kind == EXACT
        assert start <= place.start <= low and text[place.start : place.end] == answer
        spaced = place_of_answer(text, start, end, " ".join(answer.split()))
        assert spaced.kind in (EXACT, ALMOST)
        assert start <= spaced.start < spaced.end <= end
