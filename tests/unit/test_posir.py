"""PosIR from its own layout: pooled domains, relative places, lengths, and what is refused."""

import math

import pytest

from benchmark_files import build, text_of, write_parquet
from posbias.benchmarks.posir import load_posir
from posbias.errors import ConfigError, DataError
from posbias.measures.groups import groupings


def document(doc_id: str, words: int, word: str = "word ") -> dict:
    return {"_id": doc_id, "text": word * words}


def asked(query_id: str, span=(0, 10), length=100, tokens=20, **changed) -> dict:
    return {
        "_id": query_id,
        "text": f"what of {query_id}?",
        "pos_char_span": list(span),
        "pos_char_length": length,
        "pos_token_length": tokens,
    } | changed


def judged(query_id: str, doc_id: str, score: int = 1) -> dict:
    return {"query-id": query_id, "corpus-id": doc_id, "score": score}


def write_domain(root, domain, corpus, queries, qrels, language="eng-Latn"):
    folder = root / "PosIR-Benchmark-v1" / language / domain
    write_parquet(folder / "corpus.parquet", corpus)
    write_parquet(folder / "queries.parquet", queries)
    write_parquet(folder / "qrels/test.parquet", qrels)


def write_two(root):
    """Two domains that use the same ids, and one of another language."""
    corpus = [document("d1", 20), document("d2", 40, "deep ")]
    queries = [asked("q1", (0, 10)), asked("q2", (90, 130), 200, 600)]
    write_domain(root, "news", corpus, queries, [judged("q1", "d1"), judged("q2", "d2")])
    write_domain(root, "law", corpus[:1], queries[:1], [judged("q1", "d1", 2)])
    write_domain(root, "news", corpus, queries, [judged("q1", "d1")], "fra-Latn")


def test_domains_are_pooled_and_their_ids_stay_apart(tmp_path):
    write_two(tmp_path)
    benchmark, summary = build(
        tmp_path / "out", "posir", [tmp_path], domains=["news", "law"], language="eng-Latn"
    )
    assert [one.doc_id for one in benchmark.documents] == ["news/d1", "news/d2", "law/d1"]
    assert benchmark.qrels == {
        "news/q1": {"news/d1": 1},
        "news/q2": {"news/d2": 1},
        "law/q1": {"law/d1": 2},
    }
    assert summary["counts"]["parts"] == {
        "news": {"documents": [0, 2], "queries": 2},
        "law": {"documents": [2, 3], "queries": 1},
    }
    assert "searched together" in summary["corpus_note"]
    alone, of_one = build(tmp_path / "alone", "posir", [tmp_path], domains=["law"])
    assert of_one["corpus_note"] is None
    assert [query.query_id for query in alone.queries] == ["law/q1"]


def test_all_domains_of_the_language_are_the_default(tmp_path):
    write_two(tmp_path)
    loaded = load_posir([tmp_path], 1)
    assert sorted({query.query_id for query in loaded.queries}) == ["law/q1", "news/q1", "news/q2"]


def test_the_middle_of_the_span_is_the_place_and_decides_the_third(tmp_path):
    write_two(tmp_path)
    benchmark, _ = build(tmp_path / "out", "posir", [tmp_path], domains=["news"])
    first, second = benchmark.queries
    assert (first.midpoint, second.midpoint) == (5 / 100, 110 / 200)
    assert (first.positions, second.positions) == (("begin",), ("middle",))
    evidence = text_of(benchmark, "news/d2")[second.answer_start : second.answer_end]
    assert evidence == ("deep " * 40)[90:130]
    found = groupings(
        benchmark, {"bins": {"count": 20}, "lengths": {"edges": [0, 512, 1024, 1536]}}
    )
    # 5/100 ends the first bin and belongs to it, as in the benchmark's own code.
    assert found["bins"].groups["0.00-0.05"] == ["news/q1"]
    assert found["bins"].groups["0.50-0.55"] == ["news/q2"]
    assert found["lengths"].groups["0-512"] == ["news/q1"]
    assert found["lengths"].groups["512-1024"] == ["news/q2"]


def single(tmp_path, queries, qrels, corpus=None):
    write_domain(
        tmp_path, "news", corpus or [document("d1", 20), document("d2", 40)], queries, qrels
    )
    return load_posir([tmp_path], 1)


@pytest.mark.parametrize(
    ("span", "length", "midpoint", "offsets"),
    [
        ((150, 190), 100, 1.0, (None, None)),  # beyond the stated length, as the public code clips
        ((40, 40), 100, 0.4, (None, None)),
        ((40, 60), 50, 1.0, (40, 60)),
    ],
)
def test_a_span_that_does_not_fit_keeps_its_place_but_no_offsets(
    tmp_path, span, length, midpoint, offsets
):
    loaded = single(tmp_path, [asked("q1", span, length)], [judged("q1", "d1")])
    (query,) = loaded.queries
    assert query.midpoint == midpoint
    assert (query.answer_start, query.answer_end) == offsets
    assert loaded.counts["queries_whose_document_has_another_length"] == (length != 100)


def test_of_several_relevant_documents_the_length_tells_the_main_one(tmp_path):
    corpus = [document("d1", 20), document("d2", 40), document("d3", 20)]
    both = [judged("q1", "d1"), judged("q1", "d2"), judged("q1", "d3", 0)]
    loaded = single(tmp_path, [asked("q1", (0, 10), 200)], both, corpus)
    assert loaded.queries[0].doc_id == "news/d2"
    same = [judged("q1", "d1"), judged("q1", "d3")]
    loaded = single(tmp_path, [asked("q1", (0, 10), 100)], same, corpus)
    assert loaded.queries[0].doc_id is None
    assert loaded.queries[0].answer_start is None
    assert loaded.queries[0].positions == ("begin",)
    assert loaded.counts["queries_with_several_relevant_documents"] == 1


def test_judgements_of_unknown_queries_are_counted(tmp_path):
    loaded = single(tmp_path, [asked("q1")], [judged("q1", "d1"), judged("q9", "d1")])
    assert loaded.counts["judgements_of_unknown_queries"] == 1
    assert list(loaded.qrels) == ["news/q1"]


ONE = [judged("q1", "d1")]


@pytest.mark.parametrize(
    ("queries", "qrels", "message"),
    [
        ([asked("q1"), asked("q2")], ONE, "queries.parquet: query 'news/q2' has no judgement in"),
        ([asked("q1")], [judged("q1", "d9")], "test.parquet: query 'news/q1': document 'news/d9'"),
        ([asked("q1"), asked("q1")], ONE, "query 'news/q1' occurs twice"),
        ([asked("q1", text="")], ONE, "query 'news/q1' has no text"),
        ([asked("q1", pos_char_span=[3])], ONE, r"'news/q1' has no evidence span: .*\[3\]"),
        ([asked("q1", pos_char_span=None)], ONE, "'news/q1' has no evidence span: .*None"),
        ([asked("q1", (9, 3))], ONE, "'news/q1' has no evidence span"),
        ([asked("q1", length=0)], ONE, "pos_char_length 0 and"),
        ([asked("q1", tokens=0)], ONE, "pos_token_length 0 must"),
        ([asked("")], ONE, "queries.parquet, row 1: the id is ''"),
        ([asked("q1")], [*ONE, judged("q1", "d1", 2)], "row 2: document 'news/d1' is judged twice"),
        ([asked("q1")], [judged("q1", "d1", 0.5)], "row 1: the score 0.5 is not a whole number"),
        ([asked("q1")], [*ONE, judged("q1", "d2", None)], "row 2: the score None is not a whole"),
        ([asked("q1")], [judged("q1", "d1", "x")], "row 1: the score 'x' is not a whole number"),
        ([asked("q1")], [judged("q1", "d1", "1")], "row 1: the score '1' is not a whole number"),
        ([asked("q1")], [judged("q1", "d1", math.nan)], "row 1: the score nan is not a whole"),
        ([asked("q1")], [judged("q1", "d1", math.inf)], "row 1: the score inf is not a whole"),
        ([asked("q1")], [judged("q1", "d1", 1001)], "row 1: the score 1001 is above 1000; .* 0 to"),
        ([asked("q1")], [judged("q1", "d1", 1e9)], "row 1: the score 1000000000 is above 1000"),
        (
            [{"_id": "q1", "text": "t"}],
            ONE,
            "pos_char_length, pos_token_length are missing",
        ),
    ],
)
def test_faults_name_file_and_record(tmp_path, queries, qrels, message):
    with pytest.raises(DataError, match=message):
        single(tmp_path, queries, qrels)


@pytest.mark.parametrize(("score", "grade"), [(1000, 1000), (2.0, 2), (0, 0), (-1, -1)])
def test_whole_scores_are_grades(tmp_path, score, grade):
    loaded = single(tmp_path, [asked("q1")], [judged("q1", "d1", score)])
    assert loaded.qrels == {"news/q1": {"news/d1": grade}}
    assert type(loaded.qrels["news/q1"]["news/d1"]) is int
    assert loaded.queries[0].doc_id == ("news/d1" if grade > 0 else None)


def test_faults_of_documents_name_them(tmp_path):
    with pytest.raises(DataError, match=r"corpus.parquet: document 'news/d1' occurs twice"):
        single(tmp_path, [asked("q1")], ONE, [document("d1", 2), document("d1", 3)])
    with pytest.raises(DataError, match=r"corpus.parquet: document 'news/d1' has no text"):
        single(tmp_path, [asked("q1")], ONE, [document("d1", 0)])


def test_a_domain_that_is_not_there_is_named(tmp_path):
    write_two(tmp_path)
    with pytest.raises(ConfigError, match=r"domain\(s\) medicine not among .*eng-Latn: law, news"):
        load_posir([tmp_path], 1, domains=["law", "medicine"])
    with pytest.raises(DataError, match=r"holds no deu-Latn/<domain>/queries.parquet"):
        load_posir([tmp_path], 1, language="deu-Latn")
    (tmp_path / "PosIR-Benchmark-v1/eng-Latn/law/qrels/test.parquet").unlink()
    with pytest.raises(DataError, match=r"law/qrels/test.parquet: no such file"):
        load_posir([tmp_path], 1)
