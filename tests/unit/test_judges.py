"""Judges: the rule over words, and language models whose answers are paid for once."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_toy import asked_of
from fake_openai import toy_options
from posbias.errors import ConfigError, DataError
from posbias.queries.chat import ChatAnswer
from posbias.queries.generators import Surroundings
from posbias.queries.judges import JUDGES, Pair, Verdict, WordsJudge, make_judge
from posbias.queries.llm_judge import LlmJudge, judge_prompt, read_verdict
from posbias.queries.prompts import TEMPLATES

STOPWORDS = frozenset({"the", "of", "is"})


def words_judge(least_share: float = 0.5, **options) -> WordsJudge:
    return WordsJudge("words", STOPWORDS, least_share, **options)


def said(query: str, segment: str, **options) -> bool | None:
    (verdict,) = words_judge(**options).judge([Pair("k", query, segment)])
    return verdict.yes


# The rule over words.


@pytest.mark.parametrize(
    ("query", "segment", "share", "yes"),
    [
        ("red fox", "A RED house.", 0.5, True),
        ("red fox", "A RED house.", 0.51, False),
        ("red red red fox", "a red house", 0.6, False),  # each word counts once
        ("the colour of red", "red paint is the best", 1.0, False),  # stop words do not count
        ("the red", "the red", 1.0, True),
        ("red", "reddish", 0.1, False),  # whole words only
        ("fox's tail", "the fox's tail", 1.0, True),
        ("a b c d e f g h i j", "a b c d e f g", 0.7, True),  # 0.7 * 10 > 7 in floats
        ("a b c d e f g h i j", "a b c d e f", 0.7, False),
    ],
)
def test_a_share_of_the_distinct_content_words_is_a_yes(query, segment, share, yes):
    assert said(query, segment, least_share=share) is yes


def test_a_query_without_content_words_gets_no_verdict():
    verdicts = words_judge(min_word_chars=3).judge(
        [Pair("a", "of the", "of"), Pair("b", "ox", "ox")]
    )
    assert verdicts == [Verdict(None, unreadable="the query has no content word")] * 2


letters = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6).map(" ".join)


@given(letters, letters, letters, st.floats(0.01, 1))
def test_more_text_never_turns_a_yes_into_a_no(query, segment, more, share):
    before = said(query, segment, least_share=share)
    assert said(query, f"{segment} {more}", least_share=share) >= before
    assert said(query, query, least_share=share) is True
    assert said(query, segment, least_share=share / 2) >= before


# Reading replies.


def answer(text: str | None, finish: str = "stop", refusal: str | None = None) -> ChatAnswer:
    error = "timeout: no answer" if finish == "error" else None
    return ChatAnswer("k", text, refusal, finish, 0, 0, 0, "m", error)


@pytest.mark.parametrize(
    ("text", "yes", "reasoning"),
    [
        ('{"reasoning": "it  says\\nso", "answer": "yes"}', True, "it says so"),
        ('Well.\n```json\n{"Answer": " No. "}\n```', False, None),
        ('{"reasoning": "yes and no", "answer": "NO"}', False, "yes and no"),
        ('{"reasoning": 7, "answer": "yes"}', True, None),
    ],
)
def test_a_verdict_is_read_whatever_stands_around_it(text, yes, reasoning):
    assert read_verdict(answer(text)) == Verdict(yes, reasoning)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (answer('{"answer": "yes or no"}'), "answer is neither yes nor no"),
        (answer('{"answer": "..."}'), "answer is neither yes nor no"),
        (answer('{"answer": true}'), "answer is neither yes nor no"),
        (answer('{"answer": ""}'), "answer is neither yes nor no"),
        (answer('{"answer": "yes"} {"answer": "no"}'), "several different objects"),
        (answer("yes"), "no JSON object"),
        (answer('{"reasoning": "yes"}'), "answer is missing"),
        (answer('{"reasoning": "it', "length"), "cut before its object ended"),
        (answer(None, refusal="I will not."), "refused"),
        (answer(None, "content_filter"), "stopped by the content filter"),
        (answer(None, "error"), "the request failed (timeout)"),
    ],
)
def test_what_is_neither_yes_nor_no_is_no_verdict(reply, reason):
    assert read_verdict(reply) == Verdict(None, unreadable=reason)


# The prompt.


def test_the_prompt_is_the_template_with_query_and_segment_and_nothing_else():
    template = (TEMPLATES / "judge_segment.txt").read_text("utf-8")
    prompt = judge_prompt("what of $segment?", "costs $5 {x}\n$query")
    wanted = template.replace("$segment", "\0").replace("$query", "what of $segment?")
    assert prompt == wanted.replace("\0", "costs $5 {x}\n$query")
    assert asked_of(prompt) == ("what of $segment?", "costs $5 {x}\n$query")
    told = template.replace("$segment", "").replace("may begin or end within a sentence", "")
    for hint in ("target", "segment", "document", "begin", "middle", " end "):
        assert hint not in told.casefold()


# Options.


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("oracle", {}, r"judges\.j: kind 'oracle' does not exist; known: local_lm, openai, words"),
        ("words", {}, r"judges\.j\.options: missing a required argument: 'least_share'"),
        ("words", {"least_share": 0}, r"least_share must be in \(0, 1\], is 0"),
        ("words", {"least_share": True}, "least_share must be in"),
        ("words", {"least_share": 1, "min_word_chars": 0}, "min_word_chars must be a whole number"),
        ("words", {"least_share": 1, "stopwords": []}, r"options: 'stopwords' is no option"),
        ("openai", {}, r"judges\.j\.options: missing a required .*cap_dollars"),
        ("openai", toy_options(colour="red"), r"judges\.j\.options: .*colour"),
        ("openai", toy_options(documents_at_once=5), r"documents_at_once"),
        ("openai", toy_options(dry_run=True, allowed_failures=2), "allowed_failures must be from"),
        ("local_lm", {"model": "gone"}, r"model 'gone' is not one of those given \(tiny\)"),
        ("local_lm", {"model": "tiny", "forms": 1}, r"judges\.j\.options: .*forms"),
    ],
)
def test_wrong_options_are_named_by_their_place_in_the_config(tmp_path, kind, options, message):
    around = Surroundings(1, {"tiny": tmp_path}, answers=tmp_path)
    with pytest.raises(ConfigError, match=message):
        make_judge("j", {"kind": kind, "options": options}, around)
    assert set(JUDGES) == {"local_lm", "openai", "words"}


def test_a_paid_judge_needs_a_folder_for_its_answers():
    with pytest.raises(ConfigError, match="this kind keeps its answers"):
        make_judge("j", {"kind": "openai", "options": toy_options(dry_run=True)}, Surroundings(1))


# Answerers that do not do as they should.


class Answers:
    """An answerer that gives the answers that it was made with."""

    name = "fake"

    def __init__(self, *given) -> None:
        self.given = given

    def answers(self, requests):
        yield from self.given


def test_each_pair_gets_one_verdict_in_its_place():
    pairs = [Pair(key, "q", "s") for key in "ab"]
    yes, no = (
        ChatAnswer(key, f'{{"answer": "{word}"}}', None, "stop", 10, 4, 2, "m", None)
        for key, word in (("a", "yes"), ("b", "no"))
    )
    judge = LlmJudge(Answers(no, yes), "j", Counter(), lambda used: used["output_tokens"] / 2)
    assert [verdict.yes for verdict in judge.judge(pairs)] == [True, False]
    assert judge.summary()["usage"] == {
        "calls": 2, "input_tokens": 20, "cached_tokens": 8, "output_tokens": 4, "dollars": 2.0,
    }  # fmt: skip
    with pytest.raises(DataError, match="no answer to b and 0 more"):
        LlmJudge(Answers(yes), "j", Counter()).judge(pairs)
    with pytest.raises(DataError, match="two answers to a"):
        LlmJudge(Answers(yes, yes), "j", Counter()).judge(pairs)
