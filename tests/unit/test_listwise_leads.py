"""Lead sections out of a JSON object: bounds of length, names, the limit, faulty records."""

import json
from collections import Counter

import pytest

from posbias.corpus.leads import Passage, read_leads
from posbias.errors import ConfigError, DataError


def record(title: str, extract: str) -> dict[str, str]:
    return {"title": title, "extract": extract, "description": "a thing"}


@pytest.fixture
def leads(tmp_path):
    """Return a function that writes an object of lead sections and reads it back."""

    def read(content, low=5, high=20, limit=100, seed=1):
        path = tmp_path / "leads.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        dropped = Counter()
        return read_leads(path, low, high, limit, seed, dropped), dropped

    return read


def many(n: int) -> dict[str, dict[str, str]]:
    return {str(i): record(f"Title {i:02d}", f"text number {i:02d}") for i in range(n)}


def test_both_bounds_of_length_are_included_and_count_code_points(leads):
    content = {
        "a": record("Four", "x" * 4),
        "b": record("Five", "é" * 5),
        "c": record("Twenty", "𝄞" * 20),
        "d": record("More", "x" * 21),
    }
    found, dropped = leads(content)
    assert [(passage.title, len(passage.text)) for passage in found] == [
        ("Five", 5),
        ("Twenty", 20),
    ]
    assert dropped["length outside 5-20 characters"] == 2


def test_white_space_goes_before_the_length_is_taken(leads):
    found, _ = leads({"a": record("The  Name", "  a\n b\t\tc   d ")}, low=7, high=7)
    assert found == [Passage("lead-The_Name", "The  Name", "a b c d")]
    assert found[0].record() == {"doc_id": "lead-The_Name", "title": "The  Name", "text": "a b c d"}


def test_a_title_that_comes_twice_is_kept_once(leads):
    found, dropped = leads({"a": record("A B", "first text"), "b": record("A B", "second text")})
    assert [passage.text for passage in found] == ["first text"]
    assert dropped["title seen before"] == 1


def test_what_the_limit_takes_does_not_depend_on_the_order_of_the_file(leads):
    content = many(30)
    found, dropped = leads(content, limit=10)
    assert dropped["above the limit"] == 20
    assert [passage.doc_id for passage in found] == sorted(passage.doc_id for passage in found)
    assert leads(dict(reversed(content.items())), limit=10)[0] == found
    assert leads(content, limit=10, seed=2)[0] != found


def test_one_section_less_leaves_the_others_in(leads):
    content = many(30)
    found, _ = leads(content, limit=10)
    gone = next(key for key, value in content.items() if value["title"] == found[3].title)
    rest, _ = leads({key: value for key, value in content.items() if key != gone}, limit=10)
    assert set(found) - {found[3]} <= set(rest)
    more, _ = leads(content, limit=11)
    assert set(found) < set(more)


def test_every_section_is_kept_or_counted(leads):
    content = many(12) | {"x": record("Title 03", "text again"), "y": record("Short", "x")}
    found, dropped = leads(content, limit=7)
    assert len(found) + sum(dropped.values()) == len(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (["a"], "expected an object of lead sections"),
        ({"k7": "text"}, "record 'k7' lacks one of the texts title, extract, description"),
        ({"k7": {"title": "T", "extract": "text"}}, "record 'k7' lacks"),
        ({"k7": record("T", "text") | {"extract": None}}, "record 'k7' lacks"),
    ],
)
def test_another_layout_is_named(leads, content, message):
    with pytest.raises(DataError, match=message):
        leads(content)


def test_bounds_that_no_section_meets_are_named(leads):
    with pytest.raises(ConfigError, match="no lead section of 90 to 99 characters"):
        leads(many(3), low=90, high=99)
