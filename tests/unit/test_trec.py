"""Runs and qrels that every evaluator reads alike."""

import itertools

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import DataError
from posbias.retrieval.trec import (
    check_run,
    make_run,
    read_qrels,
    read_run,
    strictly_decreasing,
    write_qrels,
    write_run,
)

FLOAT32 = st.floats(-(2.0**100), 2.0**100, width=32)
NEAR = st.sampled_from([0.5, 0.5 + 1e-9, 0.5 - 1e-9, 0.0, -0.0, 1e-45, -1e-45, 1e-60])


@given(st.lists(st.one_of(FLOAT32, NEAR), max_size=40).map(lambda x: sorted(x, reverse=True)))
def test_scores_fall_strictly_as_float32_and_stay_close(scores):
    falling = strictly_decreasing(np.array(scores, dtype=np.float64))
    assert falling.dtype == np.float32
    assert np.all(falling[1:] < falling[:-1])
    rounded = np.array(scores, dtype=np.float32)
    assert np.all(falling <= rounded)
    # Never lower than as many float32 steps as there are documents before it.
    for rank, value in enumerate(rounded):
        for _ in range(rank):
            value = np.nextafter(value, np.float32(-np.inf))
        assert falling[rank] >= value


def test_distinct_scores_are_only_rounded():
    scores = np.linspace(1, -1, 500)
    assert np.array_equal(strictly_decreasing(scores), scores.astype(np.float32))


@given(st.lists(st.one_of(FLOAT32, NEAR), min_size=1, max_size=12))
def test_a_written_run_falls_strictly_in_the_file_and_comes_back(tmp_path_factory, scores):
    scores = sorted(scores, reverse=True)
    doc_ids = [f"d{i}" for i in range(len(scores))]
    run = make_run(["q"], doc_ids, [np.arange(len(scores))], [np.array(scores)])
    path = tmp_path_factory.mktemp("run") / "a.run"
    write_run(path, run, "tag")
    written = [line.split()[4] for line in path.read_text().splitlines()]
    assert all(float(a) > float(b) for a, b in itertools.pairwise(written))
    assert all(np.float32(a) > np.float32(b) for a, b in itertools.pairwise(written))
    back = read_run(path)
    assert back == run
    assert list(back["q"]) == doc_ids


@pytest.mark.parametrize("scores", [[0.1, 0.2], [0.2, np.nan], [np.nan, 0.1]])
def test_rising_scores_and_nan_are_refused(scores):
    with pytest.raises(DataError, match="rise along the ranks"):
        strictly_decreasing(np.array(scores))


@pytest.mark.parametrize("scores", [[1e39, 0], [np.inf, 0], [0, -np.inf], [-3.4028235e38] * 2])
def test_scores_beyond_float32_are_refused(scores):
    with pytest.raises(DataError, match="beyond the range"):
        strictly_decreasing(np.array(scores))


@pytest.mark.parametrize("relevant", ["a", "b", "c"])
def test_the_value_of_tied_scores_depends_on_the_rank_not_on_the_name(tmp_path, relevant):
    doc_ids = ["b", "a", "c"]
    run = make_run(["q"], doc_ids, [np.arange(3)], [np.ones(3)])
    write_run(tmp_path / "run", run, "constant")
    value = ir_measures.calc_aggregate(
        [ir_measures.RR], {"q": {relevant: 1}}, ir_measures.read_trec_run(str(tmp_path / "run"))
    )[ir_measures.RR]
    assert value == 1 / (doc_ids.index(relevant) + 1)


def test_scores_that_differ_below_float32_keep_their_order():
    ids = {"a": ("x", "y"), "b": ("y", "x")}
    for first, second in ids.values():
        run = make_run(["q"], [first, second], [[0, 1]], [np.array([0.5 + 1e-9, 0.5])])
        values = ir_measures.calc_aggregate([ir_measures.RR], {"q": {second: 1}}, run)
        assert values[ir_measures.RR] == 0.5


def test_run_file_in_full(tmp_path):
    run = make_run(
        ["q1", "none", "007"],
        ["α", "d-2", "d3"],
        [[2, 0], [], [1]],
        [np.array([0.75, 0.5]), np.array([]), np.array([-2.0])],
    )
    assert list(run) == ["q1", "007"]
    write_run(tmp_path / "deep" / "a.run", run, "bert-begin")
    assert (tmp_path / "deep" / "a.run").read_text(encoding="utf-8") == (
        "q1 Q0 d3 1 0.75 bert-begin\nq1 Q0 α 2 0.5 bert-begin\n007 Q0 d-2 1 -2.0 bert-begin\n"
    )


def test_qrels_file_in_full_and_back(tmp_path):
    qrels = {"q1": {"d1": 1, "d2": 0}, "007": {"α": 3}}
    write_qrels(tmp_path / "qrels", qrels)
    assert (tmp_path / "qrels").read_text(encoding="utf-8") == ("q1 0 d1 1\nq1 0 d2 0\n007 0 α 3\n")
    assert read_qrels(tmp_path / "qrels") == qrels


@pytest.mark.parametrize("bad", ["", " ", "a b", "a\tb", "a\u00a0b", "a\u2003b", "a\n"])
def test_ids_and_tags_with_white_space_are_refused_and_nothing_is_left(tmp_path, bad):
    good = {"q": {"d": 1.0}}
    for run, tag in (({bad: {"d": 1.0}}, "t"), ({"q": {bad: 1.0}}, "t"), (good, bad)):
        with pytest.raises(DataError, match="white space"):
            write_run(tmp_path / "run", run, tag)
    for qrels in ({bad: {"d": 1}}, {"q": {bad: 1}}):
        with pytest.raises(DataError, match="white space"):
            write_qrels(tmp_path / "qrels", qrels)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("ranked", "message"),
    [
        ({"a": 1.0, "b": 1.0}, "'b' does not lie below that of 'a'"),
        ({"a": 0.5 + 1e-9, "b": 0.5}, "'b' does not lie below that of 'a'"),
        ({"a": 1.0, "b": 0.5, "c": 0.75}, "'c' does not lie below that of 'b'"),
        ({"a": 1.0, "b": float("nan")}, "'b' is not a number"),
        ({"a": 1e39}, "'a' is not a number of float32"),
    ],
)
def test_a_run_whose_order_others_would_not_see_is_refused(tmp_path, ranked, message):
    with pytest.raises(DataError, match=message):
        check_run({"fine": {"a": 1.0, "b": 0.5}, "q": ranked})
    with pytest.raises(DataError, match=message):
        write_run(tmp_path / "run", {"q": ranked}, "tag")


def test_documents_and_queries_occur_once():
    with pytest.raises(DataError, match="query 'q': a document is ranked twice"):
        make_run(["q"], ["d", "d"], [[0, 1]], [np.array([2.0, 1.0])])
    with pytest.raises(DataError, match="query 'q' occurs twice"):
        make_run(["q", "q"], ["d"], [[0], [0]], [np.ones(1)] * 2)
    with pytest.raises(DataError, match="query 'q': the scores rise"):
        make_run(["q"], ["d", "e"], [[0, 1]], [np.array([1.0, 2.0])])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 d 1 0.5\n", "line 1: 5 columns, expected 6"),
        ("q Q0 d 1 0.5 t\n\n", "line 2: 0 columns"),
        ("q Q0 d 1 0.5 t\nq Q0 d 2 0.4 t\n", "line 2: query 'q' names document 'd' a second time"),
        ("q Q0 d 1 high t\n", "line 1: the score 'high' is not a finite number"),
        ("q Q0 d 1 nan t\n", "line 1: the score 'nan' is not a finite number"),
        ("q Q0 d 1 inf t\n", "line 1: the score 'inf'"),
    ],
)
def test_faults_of_a_run_name_file_and_line(tmp_path, text, message):
    (tmp_path / "bad.run").write_text(text)
    with pytest.raises(DataError, match=f"bad.run, {message}"):
        read_run(tmp_path / "bad.run")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 d\n", "line 1: 3 columns, expected 4: query 0 document grade"),
        ("q 0 d 0.9\n", "line 1: the grade '0.9' is not a whole number"),
        ("q 0 d 1\nr 0 d 1\nq 0 d 2\n", "line 3: query 'q' names document 'd' a second time"),
    ],
)
def test_faults_of_qrels_name_file_and_line(tmp_path, text, message):
    (tmp_path / "bad.qrels").write_text(text)
    with pytest.raises(DataError, match=f"bad.qrels, {message}"):
        read_qrels(tmp_path / "bad.qrels")


def test_a_file_that_is_not_text_is_named(tmp_path):
    (tmp_path / "bad.qrels").write_bytes(b"q 0 \xff\xfe 1\n")
    with pytest.raises(DataError, match=r"bad\.qrels: not UTF-8"):
        read_qrels(tmp_path / "bad.qrels")
