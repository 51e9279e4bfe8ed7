"""nDCG of each judged query: closed forms, missing queries, and the ir_measures command line."""

import math
import subprocess
import sys

import numpy as np
import pytest

from posbias.errors import DataError
from posbias.measures.ndcg import count_queries, measure_name, ndcg_per_query
from posbias.retrieval.ranking import top_k
from posbias.retrieval.trec import make_run, write_qrels, write_run


def ranked(*doc_ids: str) -> dict[str, float]:
    return {doc_id: -float(rank) for rank, doc_id in enumerate(doc_ids)}


@pytest.mark.parametrize("rank", [1, 2, 3, 10, 11])
def test_one_relevant_document_at_a_rank(rank):
    run = {"q": ranked(*(f"d{i}" for i in range(1, 16)))}
    value = ndcg_per_query({"q": {f"d{rank}": 1}}, run, 10)["q"]
    assert value == pytest.approx(1 / math.log2(rank + 1) if rank <= 10 else 0, abs=1e-12)


def test_grades_are_linear_gains_and_the_ideal_holds_what_was_not_retrieved():
    qrels = {"q": {"a": 3, "b": 1, "missed": 2, "c": 0}}
    value = ndcg_per_query(qrels, {"q": ranked("b", "a", "c")}, 10)["q"]
    gained = 1 / math.log2(2) + 3 / math.log2(3)
    ideal = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    assert value == pytest.approx(gained / ideal, abs=1e-12)


def test_a_judged_query_without_results_counts_zero():
    qrels = {"found": {"d": 1}, "lost": {"d": 1}, "empty": {"d": 1}}
    values = ndcg_per_query(qrels, {"found": ranked("d"), "empty": {}, "unjudged": ranked("d")}, 10)
    assert values == {"found": 1.0, "lost": 0.0, "empty": 0.0}
    assert list(values) == list(qrels)
    assert ndcg_per_query(qrels, {}, 10) == dict.fromkeys(qrels, 0.0)


@pytest.mark.parametrize("scores", [{"a": 1.0, "b": 1.0}, {"a": 0.5 + 1e-9, "b": 0.5}])
def test_ties_that_an_evaluator_breaks_by_name_are_refused(scores):
    with pytest.raises(DataError, match=r"query 'q'.*'b'.*'a'"):
        ndcg_per_query({"q": {"a": 1}}, {"q": scores}, 10)


def test_a_score_that_is_not_a_number_is_named():
    with pytest.raises(DataError, match=r"query 'q'.*document 'b' is not a number"):
        ndcg_per_query({"q": {"a": 1}}, {"q": {"a": 1.0, "b": math.nan}}, 10)


def test_counts_beside_the_mean():
    qrels = {"q1": {"a": 1, "gone": 1}, "q2": {"b": 1}, "q3": {"a": 1}}
    run = {"q1": ranked("a"), "q3": {}, "other": ranked("a")}
    assert count_queries(qrels, run, ["a", "b"]) == {
        "judged": 3,
        "ranked": 1,
        "unjudged": 1,
        "documents": 2,
        "judgements_outside_corpus": 1,
    }


def test_a_constant_scorer_earns_no_more_than_chance():
    doc_ids = [f"d{i:03d}" for i in range(100)]
    indices, scores = top_k(np.full((100, 100), 0.7), 100)
    run = make_run([f"q{i}" for i in range(100)], doc_ids, indices, scores)
    qrels = {f"q{i}": {doc_ids[i]: 1} for i in range(100)}
    mean = np.mean(list(ndcg_per_query(qrels, run, 10).values()))
    assert mean == pytest.approx(sum(1 / math.log2(r + 1) for r in range(1, 11)) / 100)


def test_the_command_line_prints_our_values(tmp_path):
    rng = np.random.default_rng(5)
    doc_ids = [f"doc{i}" for i in rng.permutation(60)]
    query_ids = [f"q{i}" for i in range(80)]
    # Rounded scores tie in most queries; ten queries have no result at all.
    indices, scores = top_k(rng.normal(size=(70, 60)).round(1), 30)
    run = make_run(query_ids[:70], doc_ids, indices, scores)
    qrels = {
        query_id: {doc_ids[d]: int(rng.integers(0, 4)) for d in rng.choice(60, 6, replace=False)}
        for query_id in query_ids
    }
    values = ndcg_per_query(qrels, run, 10)
    write_run(tmp_path / "run", run, "random")
    write_qrels(tmp_path / "qrels", qrels)
    command = [sys.executable, "-m", "ir_measures", "-q", "-p", "6", "qrels", "run"]
    printed = subprocess.run(
        [*command, measure_name(10)], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    rows = {row[0]: row[2] for row in map(str.split, printed.splitlines())}
    assert rows.pop("all") == f"{np.mean(list(values.values())):.6f}"
    assert rows == {query_id: f"{value:.6f}" for query_id, value in values.items()}
    assert len(set(values.values())) > 30
