"""Words swapped for their neighbours: which words, how many, and never a form of the same one."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.queries.candidates import Candidate
from posbias.queries.paraphrase import (
    NEAREST,
    nearest_words,
    paraphrase,
    same_stem,
    vocabulary,
    word_neighbours,
)

STOPWORDS = frozenset({"the", "and"})
words = st.text("abcdef", min_size=1, max_size=9)


def candidate(query: str, query_id: str = "q") -> Candidate:
    return Candidate(
        query_id, "d", "begin", "", query, "answer", 0, 6, None, None, "short", None, "cloze"
    )


def unit(rows) -> np.ndarray:
    rows = np.asarray(rows, dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_the_vocabulary_counts_passages_not_occurrences():
    texts = ["cat cat cat dog", "The dog and a bird", "dog4 dog4", "dog4, bird", "co-op co-op"]
    assert vocabulary(texts, STOPWORDS, 3, 1) == ["bird", "cat", "dog"]
    assert vocabulary(texts, STOPWORDS, 3, 2) == ["bird", "dog"]
    assert vocabulary(texts, STOPWORDS, 3, 3) == []


@given(words, words)
def test_forms_of_a_word_are_forms_both_ways(first, second):
    assert same_stem(first, first)
    assert same_stem(first, second) == same_stem(second, first)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("anarchism", "anarchist", True),
        ("city", "cities", False),
        ("cat", "cats", True),
        ("run", "running", True),
        ("house", "mouse", False),
        ("planets", "plants", True),  # a crude rule: it parts more than it must
    ],
)
def test_which_words_count_as_forms_of_one(first, second, same):
    assert same_stem(first, second) is same


def test_the_nearest_word_that_is_no_form_is_taken():
    vocabulary = ["anarchism", "anarchist", "disorder", "river"]
    vectors = unit([[1, 0], [1, 0.01], [1, 0.3], [0, 1]])
    assert nearest_words(vocabulary, vectors) == {
        "anarchism": "disorder",
        "anarchist": "disorder",
        "disorder": "anarchist",
        "river": "disorder",
    }


def test_equal_neighbours_go_by_their_place():
    vectors = unit([[1, 0], [0, 1], [0, 1], [0, 1]])
    assert nearest_words(["apple", "bread", "cheese", "dough"], vectors)["apple"] == "bread"


def test_a_word_with_forms_of_itself_alone_has_no_neighbour():
    forms = [f"library{letter}" for letter in "abcdefghijklmnopqrst"]
    assert len(forms) > NEAREST
    assert nearest_words(forms, unit(np.ones((len(forms), 3)))) == {}
    assert nearest_words(["alone"], unit([[1, 2]])) == {}


def test_blocks_do_not_change_the_neighbours():
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("bcdfghklm"), 6)) for _ in range(80)]
    vectors = unit(rng.normal(size=(80, 5)))
    whole = nearest_words(names, vectors)
    assert nearest_words(names, vectors, block=7) == whole
    cosines = vectors @ vectors.T
    for word, neighbour in whole.items():
        here = cosines[names.index(word)]
        better = [names[i] for i in np.flatnonzero(here > here[names.index(neighbour)] + 1e-6)]
        assert all(same_stem(other, word) for other in better)


def test_neighbours_of_texts_encode_each_word_once():
    asked = []

    def encode(texts):
        asked.extend(texts)
        return unit([[len(text), 1] for text in texts])

    found = word_neighbours(["cat dog", "dog horse", "horse cat"], encode, STOPWORDS, 3, 2)
    assert asked == ["cat", "dog", "horse"]
    assert found["cat"] == "dog"
    assert word_neighbours(["the and"], encode, STOPWORDS, 3, 1) == {}
    assert asked == ["cat", "dog", "horse"]


@given(st.lists(words, min_size=1, max_size=8, unique=True), st.integers(0, 5))
def test_no_swap_and_every_swap(query, seed):
    asked = candidate(" ".join(query))
    upper = {word: word.upper() for word in query}
    assert paraphrase(asked, upper, 0.0, seed).query == asked.query
    assert paraphrase(asked, upper, 1.0, seed).query == asked.query.upper()
    assert paraphrase(asked, {}, 1.0, seed).query == asked.query


def test_only_the_query_changes():
    found = paraphrase(candidate("one two"), {"one": "uno"}, 1.0, 0)
    assert found.query == "uno two"
    assert found.generator == "paraphrased cloze"
    before = candidate("one two").record() | {"query": "uno two", "generator": found.generator}
    assert found.record() == before


def test_words_that_meet_in_one_neighbour_stand_once():
    assert paraphrase(candidate("big large dog"), {"big": "huge", "large": "huge"}, 1, 0).query == (
        "huge dog"
    )


def test_a_swap_depends_on_the_word_and_not_on_its_place():
    query = [f"w{i}" for i in range(12)]
    swaps = {word: word.upper() for word in query}
    forward = set(paraphrase(candidate(" ".join(query)), swaps, 0.5, 3).query.split())
    backward = set(paraphrase(candidate(" ".join(reversed(query))), swaps, 0.5, 3).query.split())
    assert forward == backward
    assert 0 < sum(word.isupper() for word in forward) < 12
    assert forward != set(paraphrase(candidate(" ".join(query), "q2"), swaps, 0.5, 3).query.split())


def test_the_share_of_swaps_is_the_one_asked_for():
    counts = Counter()
    for number in range(400):
        found = paraphrase(
            candidate("a b c d e", f"q{number}"), dict(zip("abcde", "ABCDE", strict=True)), 0.8, 1
        )
        counts[sum(word.isupper() for word in found.query.split())] += 1
    mean = sum(swapped * n for swapped, n in counts.items()) / 400
    assert mean == pytest.approx(4, abs=4 * np.sqrt(5 * 0.8 * 0.2 / 400))
