"""The prompts: their wording by hash, what they hold, and what a provider's cache can hold."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imports import library_files
from posbias.corpus.segments import POSITIONS, segment_texts
from posbias.queries.prompts import (
    DIFFICULTIES,
    FORMS,
    LENGTHS,
    PLACES,
    Setting,
    form_of,
    prompt_hashes,
    query_prompt,
    setting_prompt,
)

DOCUMENT = "The tiger sleeps. The river rises at night. The castle burns."
SETTINGS = [Setting("a baker of bread", d, n) for d in DIFFICULTIES for n in LENGTHS]
# Values that a careless filling would fill again, or trip over.
TEXTS = st.text(min_size=1, max_size=40) | st.sampled_from(
    ["$document", "${segment}", "costs $5", "$$", "{query}", "100 %s", "</document>", "\\1"]
)


def test_the_wording_is_the_one_that_results_are_known_by():
    # Another wording gives other queries: change these only together with the wording.
    assert prompt_hashes() == {
        "setting": "c80c8757cd5743e7f0121447c96c5717acd5735f52d7db69b442d6a4ef576633",
        "query": "648b0a7bcac4a94da44b8a75a44c11bffc05b68f01ac567d63bbb71c5142bbce",
    }


def test_the_values_are_those_of_the_paper():
    assert list(DIFFICULTIES) == ["high_school", "university", "phd"]
    assert list(LENGTHS) == ["short", "medium", "long"]
    assert list(PLACES.values()) == ["beginning", "middle", "end"]
    assert tuple(PLACES) == POSITIONS


def test_stage_1_names_its_keys_its_values_and_each_persona_by_number():
    people = [f"somebody of kind {letter}" for letter in "abcdefghijklmnopqrst"]
    prompt = setting_prompt(DOCUMENT, people)
    for word in ("Character", "Difficulty", "Query_Length", *DIFFICULTIES, *LENGTHS):
        assert f'"{word}"' in prompt
    assert all(f"\n{n}. {text}\n" in prompt for n, text in enumerate(people, start=1))
    assert prompt.count(DOCUMENT) == 1


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("position", POSITIONS)
def test_stage_2_holds_the_setting_the_document_and_the_tagged_segment(setting, position):
    segment = segment_texts(DOCUMENT)[POSITIONS.index(position)]
    prompt = query_prompt(DOCUMENT, segment, position, setting)
    assert prompt.count(f"<document>\n{DOCUMENT}\n</document>") == 1
    assert f'<segment place="{PLACES[position]}">\n{segment}\n</segment>' in prompt
    for value in (setting.persona, setting.difficulty, setting.length, LENGTHS[setting.length]):
        assert value in prompt
    for key in ("query", "answer", "reasoning"):
        assert f'"{key}"' in prompt


@given(TEXTS, TEXTS, TEXTS)
def test_a_text_is_filled_in_as_it_is(document, segment, persona):
    prompt = query_prompt(document, segment, "end", Setting(persona, "phd", "long"))
    assert f"<document>\n{document}\n</document>" in prompt
    assert f'<segment place="end">\n{segment}\n</segment>' in prompt
    assert f"Person: {persona}\n" in prompt
    assert f"<passage>\n{document}\n</passage>" in setting_prompt(document, [persona])


def shared_beginning(*texts: str) -> str:
    same = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    return "".join(letters[0] for letters in same)


def test_a_documents_three_prompts_differ_only_behind_all_that_they_share():
    segments = segment_texts(DOCUMENT)
    prompts = [
        query_prompt(DOCUMENT, segment, position, SETTINGS[0])
        for position, segment in zip(POSITIONS, segments, strict=True)
    ]
    shared = shared_beginning(*prompts)
    assert f"<document>\n{DOCUMENT}\n</document>" in shared
    assert SETTINGS[0].persona in shared
    # Of two documents it is the instructions, all of them, that are shared.
    other = query_prompt(DOCUMENT[::-1], "x", "begin", SETTINGS[1])
    assert shared_beginning(prompts[0], other).endswith("<document>\n")


def test_forms_ask_for_what_the_prompts_ask_for():
    assert form_of("a|b|stage1") is FORMS["stage1"]
    assert form_of("doc|middle") == {"query": None, "answer": None}
    for key, values in FORMS["stage1"].items():
        assert f'"{key}"' in setting_prompt(DOCUMENT, ["x"])
        assert values in (None, tuple(DIFFICULTIES), tuple(LENGTHS))


def test_a_change_of_wording_is_a_change_of_the_rules_that_use_it(scripts):
    files = library_files(scripts / "generate_queries.py")
    templates = scripts / "posbias" / "queries" / "templates"
    assert {templates / "choose_setting.txt", templates / "write_query.txt"} <= set(files)
    assert templates / "personas.jsonl" in library_files(scripts / "choose_personas.py")
