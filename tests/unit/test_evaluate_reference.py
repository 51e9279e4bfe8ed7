"""Reference systems from files to files, with a made-up model."""

import pytest

import evaluate_reference
from posbias.errors import ConfigError
from posbias.files import write_json
from posbias.report.records import grouping_of, read_measures
from posbias.retrieval.trec import read_run
from search_toy import (
    EVALUATION,
    GROUPS,
    N_DOCUMENTS,
    NAME,
    POSITIONS,
    evaluate,
    install,
    search,
    toy_models,
    write_collection,
)

BM25 = {
    "name": "bm25",
    "label": "BM25",
    "kind": "bm25",
    "options": {"k1": 0.9, "b": 0.4, "stopwords": "en", "stemmer": None},
}
ENCODER = {
    "name": "minilm_l6",
    "label": "all-MiniLM-L6-v2",
    "kind": "sentence_transformer",
    "options": {"model": "minilm_l6"},
}


@pytest.fixture
def models(monkeypatch):
    models = toy_models()
    models["threads"] = install(monkeypatch, models)
    return models


@pytest.fixture
def files(tmp_path):
    return write_collection(tmp_path, range(N_DOCUMENTS))


def run_reference(files, folder, reference, model="front"):
    evaluate_reference.main(
        **files,
        models=[folder / model],
        model_names=["minilm_l6"],
        run=folder / "ref/a.run",
        measures=folder / "ref/m.json",
        scores=folder / "ref/s.csv",
        reference=reference,
        benchmark=NAME,
        groups=GROUPS,
        evaluation=EVALUATION,
        seed=42,
    )
    return read_measures([folder / "ref/m.json"])[0]


def test_bm25_finds_only_what_shares_a_word(files, models, tmp_path):
    record = run_reference(files, tmp_path, BM25)
    assert [record["retriever"], record["setting"], record["micro_mean"]] == ["bm25", None, 1.0]
    assert grouping_of(record, "thirds")["psi"] == 0
    assert "evidence_truncated" not in record
    assert models["threads"] == []
    run = read_run(tmp_path / "ref/a.run")
    assert {query_id: list(ranked) for query_id, ranked in run.items()} == {
        f"d{i}-{position}": [f"d{i}"] for i in range(N_DOCUMENTS) for position in POSITIONS
    }
    assert (tmp_path / "ref/a.run").read_text().split()[5] == "bm25"


def test_bm25_does_not_depend_on_how_many_queries_are_scored_at_once(
    files, models, tmp_path, monkeypatch
):
    run_reference(files, tmp_path, BM25)
    whole = (tmp_path / "ref/a.run").read_bytes()
    monkeypatch.setattr(evaluate_reference, "SCORES_AT_ONCE", 7 * N_DOCUMENTS)
    run_reference(files, tmp_path, BM25)
    assert (tmp_path / "ref/a.run").read_bytes() == whole


def test_an_encoder_as_reference_is_measured_as_a_retriever(files, models, tmp_path):
    record = run_reference(files, tmp_path, ENCODER)
    assert record["label"] == "all-MiniLM-L6-v2"
    assert record["evidence_truncated"] == {"n": 90, "of": 135}
    assert models["threads"] == [1]
    found = search(files, tmp_path, ("front",), ("begin",), shards=2)
    evaluate(files, tmp_path, found, ("begin",))
    trained = read_run(tmp_path / "begin/a.run")
    assert read_run(tmp_path / "ref/a.run") == trained


def test_references_leave_out_excluded_documents_too(files, models, tmp_path):
    write_json(files["excluded"], {"d1-end": ["d2"], "d2-end": ["d7"]})
    for reference in (BM25, ENCODER):
        record = run_reference(files, tmp_path, reference)
        run = read_run(tmp_path / "ref/a.run")
        assert "d2" not in run["d1-end"] and "d7" not in run["d2-end"]
        assert record["excluded"]["documents"] == 2
    assert {len(ranked) for ranked in run.values()} == {20}


def test_queries_without_a_hit_count_zero_and_are_counted(files, models, tmp_path):
    text = files["queries"].read_text().replace('"text": "end', '"text": "zebra')
    files["queries"].write_text(text)
    record = run_reference(files, tmp_path, BM25 | {"options": None})
    assert record["micro_mean"] == pytest.approx(2 / 3)
    assert (record["counts"]["judged"], record["counts"]["ranked"]) == (135, 90)
    assert grouping_of(record, "thirds")["psi"] == 1


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"kind": "splade"}, "kind 'splade' does not exist; known: bm25, sentence_transformer"),
        (ENCODER | {"options": {"k1": 1}}, "takes one option, model, of minilm_l6; found .*k1"),
        (ENCODER | {"options": {"model": "bge"}}, "model, of minilm_l6; found .*bge"),
        (BM25 | {"options": {"k3": 1}}, "references.bm25.options: .*'k3'"),
    ],
)
def test_a_reference_that_cannot_be_made_is_refused(files, models, tmp_path, reference, message):
    with pytest.raises(ConfigError, match=message):
        run_reference(files, tmp_path, {"name": "x", "label": "X"} | reference)
