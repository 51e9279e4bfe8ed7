"""Evidence by its text: found verbatim or by the nearest sentence; the rest is told."""

import inspect
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_files import write_json_lines
from posbias.benchmarks.evidence_places import LOCATORS, check_places, locate
from posbias.benchmarks.evidence_records import Judged
from posbias.benchmarks.evidence_texts import (
    Evidence,
    find_nearest,
    find_verbatim,
    place_evidence,
)
from posbias.errors import ConfigError, DataError

TEXT = "Soil forms in layers. The top layer holds humus. Below it lies clay. Humus is dark."


def judged(text: str = TEXT) -> Judged:
    return Judged({"q": "soil"}, {"q": ("d",)}, {"d": text})


@given(st.text(min_size=1), st.text(), st.text())
def test_what_a_text_holds_between_spaces_is_found_no_later_than_it_stands(evidence, before, after):
    text = f"{before} {evidence} {after}"
    found = find_verbatim(evidence, text)
    if not evidence.split():
        assert found is None
    else:
        assert found.verbatim
        assert found.start <= len(before) + 1 + len(evidence) - len(evidence.lstrip())
        assert not text[found.start].isspace()


@given(st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=3, max_size=12), st.data())
def test_white_space_between_words_changes_nothing(words, data):
    low = data.draw(st.integers(0, len(words) - 1))
    high = data.draw(st.integers(low + 1, len(words)))
    spaced = "".join(word + data.draw(st.sampled_from([" ", "\n", "  ", "\t "])) for word in words)
    found = find_verbatim(" ".join(words[low:high]), spaced)
    offsets = [match.start() for match in re.finditer(r"\S+", spaced)]
    assert found is not None and found.start in offsets and found.start <= offsets[low]


def test_tokenised_text_and_running_text_are_the_same():
    running = 'He scored (twice) and said: "Enough."'
    tokenised = "He scored -LRB- twice -RRB- and said : `` Enough . ''"
    document = f"An opening sentence . {tokenised} More ."
    assert find_verbatim(running, document).start == document.index("He scored")
    assert find_verbatim(tokenised, f"First. {running}").start == len("First. ")


def test_evidence_is_not_found_within_a_word():
    assert find_verbatim("art is", "The chart is big.") is None
    assert find_verbatim("art is", "The chart is big and art is small.").start == 21
    assert find_verbatim("the art", "All the arts.") is None


def test_a_place_is_the_first_of_several_and_says_so():
    found = find_verbatim("Humus is dark.", f"Humus is dark. {TEXT}")
    assert (found.start, found.times) == (0, 2)
    assert find_verbatim("", TEXT) is None


def test_the_nearest_sentence_must_be_near_enough():
    changed = "The top layer holds much humus."
    start = TEXT.index("The top")
    assert find_verbatim(changed, TEXT) is None
    assert find_nearest(changed, TEXT, 5 / 6).start == start
    assert find_nearest(changed, TEXT, 5 / 6 + 1e-9) is None
    assert find_nearest("", TEXT, 0.1) is None


def test_equally_near_sentences_place_nothing():
    text = "Moss grows on oak bark. Pause here. Moss grows on elm bark."
    one = Evidence("q", "d", "Moss grows on ash bark.")
    places = place_evidence([one], judged(text), {}, True, 0.5)
    assert places.starts == [] and places.dropped == {"several_sentences_equally_near": 1}


def test_each_piece_counts_once_and_each_loss_has_its_reason():
    evidence = [
        Evidence("q", "d", "Humus is dark."),
        Evidence("q", "d", "Humus is dark."),
        Evidence("q", "other", "Humus is dark."),
        Evidence("q", "d", "Sand is yellow."),
        Evidence("q", None, "sentence 9", "beyond"),
        Evidence("train", "d", "Humus is dark."),
    ]
    places = place_evidence(evidence, judged(), {}, True, None)
    assert places.starts == [TEXT.index("Humus is") / len(TEXT)]
    assert places.counts() == {
        "considered": 4,
        "located": 1,
        "dropped": {"beyond": 1, "document_not_relevant": 1, "not_found_in_its_document": 1},
        "told": {
            "found_more_than_once": 0,
            "found_verbatim": 1,
            "of_queries_that_the_benchmark_lacks": 1,
            "repeated": 1,
        },
    }


def test_the_title_counts_or_does_not():
    document, title = f"Humus {TEXT}", len("Humus ")
    one = [Evidence("q", "d", "Humus is dark.")]
    at = document.index("Humus is")
    apart = place_evidence(one, judged(document), {"d": title}, False, None)
    assert apart.starts == [(at - title) / (len(document) - title)]
    assert place_evidence(one, judged(document), {"d": title}, True, None).starts == [
        at / len(document)
    ]


def test_evidence_is_not_looked_for_in_the_title():
    document = "Clay Soil has layers. Clay lies deep."
    one = [Evidence("q", "d", "Clay")]
    for count_title in (True, False):
        places = place_evidence(one, judged(document), {"d": 5}, count_title, None)
        away = 0 if count_title else 5
        assert places.starts == [(document.index("Clay lies") - away) / (len(document) - away)]


def test_rows_of_texts_are_read_and_placed(tmp_path):
    rows = [
        {"query_id": "q", "doc_id": "d", "evidence": " Below it\n lies clay. "},
        {"query_id": "q", "doc_id": "d", "evidence": "The top layer holds much humus."},
    ]
    file = write_json_lines(tmp_path / "evidence.jsonl.gz", rows)
    below, top = TEXT.index("Below") / len(TEXT), TEXT.index("The top") / len(TEXT)
    assert locate("texts", judged(), [file], {}).starts == [below]
    places = locate("texts", judged(), [file], {"least_overlap": 0.8})
    assert places.starts == [below, top]
    assert places.told["found_by_the_nearest_sentence"] == 1


@pytest.mark.parametrize("row", [{"query_id": "q", "doc_id": "d"}, {"query_id": 1}])
def test_a_row_of_another_shape_is_named(tmp_path, row):
    file = write_json_lines(tmp_path / "evidence.jsonl", [row])
    with pytest.raises(DataError, match=r"evidence\.jsonl, line 1: .*missing"):
        locate("texts", judged(), [file], {})
    file = write_json_lines(tmp_path / "e.jsonl", [{"query_id": 1, "doc_id": "d", "evidence": "x"}])
    with pytest.raises(DataError, match=r"e\.jsonl, row 1: .*must be texts"):
        locate("texts", judged(), [file], {})


WRONG = [
    ("words", {"count_ties": "last"}, "count_ties 'last' is not one of first, skip"),
    ("words", {"min_words": 0}, "min_words must be a whole number of at least 1"),
    ("words", {"least_overlap": 0.5}, "its options: count_ties, min_word_chars, min_words"),
    ("texts", {"least_overlap": 0}, "least_overlap must be a number above 0, at most 1, is 0"),
    ("texts", {"least_overlap": True}, "least_overlap must be a number"),
    ("scifact", {"sentences": "own"}, "sentences 'own' is not one of listed, split"),
    ("hotpotqa", {"count_title": 1}, "count_title must be true or false"),
    ("climate_fever", {"labels": "SUPPORTS"}, "labels must be a list of names or all"),
    ("fever", {"labels": ["SUPPORTS"]}, "its options: count_title, least_overlap"),
]


@pytest.mark.parametrize(("kind", "options", "message"), WRONG)
def test_a_wrong_option_is_named_before_any_file_is_read(tmp_path, kind, options, message):
    with pytest.raises(ConfigError, match=f"^here.options: .*{message}"):
        check_places("here", kind, options)
    with pytest.raises(ConfigError, match=f"evidence_places.options: .*{message}"):
        locate(kind, judged(), [tmp_path / "gone"], options)


@pytest.mark.parametrize("kind", ["beir", None, ["words"]])
def test_an_unknown_kind_is_named_with_those_there_are(kind):
    with pytest.raises(ConfigError, match=r"here: kind .* is not one of words, texts, scifact"):
        check_places("here", kind, {})


@pytest.mark.parametrize("kind", LOCATORS)
def test_the_defaults_of_every_kind_pass_its_checks(kind):
    taken = dict(list(inspect.signature(LOCATORS[kind].locate).parameters.items())[2:])
    assert taken.keys() == LOCATORS[kind].options.keys()
    defaults = {name: option.default for name, option in taken.items()}
    check_places(
        "here",
        kind,
        {**defaults, **({"labels": list(defaults["labels"])} if "labels" in defaults else {})},
    )
