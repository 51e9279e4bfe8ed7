"""BEIR's layout: titles, self-retrieval, judgements that lead nowhere, sampled corpora, streams."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark_files import build, text_of, write_json_lines, write_parquet
from posbias.benchmarks.beir import load_beir
from posbias.errors import DataError
from posbias.files import read_jsonl, write_jsonl
from posbias.measures.ndcg import ndcg_per_query
from posbias.retrieval.trec import make_run, read_qrels


def document(doc_id: str, text: str = "sails", title: str = "Ships") -> dict:
    return {"_id": doc_id, "title": title, "text": text}


def asked(query_id: str, text: str = "what sails?") -> dict:
    return {"_id": query_id, "text": text}


CORPUS = [document(f"d{i}", f"text {i}") for i in range(6)]
QUERIES = [asked("q1"), asked("q2"), asked("unjudged")]
QRELS = [("q1", "d0", 2), ("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d3", 1)]


def write_qrels(path, rows, header="query-id\tcorpus-id\tscore"):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [header, *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write(folder, corpus=CORPUS, queries=QUERIES, qrels=QRELS, split="test"):
    write_json_lines(folder / "corpus.jsonl", corpus)
    write_json_lines(folder / "queries.jsonl", queries)
    write_qrels(folder / f"qrels/{split}.tsv", qrels)
    return [folder]


def load(folder, seed=1, **changed):
    names = ("split", "title_separator", "exclude_identical_ids", "sample_documents")
    options = {name: changed.pop(name) for name in names if name in changed}
    loaded = load_beir(write(folder, **changed), seed, **options)
    return loaded, list(loaded.documents)


def test_a_collection_with_its_grades_comes_out(tmp_path):
    benchmark, summary = build(tmp_path / "out", "beir", write(tmp_path / "in"))
    assert [one.doc_id for one in benchmark.documents] == [f"d{i}" for i in range(6)]
    assert benchmark.documents[3].text == "Ships text 3"
    assert benchmark.qrels == {"q1": {"d0": 2, "d1": 1, "d2": 0}, "q2": {"d3": 1}}
    assert [(q.query_id, q.doc_id, q.positions) for q in benchmark.queries] == [
        ("q1", None, ()),
        ("q2", None, ()),
    ]
    assert summary["corpus_note"] is None
    assert summary["positions"] == {}
    assert summary["counts"] == {
        "repeated_judgements": 0,
        "judgements_on_the_query_itself": 0,
        "judgements_outside_the_corpus": 0,
        "queries_with_judgements_outside_the_corpus": 0,
        "queries_without_judgements_left": 0,
        "documents_in_the_corpus": 6,
        "empty_documents": 0,
        "documents_left_out_of_the_sample": 0,
        "renamed_document_ids": 0,
        "queries_without_a_judgement_in_the_split": 1,
    }


def test_the_hubs_two_repositories_give_the_same_collection(tmp_path):
    write_parquet(tmp_path / "x/corpus/x-corpus-00001-of-00002.parquet", CORPUS[3:])
    write_parquet(tmp_path / "x/corpus/x-corpus-00000-of-00002.parquet", CORPUS[:3])
    write_parquet(tmp_path / "x/queries/x-queries.parquet", QUERIES)
    write_qrels(tmp_path / "x-qrels/test.tsv", QRELS)
    write_qrels(tmp_path / "x-qrels/train.tsv", QRELS[:1])
    packed = tmp_path / "packed"
    write_json_lines(packed / "corpus.jsonl.gz", CORPUS)
    write_json_lines(packed / "queries.jsonl.gz", QUERIES)
    plain, _ = build(tmp_path / "a", "beir", write(tmp_path / "plain"))
    hub, _ = build(tmp_path / "b", "beir", [tmp_path / "x", tmp_path / "x-qrels"])
    gz, _ = build(tmp_path / "c", "beir", [packed, tmp_path / "x-qrels"])
    assert plain == hub == gz


@pytest.mark.parametrize(
    ("title", "text", "separator", "expected"),
    [
        ("Ships", "sails", " ", "Ships sails"),
        ("", "sails", " ", "sails"),
        (None, "sails", " ", "sails"),
        ("Ships", "", " ", "Ships"),
        ("Ships", "sails", "\n", "Ships\nsails"),
        ("Ships", "sails", None, "sails"),
    ],
)
def test_title_and_text_are_joined(tmp_path, title, text, separator, expected):
    corpus = [document("d0", text, title), *CORPUS[1:]]
    _, documents = load(tmp_path, corpus=corpus, title_separator=separator)
    assert documents[0].text == expected


def test_a_corpus_without_titles_is_read(tmp_path):
    corpus = [{"_id": one["_id"], "text": one["text"]} for one in CORPUS]
    _, documents = load(tmp_path, corpus=corpus)
    assert documents[1].text == "text 1"


def test_empty_documents_are_left_out_and_counted(tmp_path):
    corpus = [*CORPUS[:3], document("d3", "", ""), document("d4", " ", "\t"), CORPUS[5]]
    loaded, documents = load(tmp_path, corpus=corpus)
    assert [one.doc_id for one in documents] == ["d0", "d1", "d2", "d5"]
    assert loaded.counts["empty_documents"] == 2
    # q2 is judged on an empty document only: nothing is left of it.
    assert list(loaded.qrels) == ["q1"]
    assert loaded.counts["queries_without_judgements_left"] == 1


def test_a_document_with_the_querys_id_is_excluded_from_its_run(tmp_path):
    corpus = [*CORPUS, document("q1", "what sails?", "")]
    qrels = [*QRELS, ("q1", "q1", 1)]
    files = write(tmp_path / "in", corpus, QUERIES, qrels)
    benchmark, summary = build(tmp_path / "out", "beir", files)
    assert benchmark.excluded == {"q1": ["q1"]}
    assert "q1" not in benchmark.qrels["q1"]
    assert text_of(benchmark, "q1") == "what sails?"  # others may still find it
    assert summary["excluded"] == 1
    assert summary["counts"]["judgements_on_the_query_itself"] == 1
    kept = load_beir(files, 1, exclude_identical_ids=False)
    assert kept.excluded == {}
    assert kept.qrels["q1"]["q1"] == 1


def test_judgements_outside_the_corpus_leave_the_ideal_ranking_and_are_counted(tmp_path):
    qrels = [*QRELS, ("q1", "gone", 2), ("q1", "lost", 1), ("unjudged", "gone", 1)]
    loaded, documents = load(tmp_path, qrels=qrels)
    assert loaded.qrels == {"q1": {"d0": 2, "d1": 1, "d2": 0}, "q2": {"d3": 1}}
    assert [query.query_id for query in loaded.queries] == ["q1", "q2"]
    assert loaded.counts["judgements_outside_the_corpus"] == 3
    assert loaded.counts["queries_with_judgements_outside_the_corpus"] == 2
    assert loaded.counts["queries_without_judgements_left"] == 1
    # A perfect ranking reaches 1, which it could not with the dangling judgement.
    ids = [one.doc_id for one in documents]
    run = make_run(["q1"], ids, [np.array([0, 1, 2])], [np.array([3.0, 2.0, 1.0])])
    assert ndcg_per_query({"q1": loaded.qrels["q1"]}, run, 10)["q1"] == pytest.approx(1.0)
    dangling = {"q1": loaded.qrels["q1"] | {"gone": 2}}
    assert ndcg_per_query(dangling, run, 10)["q1"] < 0.8


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 3), min_size=8, max_size=8), min_size=1, max_size=3))
def test_graded_ndcg_is_that_of_ir_measures_on_the_files(tmp_path_factory, grades):
    import ir_measures

    folder = tmp_path_factory.mktemp("graded")
    corpus = [document(f"d{i}") for i in range(8)]
    queries = [asked(f"q{i}") for i in range(len(grades))]
    qrels = [
        (f"q{q}", f"d{d}", grade) for q, row in enumerate(grades) for d, grade in enumerate(row)
    ]
    benchmark, _ = build(folder / "out", "beir", write(folder / "in", corpus, queries, qrels))
    order = [np.roll(np.arange(8), q) for q in range(len(grades))]
    scores = [np.arange(8, 0, -1.0)] * len(grades)
    ids = [query.query_id for query in benchmark.queries]
    run = make_run(ids, [one.doc_id for one in benchmark.documents], order, scores)
    ours = ndcg_per_query(benchmark.qrels, run, 5)
    rows = list(ir_measures.read_trec_qrels(str(folder / "out/qrels.txt")))
    assert len(rows) == len(qrels)
    theirs = ir_measures.iter_calc([ir_measures.nDCG @ 5], rows, run)
    assert ours == pytest.approx({one.query_id: one.value for one in theirs})
    # And by the definition, on the grades themselves.
    discounts = 1 / np.log2(np.arange(2, 7))
    for number, row in enumerate(grades):
        best = np.sort(row)[::-1][:5] @ discounts
        gain = np.array(row)[order[number][:5]] @ discounts
        assert ours[f"q{number}"] == pytest.approx(gain / best if best else 0.0)


def sample(folder, n, seed=1, corpus=None):
    corpus = corpus or [document(f"d{i}", f"text {i}") for i in range(60)]
    return load(folder, seed, corpus=corpus, sample_documents=n)


def test_a_sampled_corpus_keeps_the_judged_documents_and_says_so(tmp_path):
    loaded, documents = sample(tmp_path, 10)
    ids = [one.doc_id for one in documents]
    assert {"d0", "d1", "d2", "d3"} < set(ids)
    assert len(ids) == 14
    assert ids == sorted(ids, key=lambda one: int(one[1:]))  # the order of the corpus
    assert loaded.corpus_note.startswith(
        "subsampled corpus: 4 judged documents and 10 of 56 others"
    )
    assert loaded.counts["documents_left_out_of_the_sample"] == 46
    assert len(sample(tmp_path, 0)[1]) == 4


def test_samples_are_nested_and_do_not_depend_on_other_documents(tmp_path):
    def ids(*arguments, **named):
        return {one.doc_id for one in sample(tmp_path, *arguments, **named)[1]}

    assert ids(10) < ids(11)
    assert ids(10) != ids(10, seed=2)
    more = [document(f"e{i}") for i in range(60)]
    everything = [document(f"d{i}", f"text {i}") for i in range(60)] + more
    among_more = {one for one in ids(10, corpus=everything) if one.startswith("d")}
    assert among_more <= ids(10)


def test_a_sample_as_large_as_the_corpus_is_the_corpus(tmp_path):
    loaded, documents = sample(tmp_path, 56)
    assert len(documents) == 60
    assert loaded.corpus_note is None
    assert loaded.counts["documents_left_out_of_the_sample"] == 0


def test_ids_of_wikipedia_titles_are_mapped_for_trec_files(tmp_path):
    names = ["Fjörð_(ship)", "a\u2003b", "100%", "0012"]
    corpus = [document(name, f"text {i}") for i, name in enumerate(names)]
    qrels = [("q1", name, 1) for name in names]
    files = write(tmp_path / "in", corpus, QUERIES, qrels)
    benchmark, summary = build(tmp_path / "out", "beir", files)
    safe = ["Fjörð_(ship)", "a%E2%80%83b", "100%25", "0012"]
    assert [one.doc_id for one in benchmark.documents] == safe
    assert read_qrels(tmp_path / "out/qrels.txt") == {"q1": dict.fromkeys(safe, 1)}
    assert summary["counts"]["renamed_document_ids"] == 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"corpus": [*CORPUS, document("d0")]}, "corpus.jsonl: document 'd0' occurs twice"),
        ({"corpus": [document(7)]}, "corpus.jsonl, row 1: _id is 7"),
        ({"corpus": [document("d0", 5)]}, "corpus.jsonl, row 1: title and text must be texts"),
        ({"corpus": [{"_id": "d0"}]}, r"corpus.jsonl, line 1: the field\(s\) text are missing"),
        ({"corpus": [document("x")]}, "holds none of the documents judged in test"),
        ({"corpus": [document("d0", "", "")]}, "corpus.jsonl: the corpus is empty"),
        ({"queries": [asked("q1"), asked("q1")]}, "queries.jsonl, row 2: query 'q1' occurs twice"),
        ({"queries": [asked("q1"), asked("q2", "")]}, "queries.jsonl: query 'q2' has no text"),
        ({"qrels": [("q9", "d0", 1)]}, "test.tsv, line 2: query 'q9' is judged but is not"),
        ({"qrels": [("q1", "d0", 0.5)]}, "test.tsv, line 2: the score '0.5' is not a whole"),
        ({"qrels": [("q1", "d0")]}, "test.tsv, line 2: 2 columns, expected 3"),
        ({"qrels": [("q1", "d0", 1), ("q1", "d0", 2)]}, "line 3: document 'd0' is judged twice"),
        ({"qrels": []}, "test.tsv: holds no judgement"),
        ({"split": "dev"}, "expected one dev.tsv with the judgements, found .*test.tsv"),
    ],
)
def test_faults_name_file_and_record(tmp_path, changed, message):
    options = {"split": changed["split"]} if "split" in changed else {}
    files = write(tmp_path, **{k: v for k, v in changed.items() if k != "split"})
    with pytest.raises(DataError, match=message):
        load_beir(files, 1, **options)


def test_a_missing_or_doubled_table_is_named(tmp_path):
    files = write(tmp_path)
    write_parquet(tmp_path / "corpus/x.parquet", CORPUS)
    with pytest.raises(DataError, match="corpus in two formats"):
        load_beir(files, 1)
    (tmp_path / "queries.jsonl").unlink()
    (tmp_path / "corpus/x.parquet").unlink()
    with pytest.raises(DataError, match="no Parquet file or JSON lines of queries"):
        load_beir(files, 1)


def test_a_fault_late_in_the_corpus_leaves_no_file(tmp_path):
    files = write(tmp_path / "in", [*CORPUS, document("d0")])
    with pytest.raises(DataError, match="occurs twice"):
        build(tmp_path / "out", "beir", files)
    assert not (tmp_path / "out").exists()


def test_the_corpus_is_never_in_memory_as_a_whole(tmp_path):
    text = "sails " * 500  # 3 kB; 4,000 of them are 12 MB
    corpus = ({"_id": f"d{i}", "title": "", "text": f"{i} {text}"} for i in range(4000))
    (tmp_path / "in").mkdir()
    write_jsonl(tmp_path / "in/corpus.jsonl", corpus)
    write_json_lines(tmp_path / "in/queries.jsonl", QUERIES)
    write_qrels(tmp_path / "in/qrels/test.tsv", QRELS)
    tracemalloc.start()
    loaded = load_beir([tmp_path / "in"], 1, sample_documents=3000)
    written = write_jsonl(tmp_path / "out.jsonl", (one.record() for one in loaded.documents))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert written == 3004
    assert len(read_jsonl(tmp_path / "out.jsonl")) == 3004
    assert peak < 2_000_000
