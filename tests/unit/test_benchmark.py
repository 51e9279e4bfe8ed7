"""Test collections: how one is built from held-out documents, and what is refused."""

import dataclasses
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import build_benchmark
from posbias.benchmarks.heldout import heldout_benchmark
from posbias.benchmarks.loaders import load
from posbias.benchmarks.records import (
    BenchmarkDocument,
    BenchmarkQuery,
    check_documents,
    check_queries,
    read_benchmark,
    read_queries,
    span_midpoint,
    third_of,
)
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, read_jsonl, write_json, write_jsonl
from posbias.retrieval.trec import read_qrels, write_qrels

POSITIONS = ("begin", "middle", "end")


def document(doc_id: str, split: str = "heldout") -> dict:
    return {"doc_id": doc_id, "text": f"{doc_id} tells of ships and stones.", "split": split}


def candidate(doc_id: str, position: str, number: int = 0, **changed) -> dict:
    return {
        "query_id": f"{doc_id}-{position}-{number}",
        "doc_id": doc_id,
        "position": position,
        "query": f"ships {number}",
        "answer_start": 3,
        "answer_end": 8,
    } | changed


def collection(n_documents: int = 6) -> tuple[list[dict], list[dict]]:
    splits = ("train", "heldout", "heldout")
    documents = [document(f"doc{i}", splits[i % 3]) for i in range(n_documents)]
    candidates = [
        candidate(one["doc_id"], position, number)
        for one in documents
        for position in POSITIONS
        for number in range(3)
    ]
    return documents, candidates


def test_only_held_out_documents_all_of_them_and_their_queries():
    benchmark = heldout_benchmark(*collection(), queries_per_position=100, seed=1)
    heldout = ["doc1", "doc2", "doc4", "doc5"]
    assert [one.doc_id for one in benchmark.documents] == heldout
    assert Counter(q.positions for q in benchmark.queries) == {(p,): 12 for p in POSITIONS}
    assert {q.doc_id for q in benchmark.queries} == set(heldout)
    assert benchmark.qrels == {q.query_id: {q.doc_id: 1} for q in benchmark.queries}


def test_at_most_so_many_queries_per_position_fewer_where_fewer_exist():
    documents, candidates = collection()
    scarce = [c for c in candidates if c["position"] != "middle" or c["doc_id"] == "doc1"]
    benchmark = heldout_benchmark(documents, scarce, queries_per_position=5, seed=1)
    found = Counter(q.positions[0] for q in benchmark.queries)
    assert found == {"begin": 5, "middle": 3, "end": 5}


@given(st.randoms(use_true_random=False), st.integers(1, 8))
def test_the_choice_depends_on_ids_and_seed_alone(random, wanted):
    documents, candidates = collection()
    chosen = heldout_benchmark(documents, candidates, wanted, 1)
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert heldout_benchmark(documents, shuffled, wanted, 1).queries == chosen.queries
    more = heldout_benchmark(documents, candidates, wanted + 1, 1)
    assert set(chosen.queries) < set(more.queries)


def test_another_seed_chooses_otherwise():
    first, second = (heldout_benchmark(*collection(30), 10, seed).queries for seed in (1, 2))
    assert {q.query_id for q in first} != {q.query_id for q in second}


def test_a_position_without_a_query_is_named():
    documents, candidates = collection()
    with pytest.raises(DataError, match="no query for evidence in the end"):
        heldout_benchmark(documents, [c for c in candidates if c["position"] != "end"], 5, 1)


def test_an_unknown_position_is_named():
    with pytest.raises(DataError, match="'doc1-beginning-0' has the position 'beginning'"):
        heldout_benchmark([document("doc1")], [candidate("doc1", "beginning")], 5, 1)


DOCUMENTS = [BenchmarkDocument("d1", "old ships"), BenchmarkDocument("d2", "stones")]
QUERIES = [
    BenchmarkQuery("q1", "ships", "d1", ("end",), 4, 9, midpoint=6.5 / 9, document_tokens=2),
    BenchmarkQuery("q2", "stones", None, ("begin", "end"), None, None),
]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "corpus is empty"),
        ([*DOCUMENTS, BenchmarkDocument("d1", "again")], "document 'd1' occurs twice"),
        ([BenchmarkDocument("d1", " ")], "document 'd1' has no text"),
        ([BenchmarkDocument("d1", None)], "document 'd1' has no text"),
        ([BenchmarkDocument(7, "text")], "document 1 has the id 7"),
        ([BenchmarkDocument("", "text")], "document 1 has the id ''"),
    ],
)
def test_faults_of_documents_name_file_and_record(tmp_path, documents, message):
    with pytest.raises(DataError, match=f"corpus.jsonl: .*{message}"):
        check_documents(documents, tmp_path / "corpus.jsonl")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"query_id": "q2"}, "query 'q2' occurs twice"),
        ({"text": "\t"}, "query 'q1' has no text"),
        ({"positions": ("beginning",)}, "query 'q1' has the position 'beginning'"),
        ({"positions": ("end", "end")}, "query 'q1' names a position twice"),
        ({"midpoint": 1.5}, "query 'q1': the middle of its evidence lies at 1.5"),
        ({"doc_id": None}, r"query 'q1': \[4, 9\) is a range of no document"),
        ({"doc_id": "d9"}, "query 'q1' belongs to document 'd9'"),
        ({"answer_end": 10}, r"query 'q1': \[4, 10\) is not a range"),
        ({"answer_start": -1}, r"query 'q1': \[-1, 9\)"),
        ({"answer_start": 9}, r"query 'q1': \[9, 9\)"),
        ({"answer_start": None}, r"query 'q1': \[None, 9\)"),
        ({"answer_end": None}, r"query 'q1': \[4, None\)"),
        ({"answer_start": 4.0}, r"query 'q1': \[4.0, 9\)"),
    ],
)
def test_faults_of_queries_name_file_and_record(tmp_path, changed, message):
    queries = [dataclasses.replace(QUERIES[0], **changed), QUERIES[1]]
    with pytest.raises(DataError, match=f"queries.jsonl: {message}"):
        check_queries(queries, DOCUMENTS, tmp_path / "queries.jsonl")


def test_a_span_may_be_unknown_unless_it_is_needed(tmp_path):
    check_queries(QUERIES, DOCUMENTS, tmp_path / "queries.jsonl")
    with pytest.raises(DataError, match="query 'q2' has no evidence span"):
        check_queries(QUERIES, DOCUMENTS, tmp_path / "queries.jsonl", spans=True)
    with pytest.raises(DataError, match="there is no query"):
        check_queries([], DOCUMENTS, tmp_path / "queries.jsonl")


def test_a_query_without_any_known_position_is_no_fault(tmp_path):
    check_queries([BenchmarkQuery("q", "ships", None, (), None, None)], DOCUMENTS, tmp_path)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_the_middle_of_a_span_lies_in_its_text_or_is_unknown(start, end, length):
    middle = span_midpoint(start, end, length)
    if start < end <= length:
        assert 0 < middle < 1
        assert middle + span_midpoint(length - end, length - start, length) == pytest.approx(1)
    else:
        assert middle is None


def test_the_thirds_of_a_middle():
    assert [third_of(m) for m in (0, 0.33, 0.34, 0.66, 0.67, 1)] == [
        one for one in POSITIONS for _ in range(2)
    ]


def write_collection(folder, qrels):
    files = [folder / "corpus.jsonl", folder / "queries.jsonl", folder / "qrels.txt"]
    write_jsonl(files[0], (one.record() for one in DOCUMENTS))
    write_jsonl(files[1], (one.record() for one in QUERIES))
    write_qrels(files[2], qrels)
    return files


def test_a_collection_comes_back_as_written(tmp_path):
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1, "d1": 0}}
    benchmark = read_benchmark(*write_collection(tmp_path, qrels))
    assert (benchmark.documents, benchmark.queries) == (DOCUMENTS, QUERIES)
    assert benchmark.qrels == qrels
    assert benchmark.excluded == {}
    assert read_queries(tmp_path / "queries.jsonl") == QUERIES
    lines = read_jsonl(tmp_path / "queries.jsonl")
    assert lines[1]["positions"] == ["begin", "end"]
    assert "midpoint" in lines[0]
    assert "midpoint" not in lines[1]


@pytest.mark.parametrize(
    ("excluded", "message"),
    [
        ({"q9": ["d1"]}, "query 'q9' is not among the queries"),
        ({"q1": ["d2", "d1"]}, "document 'd1' is both judged and to be left out"),
        ({"q1": "d2"}, "expected an object of lists"),
        ([["q1", "d2"]], "expected an object of lists"),
    ],
)
def test_faults_of_exclusions_name_file_and_record(tmp_path, excluded, message):
    files = write_collection(tmp_path, {"q1": {"d1": 1}, "q2": {"d2": 1}})
    write_json(tmp_path / "excluded.json", excluded)
    with pytest.raises(DataError, match=f"excluded.json: .*{message}"):
        read_benchmark(*files, excluded=tmp_path / "excluded.json")


def test_exclusions_come_with_the_collection(tmp_path):
    files = write_collection(tmp_path, {"q1": {"d1": 1}, "q2": {"d2": 1}})
    write_json(tmp_path / "excluded.json", {"q1": ["d2"]})
    assert read_benchmark(*files, excluded=tmp_path / "excluded.json").excluded == {"q1": ["d2"]}


@pytest.mark.parametrize("positions", ["begin", [1], None])
def test_positions_that_are_no_list_of_texts_are_named_by_line(tmp_path, positions):
    write_jsonl(tmp_path / "queries.jsonl", [QUERIES[0].record() | {"positions": positions}])
    with pytest.raises(DataError, match=r"queries.jsonl, line 1: positions is"):
        read_queries(tmp_path / "queries.jsonl")


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ({"q1": {"d1": 1}}, "query 'q2' has no judgement"),
        ({"q1": {"d1": 1, "gone": 1}, "q2": {"d2": 1}}, "document 'gone' is judged"),
        ({"q1": {"d1": 1}, "q2": {"d2": 1}, "q9": {"d1": 1}}, "query 'q9' is judged"),
    ],
)
def test_faults_of_judgements_name_file_and_record(tmp_path, qrels, message):
    files = write_collection(tmp_path, qrels)
    with pytest.raises(DataError, match=f"qrels.txt: .*{message}"):
        read_benchmark(*files)


def test_a_missing_field_is_named_by_line(tmp_path):
    files = write_collection(tmp_path, {"q1": {"d1": 1}, "q2": {"d2": 1}})
    write_jsonl(files[1], [{"query_id": "q1", "text": "ships", "doc_id": "d1"}])
    with pytest.raises(DataError, match=r"queries\.jsonl, line 1: the field\(s\) positions"):
        read_benchmark(*files)


def build(folder, documents, candidates, **options):
    write_jsonl(folder / "documents.jsonl", documents)
    write_jsonl(folder / "candidates.jsonl", candidates)
    build_benchmark.main(
        files=[folder / "documents.jsonl", folder / "candidates.jsonl"],
        corpus=folder / "out/corpus.jsonl",
        queries=folder / "out/queries.jsonl",
        qrels=folder / "out/qrels.txt",
        excluded=folder / "out/excluded.json",
        summary=folder / "out/summary.json",
        kind="heldout",
        options={"queries_per_position": 4} | options,
        seed=1,
    )


def test_the_script_writes_a_collection_that_can_be_read(tmp_path):
    documents, candidates = collection()
    build(tmp_path, documents, candidates)
    out = tmp_path / "out"
    files = [out / name for name in ("corpus.jsonl", "queries.jsonl", "qrels.txt")]
    benchmark = read_benchmark(*files, spans=True, excluded=out / "excluded.json")
    assert benchmark == heldout_benchmark(documents, candidates, 4, 1)
    assert read_jsonl(out / "corpus.jsonl")[0] == {
        "doc_id": "doc1",
        "text": "doc1 tells of ships and stones.",
    }
    assert len(read_qrels(out / "qrels.txt")) == 12
    assert benchmark.queries[0].midpoint == 5.5 / 31
    assert read_json(out / "summary.json") == {
        "kind": "heldout",
        "documents": 4,
        "queries": 12,
        "positions": dict.fromkeys(POSITIONS, 4),
        "judgements": 12,
        "excluded": 0,
        "counts": {"candidates": 54, "candidates_left_out": 42},
        "corpus_note": None,
        "options": {"queries_per_position": 4},
        "seed": 1,
    }


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("trec", {}, "kind 'trec' is not one of heldout, squad, fineweb, posir, beir"),
        ("heldout", {}, "options of kind heldout: .*queries_per_position"),
        ("heldout", {"queries_per_position": 0}, "queries_per_position must be a whole number"),
        ("squad", {"tiny": True}, "options of kind squad: .*'tiny'"),
    ],
)
def test_an_unknown_kind_or_option_is_named(kind, options, message):
    with pytest.raises(ConfigError, match=message):
        load(kind, [], options, 1)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"query": ""}, "candidates.jsonl: query 'doc1-begin-9' has no text"),
        ({"answer_end": 900}, r"candidates.jsonl: query 'doc1-begin-9': \[3, 900\)"),
        ({"query_id": "doc1 begin"}, "'doc1 begin' is empty or holds white space"),
    ],
)
def test_the_script_writes_nothing_from_a_broken_candidate(tmp_path, broken, message):
    documents, candidates = collection()
    candidates.append(candidate("doc1", "begin", 9, **broken))
    with pytest.raises(DataError, match=message):
        build(tmp_path, documents, candidates, queries_per_position=100)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
