"""The record of the whole study: what it must hold, and what the report makes of it."""

import json

import numpy as np
import pandas as pd
import pytest

import summarise_listwise
from listwise_measures import made_up, make
from listwise_settings import COLLECTIONS, DEPTH, KINDS, MODELS, SEEDS, STAGES, TESTS, WINDOW
from posbias.errors import DataError
from posbias.files import read_json, write_json
from posbias.report.listwise_claims import judge_listwise
from posbias.report.listwise_records import read_listwise
from posbias.report.listwise_verdicts import Thresholds

SYSTEMS = ["first", "first+calibrated", "turned", "debiased", "cosine", "first_stage"]


@pytest.fixture(scope="module")
def record(listwise_chain) -> dict:
    return read_listwise(listwise_chain.measures)


@pytest.fixture(scope="module")
def wanted() -> dict:
    """A record that figures, tables and claims were written for."""
    return made_up()


def holds(found: dict, wanted: dict) -> bool:
    """Say whether a record has every field of another."""
    return wanted.keys() <= found.keys()


def numbers(value) -> list[float]:
    """Every number in a record."""
    if isinstance(value, dict):
        return [n for part in value.values() for n in numbers(part)]
    if isinstance(value, list):
        return [n for part in value for n in numbers(part)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def test_every_part_is_there(record, wanted):
    assert holds(record, wanted)
    assert record["measure"] == "nDCG@3"
    assert record["seeds"] == SEEDS
    assert record["interval"] == {
        "kind": "bootstrap over queries, of the mean over seeds",
        "resamples": 200,
        "level": 0.9,
    }
    assert list(record["models"]) == list(MODELS)
    assert list(record["systems"]) == SYSTEMS
    assert record["systems"]["first+calibrated"] == {
        "label": "FIRST + calibration",
        "model": "first",
        "inference": "calibrated",
    }
    assert record["systems"]["cosine"]["inference"] == "reference"
    assert record["roles"] == {"baseline": "first", "proposed": "debiased"}
    assert list(record["collections"]) == TESTS
    assert list(record["first_stages"]) == list(STAGES)
    assert np.isfinite(numbers(record)).all()
    assert set(TESTS) < set(COLLECTIONS)


def test_the_position_experiment(record, wanted):
    slots = record["slots"]
    assert holds(slots, wanted["slots"])
    assert slots["window"] == WINDOW
    assert set(slots["systems"]) == set(SYSTEMS) - {"first_stage"}
    for found in slots["systems"].values():
        model = wanted["slots"]["systems"]["first"]
        assert holds(found, model)
        assert [point["slot"] for point in found["curve"]] == list(range(1, WINDOW + 1))
        assert holds(found["curve"][0], model["curve"][0])
        assert holds(found["variance"], model["variance"])
    cosine = slots["systems"]["cosine"]
    assert cosine["variance"]["value"] == pytest.approx(0, abs=1e-12)
    pairs = {(r["a"], r["b"]) for r in slots["differences"] if r["what"] == "variance"}
    assert pairs >= {(s, "debiased") for s in ("first", "first+calibrated", "turned", "cosine")}
    assert ("first", "turned") in pairs
    whats = {r["what"] for r in slots["differences"]}
    assert whats == {"variance", "mean", "first less last slots", "first slots"}


def test_the_orders_of_every_collection(record, wanted):
    model = wanted["orders"]["wiki"]
    assert list(record["orders"]) == TESTS
    for found in record["orders"].values():
        assert holds(found, model)
        assert (found["n"], found["shuffles"], found["depth"]) == (12, 2, DEPTH)
        assert set(found["systems"]) == set(SYSTEMS)
        for system in found["systems"].values():
            assert holds(system, model["systems"]["first"])
        assert holds(found["comparisons"][0], model["comparisons"][0])
        assert {r["order"] for r in found["comparisons"]} == {"original", "shuffled", "drop"}
        assert {r["first"] for r in found["comparisons"]} == {"debiased"}
        assert {r["second"] for r in found["comparisons"]} == {
            "first", "first+calibrated", "turned", "cosine",
        }  # fmt: skip


def test_means_are_those_of_the_files(record, listwise_chain):
    for system in ("first", "cosine"):
        values = pd.read_parquet(listwise_chain.evaluated("orders", system))
        values = values[(values["system"] == system) & (values["collection"] == "wiki")]
        main = values[values["first_stage"] == "one"]
        found = record["orders"]["wiki"]["systems"][system]
        original = main[main["order"] == 0]["ndcg"].mean()
        shuffled = main[main["order"] > 0]["ndcg"].mean()
        assert found["original"]["mean"] == pytest.approx(original)
        assert found["shuffled"]["mean"] == pytest.approx(shuffled)
        assert found["drop"]["mean"] == pytest.approx(original - shuffled)
        slots = pd.read_parquet(listwise_chain.evaluated("slots", system))
        slots = slots[slots["system"] == system]
        curve = [p["mean"] for p in record["slots"]["systems"][system]["curve"]]
        assert curve == pytest.approx(slots.groupby("slot")["ndcg"].mean().tolist())


def test_first_stages_permutations_and_propensities(record, wanted):
    for collection in TESTS:
        table = record["first_stage_table"][collection]
        assert list(table) == list(STAGES)
        for stage in table.values():
            assert set(stage) == {"alone", "first", "debiased", "difference"}
    assert record["first_stage_table"]["wiki"]["one"]["alone"]["mean"] == pytest.approx(
        record["orders"]["wiki"]["systems"]["first_stage"]["original"]["mean"]
    )
    for name, depth in (("permutations", WINDOW), ("permutations_sliding", DEPTH)):
        found = record[name]["wiki"]
        assert (found["n"], found["depth"]) == (10, depth)
        assert set(found["systems"]) == {"first", "debiased"}
        for curves in found["systems"].values():
            assert holds(curves, wanted["permutations"]["wiki"]["systems"]["first"])
            assert [point["order"] for point in curves["single"]] == [1, 2, 3]
            assert [point["m"] for point in curves["borda"]] == [1, 2, 3]
            assert (curves["kemeny"] is None) == (depth == DEPTH)
    assert list(record["propensity"]["seeds"]) == [str(seed) for seed in SEEDS]
    for found in record["propensity"]["seeds"].values():
        assert holds(found, wanted["propensity"]["seeds"]["42"])
    assert holds(record["propensity"]["weights"]["1"], {"floored": 0, "capped": 0})


def test_training_ablation_and_windows(record, wanted, listwise_chain):
    training = record["training"]
    assert holds(training, wanted["training"])
    assert holds(training["teacher"], wanted["training"]["teacher"])
    assert holds(training["coverage"][0], wanted["training"]["coverage"][0])
    assert list(training["source_slots"]) == list(KINDS)
    assert [row["model"] for row in record["ablation"]] == list(MODELS)
    assert holds(record["ablation"][0], wanted["ablation"][0])
    whats = {(entry["augmentation"], entry["what"]) for entry in record["ips_only"]}
    names = ("slot variance", "slot mean", "original nDCG", "shuffled nDCG", "drop nDCG")
    assert whats == {("rotation", what) for what in names}
    tallies = [
        tally
        for path in (listwise_chain.root / "evaluation").rglob("*.json")
        for tally in read_json(path)["tallies"]
    ]
    assert record["windows"] == {
        "windows": sum(tally["windows"] for tally in tallies),
        "flat": sum(tally["flat"] for tally in tallies),
    }


def test_the_same_summary_twice_is_the_same_bytes(listwise_chain, tmp_path):
    summarise_listwise.main(**listwise_chain.summary_arguments(tmp_path / "measures.json"))
    before = listwise_chain.measures.read_bytes()
    assert (tmp_path / "measures.json").read_bytes() == before


@pytest.mark.parametrize(
    ("kind", "column"),
    [("slots", "slot"), ("orders", "first_stage"), ("stability", "tau_psi"),
     ("permutations", "aggregate")],
)  # fmt: skip
def test_a_missing_column_is_named_with_its_file(listwise_chain, tmp_path, kind, column):
    arguments = listwise_chain.summary_arguments(tmp_path / "measures.json")
    broken = tmp_path / "broken.parquet"
    pd.read_parquet(arguments[kind][-1]).drop(columns=column).to_parquet(broken, index=False)
    arguments[kind] = [*arguments[kind][:-1], broken]
    with pytest.raises(DataError, match=f"broken.parquet: lacks the columns {column}"):
        summarise_listwise.main(**arguments)
    assert not (tmp_path / "measures.json").exists()


def test_propensities_that_were_changed_are_refused(listwise_chain, tmp_path):
    arguments = listwise_chain.summary_arguments(tmp_path / "measures.json")
    record = read_json(arguments["propensity"][0])
    record["counts"][0][0] += 1
    write_json(tmp_path / "p.json", record)
    with pytest.raises(DataError, match=r"p.json: propensity matrix: slot 1 was counted"):
        summarise_listwise.main(**arguments | {"propensity": [tmp_path / "p.json"] * 2})


def test_the_report_reads_the_record(listwise_chain, record, tmp_path):
    for table in ("table1", "table2", "table3"):
        files = make(table, listwise_chain.measures, tmp_path)
        assert len(files["csv"].read_text("utf-8").splitlines()) > 2
        assert "FIRST" in files["tex"].read_text("utf-8")
    claims = judge_listwise(
        record,
        Thresholds(first_slots=2, saturation_tolerance=0.002, alpha=0.05, single_share=0.85),
    )
    assert claims
    json.dumps(claims, allow_nan=False)
