"""Evidence by words: the right sentence, ties told and not hidden, shares within the document."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.benchmarks.evidence_places import locate
from posbias.benchmarks.evidence_records import Judged
from posbias.benchmarks.evidence_words import best_sentences, locate_words
from posbias.corpus.sentences import sentence_spans
from posbias.errors import ConfigError, DataError

SENTENCES = [
    "Granite weathers slowly.",
    "Rivers carry coarse gravel.",
    "Lichens colonise bare rock.",
    "Frost widens every crack.",
]
TEXT = " ".join(SENTENCES)


def judged(query: str, text: str = TEXT) -> Judged:
    return Judged({"q": query}, {"q": ("d",)}, {"d": text})


@pytest.mark.parametrize("number", range(len(SENTENCES)))
def test_the_sentence_whose_words_a_query_repeats_is_found_wherever_it_stands(number):
    query = SENTENCES[number].lower().replace(".", "?")
    places = locate_words(judged(query), [])
    assert places.starts == [TEXT.index(SENTENCES[number]) / len(TEXT)]
    assert places.told["ties"] == 0


def test_most_distinct_words_win_over_the_same_word_again_and_again():
    text = "Gravel, gravel, gravel and gravel. Rivers carry gravel."
    assert locate_words(judged("gravel rivers", text), []).starts == [
        text.index("Rivers") / len(text)
    ]


def test_stop_words_and_short_words_place_nothing():
    text = "It is what it was, and so on. An ox lay in the mud."
    for query in ("was it the", "ox"):
        places = locate_words(judged(query, text), [])
        assert places.starts == []
        assert places.dropped["too_few_words_of_the_query_in_any_sentence"] == 1
    assert locate_words(judged("ox", text), [], min_word_chars=2).starts == [
        text.index("An ox") / len(text)
    ]


def test_a_tie_is_counted_and_taken_at_the_first_or_left_out():
    query = "granite and frost"
    first = locate_words(judged(query), [], count_ties="first")
    assert (first.starts, first.told["ties"], first.dropped.total()) == ([0.0], 1, 0)
    skipped = locate_words(judged(query), [], count_ties="skip")
    assert (skipped.starts, skipped.told["ties"]) == ([], 1)
    assert skipped.dropped == {"several_sentences_with_as_many_words": 1}


def test_fewer_words_than_wanted_are_no_evidence():
    assert locate_words(judged("granite moon"), [], min_words=2).considered == 1
    assert locate_words(judged("granite moon"), [], min_words=2).starts == []
    assert locate_words(judged("granite moon"), [], min_words=1).starts == [0.0]


def test_documents_of_one_sentence_are_told_as_they_always_start_at_zero():
    places = locate_words(judged("granite", SENTENCES[0]), [])
    assert (places.starts, places.told["documents_of_one_sentence"]) == ([0.0], 1)


def test_every_relevant_document_of_a_query_has_a_place_of_its_own():
    texts = {"a": TEXT, "b": " ".join(reversed(SENTENCES)), "c": "Nothing of it."}
    places = locate_words(Judged({"q": "granite weathers"}, {"q": ("a", "b", "c")}, texts), [])
    assert places.starts == [0.0, texts["b"].index("Granite") / len(texts["b"])]
    assert places.considered == 3


WORDS = st.lists(st.sampled_from(("granite", "gravel", "lichen", "frost", "the", "of")), max_size=6)


@given(WORDS, st.lists(WORDS.filter(bool), min_size=1, max_size=6))
def test_no_sentence_holds_more_words_than_the_best_and_none_as_good_is_missing(query, sentences):
    text = " ".join(" ".join(words).capitalize() + "." for words in sentences)
    words = set(query) - {"the", "of"}
    most, starts = best_sentences(words, text, frozenset({"the", "of"}), 3)
    held = {
        start: len(words & set(text[start:end].lower().rstrip(".").split()))
        for start, end in sentence_spans(text)
    }
    assert most == max(held.values())
    assert starts == [start for start, count in held.items() if count == most]
    assert all(early < late for early, late in pairwise(starts))


def test_files_are_refused_since_they_would_be_ignored(tmp_path):
    with pytest.raises(ConfigError, match=r"reads no files, but .*extra"):
        locate_words(judged("granite"), [Path(tmp_path / "extra")])


def test_a_collection_without_any_place_is_an_error_not_an_empty_figure():
    with pytest.raises(DataError, match=r"none of 1 pieces.*too_few_words"):
        locate("words", judged("xylophone"), [], {})
