"""Lists as rows, and the files of a collection: order, the placeholder, and what is refused."""

import numpy as np
import pytest
from safetensors.numpy import save_file

from listwise_toy import toy_collection, toy_qrels, unit_rows
from posbias.errors import DataError
from posbias.files import write_jsonl
from posbias.listwise.lists import (
    lists_run,
    read_collection,
    read_vectors,
    relevant_rows,
    run_lists,
)
from posbias.retrieval.trec import check_run, read_run, write_qrels, write_run


@pytest.fixture
def files(tmp_path):
    """Three passages, two queries, and vectors of two encoders for them."""
    rng = np.random.default_rng(0)
    write_jsonl(
        tmp_path / "passages.jsonl", ({"doc_id": f"d{i}", "text": f"text {i}"} for i in range(3))
    )
    write_jsonl(
        tmp_path / "queries.jsonl",
        (
            {
                "query_id": f"q{i}",
                "text": f"question {i}",
                "doc_id": f"d{i}",
                "positions": ["begin"],
                "answer_start": None,
                "answer_end": None,
            }
            for i in range(2)
        ),
    )
    write_qrels(tmp_path / "qrels.txt", {"q0": {"d0": 1}, "q1": {"d1": 1, "d2": 0}})
    offered = {name: unit_rows(rng, 3, width) for name, width in (("one", 4), ("two", 6))}
    empty = {f"placeholder_{name}": unit_rows(rng, 1, v.shape[1]) for name, v in offered.items()}
    asked = {name: unit_rows(rng, 2, vectors.shape[1]) for name, vectors in offered.items()}
    save_file({**offered, **empty}, str(tmp_path / "passages.safetensors"), {"placeholder": "N/A"})
    save_file(asked, str(tmp_path / "queries.safetensors"))
    names = ("passages.jsonl", "queries.jsonl", "qrels.txt")
    paths = [tmp_path / name for name in (*names, "passages.safetensors", "queries.safetensors")]
    return paths, offered, empty, asked


def test_the_last_passage_is_the_placeholder(files):
    paths, offered, empty, asked = files
    collection, qrels = read_collection(*paths, ["one"])
    assert collection.doc_ids == ["d0", "d1", "d2", "placeholder"]
    assert collection.passages == ["text 0", "text 1", "text 2", "N/A"]
    assert collection.queries == ["question 0", "question 1"]
    assert qrels == {"q0": {"d0": 1}, "q1": {"d1": 1, "d2": 0}}
    np.testing.assert_array_equal(collection.passage_vectors[:3], offered["one"])
    np.testing.assert_array_equal(collection.passage_vectors[3:], empty["placeholder_one"])
    np.testing.assert_array_equal(collection.query_vectors, asked["one"])


def test_the_cosine_of_two_encoders_is_their_mean(files):
    paths, offered, _, asked = files
    collection, _ = read_collection(*paths, ["two", "one"])
    assert collection.passage_vectors.shape == (4, 10)
    assert collection.passage_vectors.dtype == collection.query_vectors.dtype == np.float32
    together = collection.query_vectors @ collection.passage_vectors[:3].T
    mean = sum(asked[name] @ offered[name].T for name in ("one", "two")) / 2
    np.testing.assert_allclose(together, mean, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(collection.passage_vectors, axis=1), 1, atol=1e-6)


def test_vectors_that_do_not_fit_are_named(files, tmp_path):
    paths, *_ = files
    with pytest.raises(DataError, match="three should hold 3 rows, found nothing"):
        read_collection(*paths, ["three"])
    with pytest.raises(DataError, match="one should hold 4 rows, found 3 rows"):
        read_vectors(paths[3], {"one": 4})
    (tmp_path / "broken").write_bytes(b"no tensors")
    for name in ("broken", "missing"):
        with pytest.raises(DataError, match=f"{name}: cannot be read as vectors"):
            read_vectors(tmp_path / name, {"one": 3})


def test_a_passage_may_not_be_called_placeholder(files):
    paths, *_ = files
    paths[0].write_text(paths[0].read_text().replace('"d2"', '"placeholder"'))
    write_qrels(paths[2], {"q0": {"d0": 1}, "q1": {"d1": 1}})
    with pytest.raises(DataError, match="'placeholder' occurs twice"):
        read_collection(*paths, ["one"])


def test_lists_keep_the_order_of_the_run_and_stop_at_the_depth():
    collection = toy_collection(3, 6)
    run = {"q2": {"d5": 3.0, "d0": 2.0, "d4": 1.0}, "q0": {"d1": 1.0}}
    lists = run_lists(run, collection, 2)
    assert [(query, rows.tolist()) for query, rows in lists] == [(2, [5, 0]), (0, [1])]
    assert run_lists({}, collection, 2) == []


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q9": {"d1": 1.0}}, "query 'q9': the collection lacks it"),
        ({"q1": {"d1": 2.0, "d99": 1.0}}, "query 'q1': the collection lacks document 'd99'"),
    ],
)
def test_a_run_over_another_collection_is_refused(run, message):
    with pytest.raises(DataError, match=message):
        run_lists(run, toy_collection(3, 6), 1)


def test_orders_become_a_run_that_reads_back_as_the_same_lists(tmp_path):
    collection = toy_collection(3, 40)
    rng = np.random.default_rng(1)
    orders = [rng.permutation(40), rng.permutation(40)[:7], np.empty(0, dtype=np.int64)]
    run = lists_run(collection, [2, 0, 1], orders)
    check_run(run)
    write_run(tmp_path / "run.txt", run, "tag")
    lists = run_lists(read_run(tmp_path / "run.txt"), collection, 100)
    assert [query for query, _ in lists] == [2, 0]
    for (_, rows), order in zip(lists, orders[:2], strict=True):
        np.testing.assert_array_equal(rows, order)


def test_relevant_rows_have_a_grade_of_one_or_more():
    collection = toy_collection(3, 6)
    qrels = toy_qrels(collection, {0: {5: 1, 2: 3, 1: 0, 4: -1}, 1: {3: 0}})
    assert relevant_rows(collection, qrels, 0).tolist() == [2, 5]
    assert relevant_rows(collection, qrels, 1).tolist() == []
    assert relevant_rows(collection, qrels, 2).tolist() == []
    assert relevant_rows(collection, qrels, 2).dtype == np.int64
