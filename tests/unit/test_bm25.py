"""BM25 against its formula, and at the edges where other packages fail."""

import math

import numpy as np
import pytest

from posbias.errors import ConfigError, DataError
from posbias.retrieval.bm25 import METHODS, Bm25

TEXTS = [
    "green apples grow on old trees",
    "old ships sail past green islands, green and far",
    "nobody eats ships",
    "trees",
    "far islands",
]


def formula(method: str, tf: int, df: int, n: int, length: int, mean: float, k1: float, b: float):
    idf = {
        "lucene": math.log(1 + (n - df + 0.5) / (df + 0.5)),
        "robertson": math.log(max(1.0, (n - df + 0.5) / (df + 0.5))),
        "atire": math.log(n / df),
    }[method]
    saturation = tf / (tf + k1 * (1 - b + b * length / mean))
    return idf * saturation * (k1 + 1 if method == "atire" else 1)


@pytest.mark.parametrize("method", METHODS)
def test_scores_equal_the_formula(method):
    index = Bm25(TEXTS, k1=0.9, b=0.4, method=method, stopwords=None)
    words = [text.replace(",", "").split() for text in TEXTS]
    mean = sum(map(len, words)) / len(words)
    query = ["islands", "green", "zebra", "islands"]
    wanted = [
        sum(
            formula(
                method, of.count(term), sum(term in d for d in words), 5, len(of), mean, 0.9, 0.4
            )
            for term in query
            if term in of
        )
        for of in words
    ]
    found = index.scores(" ".join(query), range(5))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert np.array_equal(index.scores(" ".join(query), [4, 1]), found[[4, 1]])


def test_search_lists_hits_only_in_the_order_of_their_scores():
    index = Bm25(TEXTS)
    indices, scores = index.search(["green islands", "ships", "zebra", ""], k=10)
    all_scores = index.scores("green islands", range(5))
    assert indices[0].tolist() == np.argsort(-all_scores, kind="stable")[:3].tolist()
    assert scores[0].tolist() == sorted(all_scores[all_scores > 0], reverse=True)
    assert sorted(indices[1].tolist()) == [1, 2]
    assert [len(found) for found in indices[2:]] == [0, 0]
    assert index.search(["green islands"], k=1)[0][0].tolist() == indices[0][:1].tolist()
    assert index.search([], k=3) == ([], [])


def test_equal_scores_go_by_document_index_also_across_the_cut():
    index = Bm25(["sea wind", "stone", "wind sea", "sea rain", "sea sun"])
    assert index.search(["sea"], k=2)[0][0].tolist() == [0, 2]


def test_depth_above_the_corpus_and_one_document():
    assert Bm25(TEXTS[:3]).search(["ships"], k=5)[0][0].tolist() == [2, 1]
    one = Bm25(["a lonely ship"])
    assert one.search(["ship", "zebra"], k=5)[0][0].tolist() == [0]
    assert one.scores("", [0]).tolist() == [0.0]


def test_a_word_in_half_of_the_documents_still_scores():
    assert Bm25(["red fox", "grey wolf"]).search(["fox"], k=2)[0][0].tolist() == [0]


def test_an_empty_document_among_others_is_never_a_hit():
    index = Bm25(["", "grey wolf", "the"])
    assert index.search(["wolf the"], k=3)[0][0].tolist() == [1]


@pytest.mark.parametrize("texts", [[], ["", "  "], ["the and of", "."]])
def test_a_corpus_without_words_is_refused(texts):
    with pytest.raises(DataError, match="none of the"):
        Bm25(texts)


def test_the_query_is_found_through_the_stemmer_and_less_stop_words():
    plain, stemmed = Bm25(TEXTS), Bm25(TEXTS, stemmer="english")
    assert plain.search(["tree"], k=5)[0][0].tolist() == []
    assert stemmed.search(["tree"], k=5)[0][0].tolist() == [3, 0]
    assert plain.scores("on", range(5)).max() == 0
    assert Bm25(TEXTS, stopwords=None).scores("on", range(5)).max() > 0


def test_a_query_does_not_depend_on_its_neighbours():
    index = Bm25(TEXTS)
    queries = ["green islands far", "ships", "old trees grow"] * 200
    indices, scores = index.search(queries, k=3)
    for query, of_query, with_scores in zip(queries[:3], indices[-3:], scores[-3:], strict=True):
        alone, alone_scores = index.search([query], k=3)
        assert alone[0].tolist() == of_query.tolist()
        assert alone_scores[0].tolist() == with_scores.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bm25+"}, "method 'bm25\\+' is not one of lucene, robertson, atire"),
        ({"stopwords": "klingon"}, "stopwords 'klingon'"),
        ({"stemmer": "klingon"}, "stemmer 'klingon' is not one of"),
    ],
)
def test_unknown_names_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Bm25(TEXTS, **options)
