"""The second BM25 backend against Lucene's formula, and against bm25s on random corpora."""

import math

import numpy as np
import pytest

from posbias.errors import ConfigError, DataError
from posbias.retrieval.bm25 import Bm25
from posbias.retrieval.lexical import BACKENDS, make_bm25
from posbias.retrieval.rank_bm25 import RankBm25

TEXTS = [
    "green apples grow on old trees",
    "old ships sail past green islands, green and far",
    "nobody eats ships",
    "trees",
    "far islands",
]


def test_scores_equal_lucenes_formula():
    index = RankBm25(TEXTS, k1=0.9, b=0.4, stopwords=None)
    words = [text.replace(",", "").split() for text in TEXTS]
    mean = sum(map(len, words)) / len(words)

    def share(term, of):
        df, tf = sum(term in other for other in words), of.count(term)
        idf = math.log(1 + (5 - df + 0.5) / (df + 0.5))
        return idf * tf / (tf + 0.9 * (1 - 0.4 + 0.4 * len(of) / mean))

    query = ["islands", "green", "zebra", "islands"]
    wanted = [sum(share(term, of) for term in query) for of in words]
    found = index.scores(" ".join(query), range(5))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert found.dtype == np.float32


def random_texts(rng: np.random.Generator, documents: int) -> list[str]:
    """Texts of 1 to 40 words out of 60, frequent and rare ones, no stop words among them."""
    names = [f"w{number}" for number in range(60)]
    shares = 1 / np.arange(1, 61)
    shares /= shares.sum()
    return [
        " ".join(rng.choice(names, size=rng.integers(1, 41), p=shares)) for _ in range(documents)
    ]


@pytest.mark.parametrize("seed", range(8))
def test_both_backends_agree_on_random_corpora(seed):
    rng = np.random.default_rng(seed)
    texts, queries = random_texts(rng, 150), [text[:40] for text in random_texts(rng, 40)]
    indexes = [make_bm25(backend, texts, k1=0.9, b=0.4) for backend in BACKENDS]
    (first, first_scores), (second, second_scores) = (
        index.search(queries, k=150) for index in indexes
    )
    for query in range(len(queries)):
        np.testing.assert_allclose(first_scores[query], second_scores[query], rtol=2e-6)
        # Ranks differ at most among documents whose scores are one to rounding.
        assert sorted(first[query]) == sorted(second[query])
        other = dict(zip(second[query], second_scores[query], strict=True))
        np.testing.assert_allclose(
            [other[document] for document in first[query]], first_scores[query], rtol=2e-6
        )


@pytest.mark.parametrize("backend", BACKENDS)
class TestBoth:
    def test_a_word_in_half_or_more_of_the_documents_still_scores(self, backend):
        half = make_bm25(backend, ["red fox", "grey wolf"], 0.9, 0.4)
        assert half.search(["fox"], k=2)[0][0].tolist() == [0]
        most = make_bm25(backend, ["fox", "fox fox", "fox wolf"], 0.9, 0.4)
        assert sorted(most.search(["fox"], k=3)[0][0].tolist()) == [0, 1, 2]
        assert most.search(["fox"], k=3)[1][0].min() > 0

    def test_edges_of_a_search(self, backend):
        index = make_bm25(backend, TEXTS, 0.9, 0.4)
        indices, scores = index.search(["green islands", "zebra", "", "the"], k=50)
        assert [len(found) for found in indices] == [3, 0, 0, 0]
        assert indices[0][0] == 1
        assert scores[0].tolist() == sorted(scores[0], reverse=True)
        assert index.search([], k=3) == ([], [])
        assert index.search(["green islands"], k=1)[0][0].tolist() == [1]

    def test_equal_scores_go_by_document_index_across_the_cut(self, backend):
        index = make_bm25(
            backend, ["sea wind", "stone", "wind sea", "sea rain", "sea sun"], 0.9, 0.4
        )
        assert index.search(["sea"], k=2)[0][0].tolist() == [0, 2]

    def test_stop_words_and_stemmer_are_passed_on(self, backend):
        plain = make_bm25(backend, TEXTS, 0.9, 0.4, stopwords=None)
        assert plain.scores("on", range(5)).max() > 0
        stemmed = make_bm25(backend, TEXTS, 0.9, 0.4, stemmer="english")
        assert stemmed.search(["tree"], k=5)[0][0].tolist() == [3, 0]

    @pytest.mark.parametrize("texts", [[], ["", "  "], ["the and of", "."]])
    def test_a_corpus_without_words_is_refused(self, backend, texts):
        with pytest.raises(DataError, match="none of the"):
            make_bm25(backend, texts, 0.9, 0.4)

    @pytest.mark.parametrize("options", [{"stopwords": "klingon"}, {"stemmer": "klingon"}])
    def test_unknown_names_are_refused(self, backend, options):
        with pytest.raises(ConfigError, match="klingon"):
            make_bm25(backend, TEXTS, 0.9, 0.4, **options)


def test_the_named_backend_is_made():
    assert isinstance(make_bm25("bm25s", TEXTS, 0.9, 0.4), Bm25)
    assert isinstance(make_bm25("rank_bm25", TEXTS, 0.9, 0.4), RankBm25)
    with pytest.raises(ConfigError, match="backend 'tantivy' is not one of bm25s, rank_bm25"):
        make_bm25("tantivy", TEXTS, 0.9, 0.4)
