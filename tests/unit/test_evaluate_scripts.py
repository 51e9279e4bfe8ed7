"""A retriever searched and measured from files to files, with made-up models."""

import csv
import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest

from posbias.benchmarks.corpus_names import corpus_names
from posbias.benchmarks.settings import measure_settings
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, write_json, write_jsonl
from posbias.report.records import common_interval, grouping_of, read_measures
from posbias.retrieval.trec import read_qrels, read_run, write_qrels
from search_toy import (
    EVALUATION,
    GROUPS,
    N_DOCUMENTS,
    NAME,
    POSITIONS,
    ConstantRetriever,
    evaluate,
    install,
    outputs,
    search,
    toy_models,
    write_collection,
)


@pytest.fixture
def models(monkeypatch):
    models = toy_models()
    models["threads"] = install(monkeypatch, models)
    return models


@pytest.fixture
def files(tmp_path):
    return write_collection(tmp_path, range(N_DOCUMENTS))


def run_all(files, folder, models=("front", "whole"), settings=("begin", "uniform"), **options):
    shards = options.pop("shards", 1)
    block = options.pop("block_documents", 8)
    found = search(files, folder, models, settings, shards, block_documents=block)
    evaluate(files, folder, found, settings, **options)


def rewrite(path, change):
    """Let `change` mend each record of a file of JSON lines."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    write_jsonl(path, [change(record) or record for record in records])


def test_one_record_per_setting_that_the_report_can_read(files, models, tmp_path):
    run_all(files, tmp_path)
    paths = outputs(tmp_path, ["begin", "uniform"])["measures"]
    begin, uniform = read_measures(paths)
    assert models["threads"] == [1]
    assert [begin["setting"], uniform["setting"]] == ["begin", "uniform"]
    assert {key: begin[key] for key in ("retriever", "label", "benchmark", "measure", "seed")} == {
        "retriever": "bert",
        "label": "BERT",
        "benchmark": "wiki_heldout",
        "measure": "nDCG@10",
        "seed": 42,
    }
    assert list(begin["groupings"]) == ["thirds", "characters"]
    assert common_interval([begin, uniform])["resamples"] == 500
    assert uniform["micro_mean"] > 0.95
    assert grouping_of(uniform, "thirds")["psi"] < 0.05
    thirds = grouping_of(begin, "thirds")
    assert thirds["favoured"] == "begin"
    assert thirds["groups"][0]["mean"] > 0.95
    assert thirds["groups"][2]["mean"] < 0.2
    assert thirds["psi"] > 0.8
    assert thirds["psi_low"] <= thirds["psi"] <= thirds["psi_high"]
    buckets = grouping_of(begin, "characters")["groups"]
    assert [(bucket["name"], bucket["n"]) for bucket in buckets] == [
        ("0-14", 45),
        ("14-28", 45),
        ("28-60", 45),
    ]
    assert begin["evidence_truncated"] == {"n": 90, "of": 135}
    assert uniform["evidence_truncated"] == {"n": 0, "of": 135}
    assert begin["counts"] == {
        "judged": 135,
        "ranked": 135,
        "unjudged": 0,
        "documents": 45,
        "judgements_outside_corpus": 0,
        "dropped": {},
        "counted_twice": {"thirds": 0, "characters": 0},
    }
    assert not {"excluded", "corpus_note"} & set(begin)


@pytest.mark.parametrize("model", ["front", "constant"])
@pytest.mark.parametrize(("shards", "block"), [(2, 8), (3, 8), (7, 8), (7, 5)])
def test_the_same_bytes_from_any_number_of_shards(files, models, tmp_path, model, shards, block):
    chosen = {"models": (model,), "settings": ("begin",)}
    run_all(files, tmp_path / "one", **chosen)
    run_all(files, tmp_path / "many", shards=shards, block_documents=block, **chosen)
    for file in ("a.run", "m.json", "s.csv"):
        one, many = (tmp_path / folder / "begin" / file for folder in ("one", "many"))
        assert one.read_bytes() == many.read_bytes()


def test_the_evaluator_reads_our_mean_from_the_run_file(files, models, tmp_path):
    run_all(files, tmp_path, shards=2)
    for setting in ("begin", "uniform"):
        command = [sys.executable, "-m", "ir_measures", str(files["qrels"])]
        printed = subprocess.run(
            [*command, str(tmp_path / setting / "a.run"), "nDCG@10"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        mean = read_json(tmp_path / setting / "m.json")["micro_mean"]
        assert printed.split() == ["nDCG@10", f"{mean:.4f}"]


def scores_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_scores_of_queries_agree_with_the_run_and_the_mean(files, models, tmp_path):
    run_all(files, tmp_path)
    rows = scores_of(tmp_path / "begin/s.csv")
    run = read_run(tmp_path / "begin/a.run")
    assert list(rows[0]) == ["query_id", "doc_id", "position", "answer_start", "rank", "nDCG@10"]
    assert len(rows) == 135
    for row in rows:
        ranked = list(run[row["query_id"]])
        assert len(ranked) == 20
        assert row["rank"] == (
            str(ranked.index(row["doc_id"]) + 1) if row["doc_id"] in ranked else ""
        )
        gained = row["rank"] and int(row["rank"]) <= 10
        value = 1 / math.log2(int(row["rank"]) + 1) if gained else 0
        assert float(row["nDCG@10"]) == pytest.approx(value)
    mean = np.mean([float(row["nDCG@10"]) for row in rows])
    assert read_json(tmp_path / "begin/m.json")["micro_mean"] == pytest.approx(mean)
    assert {row["rank"] for row in rows if row["position"] == "begin"} == {"1"}


def test_a_constant_model_ranks_by_document_index_and_favours_nothing(files, models, tmp_path):
    run_all(files, tmp_path, models=("constant",), settings=("begin",), shards=3)
    record = read_json(tmp_path / "begin/m.json")
    chance = sum(1 / math.log2(rank + 1) for rank in range(1, 11)) / N_DOCUMENTS
    assert record["micro_mean"] == pytest.approx(chance)
    assert grouping_of(record, "thirds")["psi"] == pytest.approx(0, abs=1e-12)
    assert grouping_of(record, "thirds")["favoured"] is None
    for ranked in read_run(tmp_path / "begin/a.run").values():
        assert list(ranked) == [f"d{i}" for i in range(20)]


def test_same_bytes_twice_and_alone_as_among_other_settings(files, models, tmp_path):
    run_all(files, tmp_path / "one")
    run_all(files, tmp_path / "two", models=("whole",), settings=("uniform",))
    for file in ("a.run", "m.json", "s.csv"):
        one, two = (tmp_path / run / "uniform" / file for run in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_each_setting_has_resamples_of_its_own(files, models, tmp_path):
    run_all(files, tmp_path, models=("front", "front"))
    begin, uniform = (read_json(tmp_path / name / "m.json") for name in ("begin", "uniform"))
    assert begin["micro_mean"] == uniform["micro_mean"]
    assert grouping_of(begin, "thirds")["macro_low"] != grouping_of(uniform, "thirds")["macro_low"]


def test_a_query_without_offsets_leaves_only_the_characters(files, models, tmp_path):
    lines = files["queries"].read_text().splitlines()
    lines[0] = re.sub(r'"answer_(start|end)": \d+', r'"answer_\1": null', lines[0])
    files["queries"].write_text("\n".join(lines) + "\n")
    run_all(files, tmp_path)
    record = read_json(tmp_path / "begin/m.json")
    assert record["counts"]["dropped"] == {"characters: no answer offset": 1}
    assert [g["n"] for g in grouping_of(record, "thirds")["groups"]] == [45, 45, 45]
    assert [g["n"] for g in grouping_of(record, "characters")["groups"]] == [44, 45, 45]
    assert record["evidence_truncated"]["of"] == 134


def test_excluded_documents_leave_the_run_and_the_depth_stays(files, models, tmp_path):
    """As in ArguAna: every query's text is itself in the corpus, and must not be found."""
    twins = [{"doc_id": f"twin-{position}", "text": f"{position}001"} for position in POSITIONS]
    with files["corpus"].open("a") as corpus:
        corpus.writelines(json.dumps(twin) + "\n" for twin in twins)
    chosen = {"models": ("whole",), "settings": ("begin",), "shards": 3}
    run_all(files, tmp_path / "kept", **chosen)
    write_json(
        files["excluded"], {f"d1-{position}": [f"twin-{position}"] for position in POSITIONS}
    )
    run_all(files, tmp_path / "left_out", **chosen)
    kept, left_out = (read_run(tmp_path / one / "begin/a.run") for one in ("kept", "left_out"))
    for position in POSITIONS:
        query_id, twin = f"d1-{position}", f"twin-{position}"
        assert list(kept[query_id])[:2] == [twin, "d1"]
        assert next(iter(left_out[query_id])) == "d1"
        assert twin not in left_out[query_id]
    assert {len(ranked) for ranked in left_out.values()} == {20}
    others = [query_id for query_id in kept if not query_id.startswith("d1-")]
    assert {q: kept[q] for q in others} == {q: left_out[q] for q in others}
    record = read_json(tmp_path / "left_out/begin/m.json")
    assert record["excluded"] == {"queries": 3, "documents": 3, "hits": 3}
    assert record["counts"]["documents"] == 48
    assert record["micro_mean"] > read_json(tmp_path / "kept/begin/m.json")["micro_mean"]


def test_excluding_after_a_search_that_did_not_know_of_it_is_refused(files, models, tmp_path):
    found = search(files, tmp_path)
    write_json(files["excluded"], {"d1-end": ["d2"]})
    with pytest.raises(DataError, match="kept 20 documents a query, needed are 21"):
        evaluate(files, tmp_path, found)


def test_a_benchmark_without_positions_has_no_groups_and_no_psi(files, models, tmp_path):
    """As in BEIR: several relevant documents, graded, and no main one."""

    def change(query):
        nothing = {"doc_id": None, "positions": [], "answer_start": None, "answer_end": None}
        return query | nothing

    rewrite(files["queries"], change)
    qrels = read_qrels(files["qrels"])
    qrels["d0-begin"] = {"d7": 0, "d0": 2, "d9": 1}
    qrels["d1-begin"] = {"d1": 0, "d9": 1}
    write_qrels(files["qrels"], qrels)
    write_json(files["summary"], {"corpus_note": "a tenth of the corpus"})
    run_all(files, tmp_path, groups={})
    for record in read_measures(outputs(tmp_path, ["begin", "uniform"])["measures"]):
        assert record["groupings"] == {}
        assert record["corpus_note"] == "a tenth of the corpus"
        assert record["evidence_truncated"] == {"n": 0, "of": 0}
        assert record["counts"]["counted_twice"] == {}
        with pytest.raises(DataError, match=r"no grouping 'thirds' \(found none\)"):
            grouping_of(record, "thirds")
    rows = {row["query_id"]: row for row in scores_of(tmp_path / "uniform/s.csv")}
    assert rows["d5-end"] == {
        "query_id": "d5-end",
        "doc_id": "",
        "position": "",
        "answer_start": "",
        "rank": "1",
        "nDCG@10": "1.0",
    }
    run = read_run(tmp_path / "uniform/a.run")
    rank = {query_id: list(run[query_id]).index("d9") + 1 for query_id in ("d0-begin", "d1-begin")}
    value = {query_id: 1 / math.log2(of_query + 1) for query_id, of_query in rank.items()}
    assert rank["d1-begin"] > 1
    assert (rows["d0-begin"]["rank"], rows["d1-begin"]["rank"]) == ("1", str(rank["d1-begin"]))
    assert float(rows["d1-begin"]["nDCG@10"]) == pytest.approx(value["d1-begin"])
    gained, ideal = 2 + value["d0-begin"], 2 + 1 / math.log2(3)
    assert float(rows["d0-begin"]["nDCG@10"]) == pytest.approx(gained / ideal)


def test_evidence_in_several_thirds_counts_in_each(files, models, tmp_path):
    def change(query):
        if query["query_id"] == "d0-middle":
            return query | {"positions": ["middle", "end"]}

    rewrite(files["queries"], change)
    run_all(files, tmp_path)
    record = read_json(tmp_path / "begin/m.json")
    assert [g["n"] for g in grouping_of(record, "thirds")["groups"]] == [45, 45, 46]
    assert record["counts"]["counted_twice"]["thirds"] == 1
    rows = {row["query_id"]: row for row in scores_of(tmp_path / "begin/s.csv")}
    assert rows["d0-middle"]["position"] == "middle+end"


def test_dead_judgements_are_counted_and_cost_what_trec_eval_says(files, models, tmp_path):
    qrels = read_qrels(files["qrels"])
    qrels["d0-begin"] |= {"gone": 1}
    write_qrels(files["qrels"], qrels)
    run_all(files, tmp_path)
    record = read_json(tmp_path / "uniform/m.json")
    assert record["counts"]["judgements_outside_corpus"] == 1
    rows = {row["query_id"]: row for row in scores_of(tmp_path / "uniform/s.csv")}
    assert float(rows["d0-begin"]["nDCG@10"]) == pytest.approx(1 / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda files: add_line(files["corpus"], "d3"), "document 'd3' occurs twice"),
        (lambda files: add_line(files["corpus"], "new"), "46 documents, of which 45 were searched"),
        (lambda files: drop_lines(files["corpus"], 3), r"document 44 .* there are 42"),
        (lambda files: rename(files["corpus"], "d42"), r"query 'd42-begin' belongs to .* 'd42'"),
        (lambda files: drop_lines(files["queries"], 1), "query 'd44-end' is judged but is not"),
        (lambda files: drop_lines(files["qrels"], 1), "query 'd44-end' has no judgement"),
    ],
)
def test_files_that_changed_after_the_search_are_noticed(files, models, tmp_path, change, message):
    found = search(files, tmp_path)
    change(files)
    with pytest.raises(DataError, match=message):
        evaluate(files, tmp_path, found)
    assert not (tmp_path / "begin").exists()


def add_line(path, doc_id):
    with path.open("a") as lines:
        lines.write(json.dumps({"doc_id": doc_id, "text": "more"}) + "\n")


def rename(path, doc_id):
    path.write_text(path.read_text().replace(f'"{doc_id}"', '"another"'))


def drop_lines(path, n):
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-n]))


def test_a_hit_beyond_the_end_of_the_corpus_is_refused(files):
    with pytest.raises(DataError, match=r"document 45 .* there are 45"):
        corpus_names(files["corpus"], np.array([3, 45]), set())


def test_two_ids_with_one_hash_are_two_documents(files, monkeypatch):
    """Only a document that really stands twice is refused."""
    monkeypatch.setattr("posbias.benchmarks.corpus_names.hash", len, raising=False)
    found = corpus_names(files["corpus"], np.array([2]), {"d7", "gone"})
    assert (found.documents, found.names, found.present) == (45, {2: "d2"}, {"d7"})
    add_line(files["corpus"], "d44")
    with pytest.raises(DataError, match="document 'd44' occurs twice"):
        corpus_names(files["corpus"], np.array([2]), set())


def test_a_shard_that_is_missing_or_of_another_setting_is_refused(files, models, tmp_path):
    found = search(files, tmp_path, shards=2)
    with pytest.raises(DataError, match="is no whole search"):
        evaluate(files, tmp_path, found | {"hits": found["hits"][:3]})
    with pytest.raises(DataError, match="hits of bert, uniform; expected bert, begin"):
        evaluate(files, tmp_path, found, settings=("begin",))


def test_measuring_a_search_needs_no_torch(files, models, tmp_path, scripts):
    """The job that merges and measures starts in a second, and runs where no torch is."""
    found = search(files, tmp_path, shards=2)
    arguments = {name: str(path) for name, path in files.items()}
    lists = {
        name: [str(path) for path in paths]
        for name, paths in (found | outputs(tmp_path, ["begin", "uniform"])).items()
    }
    program = (
        "import sys\n"
        "sys.modules['torch'] = sys.modules['transformers'] = None\n"
        f"sys.path.insert(0, {str(scripts)!r})\n"
        "from pathlib import Path\n"
        "import evaluate_retriever\n"
        f"files = {{name: Path(path) for name, path in {arguments!r}.items()}}\n"
        f"lists = {{name: list(map(Path, paths)) for name, paths in {lists!r}.items()}}\n"
        "evaluate_retriever.main(**files, **lists, retriever='bert', label='BERT',\n"
        f"    settings=['begin', 'uniform'], benchmark={NAME!r}, groups={GROUPS!r},\n"
        f"    evaluation={EVALUATION!r}, seed=42)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert read_json(tmp_path / "uniform/m.json")["micro_mean"] > 0.95


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"depth": 5}, "1 <= cutoff <= depth must hold, found 10 and 5"),
        ({"cutoff": 0}, "1 <= cutoff <= depth must hold"),
        ({"dept": 100}, "evaluation: dept is unknown and nothing is missing"),
    ],
)
def test_evaluation_settings_are_checked(changed, message):
    with pytest.raises(ConfigError, match=message):
        measure_settings(EVALUATION | changed)


def test_measuring_needs_no_settings_of_the_search():
    names = ("depth", "cutoff", "resamples", "level", "min_group")
    assert measure_settings({name: EVALUATION[name] for name in names}).depth == 20
    with pytest.raises(ConfigError, match="nothing is unknown and cutoff, level is missing"):
        measure_settings({name: EVALUATION[name] for name in ("depth", "resamples", "min_group")})


def test_a_model_that_diverged_is_refused_and_leaves_nothing(files, models, tmp_path):
    broken = ConstantRetriever(1000)
    broken.encode_documents = lambda texts: np.full((len(texts), 4), np.nan, dtype=np.float32)
    models["broken"] = broken
    with pytest.raises(DataError, match=r"document 0 .* has a vector of length nan"):
        search(files, tmp_path, ("broken",), ("begin",))
    assert not (tmp_path / "search").exists()
