"""Queries of a collection: cloze queries in other words and titles, up to a limit."""

from collections import Counter

import numpy as np
import pytest

from posbias.benchmarks.records import BenchmarkDocument, check_queries
from posbias.corpus.leads import Passage
from posbias.errors import ConfigError, DataError
from posbias.listwise.queries import cloze_queries, make_queries, title_queries

OPTIONS = {
    "per_segment": 1,
    "keep_share": 0.8,
    "min_words": 3,
    "max_words": 6,
    "min_word_chars": 3,
}
CLOZE = {"options": OPTIONS, "swap_share": 0.5, "least_texts": 1}
TOPICS = ["river", "mountain", "castle", "engine", "painter", "island", "theorem", "orchestra"]


def sentence(topic: str, other: str) -> str:
    return f"The old {topic} near {other} attracts many curious visitors during summer."


PASSAGES = [
    Passage(
        f"d{number}",
        topic.title(),
        " ".join(sentence(topic, TOPICS[(number + step) % 8]) for step in (1, 2, 3)),
    )
    for number, topic in enumerate(TOPICS)
]


def encode(words: list[str]) -> np.ndarray:
    """Vectors by the letters of a word."""
    vectors = np.array([[word.count(letter) + 0.1 for letter in "aeiorst"] for word in words])
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def made(kind="cloze", passages=PASSAGES, cloze=CLOZE, limit=1000, seed=1):
    dropped = Counter()
    return make_queries(kind, passages, encode, cloze, limit, seed, dropped), dropped


def test_every_segment_asks_for_its_passage():
    queries, dropped = made()
    assert len(queries) == 3 * len(PASSAGES)
    assert Counter(query.positions[0] for query in queries) == {"begin": 8, "middle": 8, "end": 8}
    documents = [BenchmarkDocument(p.doc_id, p.text) for p in PASSAGES]
    check_queries(queries, documents, "here", spans=True)
    assert dropped == Counter({"above the limit": 0})


def test_without_swaps_the_words_are_those_of_the_evidence():
    texts = {passage.doc_id: passage.text for passage in PASSAGES}
    queries, _ = made(cloze={**CLOZE, "swap_share": 0.0})
    for query in queries:
        evidence = texts[query.doc_id][query.answer_start : query.answer_end].lower()
        assert all(word in evidence for word in query.text.split())


def test_with_every_swap_hardly_a_word_is_left():
    plain, swapped = (
        {query.query_id: set(query.text.split()) for query in made(cloze=cloze)[0]}
        for cloze in ({**CLOZE, "swap_share": 0.0}, {**CLOZE, "swap_share": 1.0})
    )
    kept = sum(len(plain[query_id] & words) for query_id, words in swapped.items())
    assert plain.keys() == swapped.keys()
    assert kept < 0.4 * sum(len(words) for words in plain.values())


def test_titles_ask_for_their_passages():
    queries, dropped = made("titles")
    assert {query.query_id: query.text for query in queries} == {
        f"{passage.doc_id}-title": passage.title for passage in PASSAGES
    }
    assert {(query.positions, query.answer_start) for query in queries} == {(("begin",), None)}
    assert [query.doc_id for query in title_queries(PASSAGES)] == [p.doc_id for p in PASSAGES]
    assert not +dropped


@pytest.mark.parametrize("kind", ["cloze", "titles"])
def test_the_limit_keeps_its_members(kind):
    every, _ = made(kind)
    few, dropped = made(kind, limit=5)
    assert few == every[:5]
    assert dropped["above the limit"] == len(every) - 5
    others, _ = made(kind, passages=list(reversed(PASSAGES)), limit=5)
    assert [query.query_id for query in others] == [query.query_id for query in few]
    assert made(kind, limit=5, seed=2)[0] != few


def test_what_yields_no_query_is_counted():
    short = Passage("d99", "Short", "Of the and it.")
    dropped = Counter()
    found = cloze_queries([*PASSAGES, short], encode, **CLOZE, seed=1, dropped=dropped)
    assert len(found) == 24
    assert sum(dropped.values()) == 3


def test_what_cannot_work_is_named():
    with pytest.raises(ConfigError, match="queries 'clozes' are neither cloze nor titles"):
        made("clozes")
    with pytest.raises(ConfigError, match=r"listwise.queries.options: .*min_wrods"):
        made(cloze={**CLOZE, "options": {**OPTIONS, "min_wrods": 2}})
    with pytest.raises(DataError, match="no query could be made from 1 passages"):
        made(passages=[Passage("d", "T", "Of the.")])
    with pytest.raises(DataError, match="no query could be made from 0 passages"):
        made("titles", passages=[])
