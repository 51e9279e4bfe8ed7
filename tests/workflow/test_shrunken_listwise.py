"""The listwise study, shrunken: its runs, propensities, trainings and printed numbers agree."""

import json
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import nDCG
from runs import RESULTS, csv_rows

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

STUDY = f"{RESULTS}/listwise"
MODELS = (
    "first", "noaug_ips", "randaug", "randaug_ips", "posaug", "debiasfirst", "debiasfirst_no_lm",
)  # fmt: skip
COLLECTIONS = {"wiki": 40, "titles": 30}
STAGES = ("bm25", "minilm_l3", "minilm_l6", "rrf")
CUTOFF, WINDOW, DEPTH = 5, 5, 9


@pytest.fixture(scope="module")
def measures(reference) -> dict:
    return json.loads((reference / STUDY / "measures.json").read_text("utf-8"))


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_system_was_trained_and_evaluated(reference, measures):
    made = [f"models/{model}/42/{file}" for model in MODELS for file in
            ("model.safetensors", "scorer.json", "posbias.json", "README.md")]  # fmt: skip
    made += [f"evaluation/slots/{system}.parquet" for system in (*MODELS, "cosine")]
    made += [f"evaluation/orders/{system}.parquet" for system in (*MODELS, "cosine")]
    made += [f"evaluation/permutations/{m}.parquet" for m in ("first", "debiasfirst")]
    assert [name for name in made if not (reference / STUDY / name).stat().st_size] == []
    calibrated = {"first+calibrated", "debiasfirst+calibrated"}
    systems = {*MODELS, *calibrated, "cosine"}
    assert measures["systems"].keys() == {*systems, "first_stage"}
    assert measures["slots"]["systems"].keys() == systems
    assert all(len(s["curve"]) == WINDOW for s in measures["slots"]["systems"].values())


def test_models_differ_and_know_how_they_were_trained(reference):
    folders = [reference / STUDY / f"models/{model}/42" for model in MODELS]
    assert len({(folder / "model.safetensors").read_bytes() for folder in folders}) == len(MODELS)
    settings = [json.loads((folder / "posbias.json").read_text("utf-8")) for folder in folders]
    assert len({entry["steps"] for entry in settings}) == 1, "not as many updates for every model"
    with_ips = [entry["reranker"] for entry in settings if entry["weights"]]
    assert with_ips == ["noaug_ips", "randaug_ips", "debiasfirst", "debiasfirst_no_lm"]


def test_the_public_tool_finds_what_the_first_stages_reach_alone(reference, measures):
    for collection, queries in COLLECTIONS.items():
        folder = reference / STUDY / "collections" / collection
        qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
        assert len({judgement.query_id for judgement in qrels}) == queries
        table = measures["first_stage_table"][collection]
        assert table.keys() == set(STAGES)
        for stage in STAGES:
            run = list(ir_measures.read_trec_run(str(folder / f"runs/{stage}.txt")))
            assert max(pd.Series([line.query_id for line in run]).value_counts()) <= DEPTH
            found = ir_measures.calc_aggregate([nDCG @ CUTOFF], qrels, run)[nDCG @ CUTOFF]
            assert table[stage]["alone"]["mean"] == pytest.approx(found, abs=5e-4), stage


def test_nothing_is_trained_and_tested_on(reference):
    passages = {
        corpus: {
            r["text"] for r in read_lines(reference / STUDY / f"corpora/{corpus}/passages.jsonl")
        }
        for corpus in ("train", "heldout", "leads")
    }
    assert not passages["train"] & (passages["heldout"] | passages["leads"])
    asked = {
        r["query_id"] for r in read_lines(reference / STUDY / "collections/train/queries.jsonl")
    }
    lists = read_lines(reference / STUDY / "training/lists.jsonl")
    assert {record["query_id"] for record in lists} <= asked
    for record in lists:
        assert len(set(record["doc_ids"])) == len(record["doc_ids"]) == WINDOW
        # The source passage comes first in the teacher's order.
        assert record["order"][0] == record["source_slot"]


def test_an_augmentation_shows_every_list_whole(reference):
    lists = read_lines(reference / STUDY / "training/lists.jsonl")
    for kind, variants in {"none": 1, "random": 1, "rotation": 4}.items():
        shown = read_lines(reference / STUDY / f"training/shown/{kind}.jsonl")
        assert [r["query_id"] for r in shown] == [r["query_id"] for r in lists]
        orders = np.array([r["shown"] for r in shown])
        assert orders.shape == (len(lists), variants, WINDOW)
        assert (np.sort(orders, axis=2) == np.arange(WINDOW)).all()
        assert (kind == "none") == bool((orders == np.arange(WINDOW)).all())


def test_every_list_counts_each_slot_and_rank_once(reference, measures):
    record = json.loads((reference / STUDY / "propensity/42.json").read_text("utf-8"))
    counts = np.array(record["counts"])
    assert counts.shape == (WINDOW, WINDOW) and record["lists"] == 40 * 5
    assert (counts.sum(axis=0) == 200).all() and (counts.sum(axis=1) == 200).all()
    assert np.sum(record["ratios"]) == pytest.approx(1.0, abs=1e-12)
    assert measures["propensity"]["seeds"]["42"]["counts"] == record["counts"]
    rows = csv_rows(reference / "figures/listwise_propensity.csv")
    drawn = {(int(row["slot"]), int(row["rank"])): int(row["count"]) for row in rows}
    assert drawn == {(s + 1, r + 1): n for (s, r), n in np.ndenumerate(counts)}


def test_the_curves_numbers_are_those_of_the_queries(reference, measures):
    for row in csv_rows(reference / "figures/listwise_position_curves.csv"):
        system = measures["slots"]["systems"][row["system"]]
        point = system["curve"][int(row["slot"]) - 1]
        assert [float(row[f]) for f in ("mean", "low", "high")] == [
            point[f] for f in ("mean", "low", "high")
        ]
        assert float(row["variance"]) == system["variance"]["value"]
    values = pd.read_parquet(reference / STUDY / "evaluation/slots/first.parquet")
    plain = values[values["system"] == "first"].groupby("slot")["ndcg"].mean()
    curve = [point["mean"] for point in measures["slots"]["systems"]["first"]["curve"]]
    assert plain.to_list() == pytest.approx(curve, abs=1e-12)
    variance = measures["slots"]["systems"]["first"]["variance"]["value"]
    assert plain.var(ddof=0) == pytest.approx(variance, abs=1e-12)


def test_the_tables_numbers_are_the_measures(reference, measures):
    rows = csv_rows(reference / "figures/listwise_table1.csv")
    rows = [row for row in rows if row["collection"] != "mean"]
    for row in rows:
        found = measures["orders"][row["collection"]]["systems"][row["system"]]
        for order in ("original", "shuffled", "drop"):
            assert float(row[order]) == found[order]["mean"]
    assert {(row["collection"], row["system"]) for row in rows} == {
        (collection, system) for collection in COLLECTIONS for system in measures["systems"]
    }
    rows = csv_rows(reference / "figures/listwise_table2.csv")
    assert [(row["collection"], row["first_stage"]) for row in rows] == [
        (collection, stage) for collection in COLLECTIONS for stage in STAGES
    ]
    for row in rows:
        found = measures["first_stage_table"][row["collection"]][row["first_stage"]]
        means = [found[name]["mean"] for name in ("alone", "first", "debiasfirst")]
        assert [float(row[name]) for name in ("alone", "baseline", "proposed")] == means
    rows = csv_rows(reference / "figures/listwise_table3.csv")
    assert [row["model"] for row in rows if row["section"] == "models"] == list(MODELS)


def test_permutations_are_aggregated_at_each_depth(reference):
    rows = csv_rows(reference / "figures/listwise_permutations.csv")
    found = {(row["depth"], row["system"], row["series"], row["orders"]) for row in rows}
    series = {"5": ("single", "borda", "kemeny"), "9": ("single", "borda")}
    assert found == {
        (depth, system, name, str(orders))
        for depth, names in series.items()
        for name in names
        for system in ("first", "debiasfirst")
        for orders in range(1, 5)
    }
