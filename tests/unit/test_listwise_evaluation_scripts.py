"""Slots, orders and permutations of trained rerankers, script by script on a small study."""

import shutil
from functools import partial

import numpy as np
import pandas as pd
import pytest

import evaluate_orders
import evaluate_permutations
import evaluate_slots
from listwise_settings import (
    CUTOFF,
    DEPTH,
    MODELS,
    SCORER,
    SEEDS,
    STAGES,
    SYSTEMS,
    TESTS,
    WINDOW,
)
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, read_jsonl
from posbias.listwise import score_tape
from posbias.listwise.collection import Collection
from posbias.listwise.lists import read_collection
from posbias.listwise.passage_embedding import PassageEmbeddingScorer
from posbias.listwise.score_tape import ScoreTape
from posbias.listwise.systems import SEEDLESS, System, system_name, trained_systems
from posbias.measures.ndcg import ndcg_of_rank, ndcg_per_query
from posbias.retrieval.trec import read_qrels, read_run

KINDS = {
    "slots": evaluate_slots,
    "orders": evaluate_orders,
    "permutations": evaluate_permutations,
}
EACH_KIND = pytest.mark.parametrize("kind", KINDS)


def arguments_of(chain, kind: str, system: str, out) -> dict:
    return getattr(chain, f"{kind}_arguments")(system, out)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_rank_of_each_query_at_each_slot(listwise_chain, system):
    values = pd.read_parquet(listwise_chain.evaluated("slots", system))
    summary = read_json(listwise_chain.evaluated("slots", system, "json"))
    assert values.columns.tolist() == ["system", "seed", "query_id", "slot", "rank", "ndcg"]
    names = {system_name(system, how) for how in listwise_chain.inferences(system)}
    assert set(values["system"]) == names
    assert set(values["seed"]) == (set(SEEDS) if system in MODELS else {SEEDLESS})
    cells = values.groupby(["system", "seed", "query_id"])["slot"].agg(sorted)
    assert all(slots == list(range(1, WINDOW + 1)) for slots in cells)
    assert len(cells) == len(names) * values["seed"].nunique() * summary["queries"]
    assert values["rank"].between(1, WINDOW).all()
    np.testing.assert_array_equal(values["ndcg"], ndcg_of_rank(values["rank"], CUTOFF))
    assert all(t["windows"] == summary["queries"] * WINDOW for t in summary["tallies"])
    asked = read_jsonl(listwise_chain.tests(["wiki"])["queries"][0])
    assert summary["queries"] + sum(summary["dropped"].values()) == len(asked)


def test_the_cosine_does_not_see_the_slot_and_trained_models_do(listwise_chain):
    spread = {
        system: pd.read_parquet(listwise_chain.evaluated("slots", system))
        .groupby(["system", "seed", "query_id"])["rank"]
        .nunique()
        .max()
        for system in ("cosine", "first")
    }
    assert spread["cosine"] == 1
    assert spread["first"] > 1


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_query_has_a_value_in_every_order(listwise_chain, system):
    values = pd.read_parquet(listwise_chain.evaluated("orders", system))
    place = ["system", "seed", "collection", "first_stage", "order"]
    assert values.columns.tolist() == [*place, "query_id", "ndcg"]
    assert values["ndcg"].between(0, 1).all()
    for (name, _, collection, stage, order), rows in values.groupby(place):
        assert name == "first_stage" or name.split("+")[0] == system
        assert rows["query_id"].is_unique
        assert len(rows) == 12
        assert order == 0 or stage == "one"
        known = read_qrels(listwise_chain.files(collection)["qrels"])
        assert set(rows["query_id"]) <= set(known)
    shuffled = values[values["first_stage"] == "one"].groupby(["system", "seed"])["order"]
    assert all(orders == {0, 1, 2} for orders in shuffled.agg(set))


def test_a_query_without_candidates_counts_zero_in_the_means(listwise_chain):
    lost = next(
        query["query_id"]
        for query in read_jsonl(listwise_chain.collection("wiki", "queries.jsonl"))
        if query["text"] == "zyzzyva"
    )
    for system in SYSTEMS:
        values = pd.read_parquet(listwise_chain.evaluated("orders", system))
        of_lost = values[(values["query_id"] == lost) & (values["collection"] == "wiki")]
        of_bm25 = of_lost[of_lost["first_stage"] == "bm25"]
        assert len(of_bm25) > 0
        assert (of_bm25["ndcg"] == 0).all()


def test_the_first_stage_alone_is_what_ir_measures_says_of_its_run(listwise_chain):
    values = pd.read_parquet(listwise_chain.evaluated("orders", "cosine"))
    alone = values[(values["system"] == "first_stage") & (values["order"] == 0)]
    assert set(alone["seed"]) == {SEEDLESS}
    for collection in TESTS:
        qrels = read_qrels(listwise_chain.files(collection)["qrels"])
        for stage in STAGES:
            expected = ndcg_per_query(
                qrels, read_run(listwise_chain.run(collection, stage)), CUTOFF
            )
            here = alone[(alone["collection"] == collection) & (alone["first_stage"] == stage)]
            for row in here.itertuples():
                assert row.ndcg == pytest.approx(expected[row.query_id], abs=1e-6)


def test_stability_is_of_the_shuffled_orders(listwise_chain):
    for system in SYSTEMS:
        taus = pd.read_parquet(listwise_chain.evaluated("orders", system, "stability.parquet"))
        assert set(taus["first_stage"]) == {"one"}
        assert taus["tau_psi"].dropna().between(0, 1).all()
        assert taus.groupby(["system", "seed", "collection"]).size().eq(12).all()
    means = taus.groupby("system")["tau_psi"].mean()
    # Shuffled lists that nobody reranks are as unlike as random ones.
    assert means["first_stage"] == pytest.approx(0.5, abs=0.1)
    assert means["cosine"] < 0.2


def test_a_list_within_one_window_is_reranked_alike_in_any_order(listwise_chain, tmp_path):
    arguments = listwise_chain.orders_arguments("cosine", tmp_path)
    arguments["evaluation"] |= {"depth": WINDOW}
    evaluate_orders.main(**arguments)
    taus = pd.read_parquet(arguments["stability"])
    assert (taus[taus["system"] == "cosine"]["tau_psi"] == 0).all()
    values = pd.read_parquet(arguments["values"])
    main = values[(values["system"] == "cosine") & (values["first_stage"] == "one")]
    assert main.groupby(["collection", "query_id"])["ndcg"].nunique().eq(1).all()


@pytest.mark.parametrize("system", ["first", "debiased"])
def test_aggregates_of_one_order_are_that_order(listwise_chain, system):
    values = pd.read_parquet(listwise_chain.evaluated("permutations", system))
    summary = read_json(listwise_chain.evaluated("permutations", system, "json"))
    assert set(values["system"]) == {system}
    aggregates = values.groupby("depth")["aggregate"].agg(set)
    assert aggregates.to_dict() == {
        WINDOW: {"single", "borda", "kemeny"},
        DEPTH: {"single", "borda"},
    }
    by_query = values.pivot_table(
        index=["seed", "query_id"], columns=["depth", "aggregate", "m"], values="ndcg"
    )
    assert len(by_query) == 2 * 10
    for depth, aggregate in ((WINDOW, "borda"), (WINDOW, "kemeny"), (DEPTH, "borda")):
        np.testing.assert_array_equal(by_query[depth, aggregate, 1], by_query[depth, "single", 1])
    assert len(summary["tallies"]) == 2 * 2 * 3


def test_permutations_change_nothing_for_the_cosine(listwise_chain, tmp_path):
    arguments = listwise_chain.permutations_arguments("cosine", tmp_path)
    evaluate_permutations.main(**arguments)
    values = pd.read_parquet(arguments["values"])
    of_window = values[values["depth"] == WINDOW]
    assert of_window.groupby("query_id")["ndcg"].nunique().eq(1).all()


@EACH_KIND
def test_the_same_evaluation_twice_is_the_same_bytes(listwise_chain, tmp_path, kind):
    KINDS[kind].main(**arguments_of(listwise_chain, kind, "first", tmp_path))
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        before = listwise_chain.evaluated(kind, "first").parent / path.relative_to(tmp_path)
        assert path.read_bytes() == before.read_bytes()


class Killed(Exception):
    """Stands for the end of the process."""


def dying_after(monkeypatch, batches: int) -> list[int]:
    """Let scorers die after some batches, and return how many windows each batch has had."""
    scored, scores = [], PassageEmbeddingScorer.scores

    def counted(self, collection, queries, passages):
        if len(scored) == batches:
            raise Killed
        scored.append(len(queries))
        return scores(self, collection, queries, passages)

    monkeypatch.setattr(PassageEmbeddingScorer, "scores", counted)
    monkeypatch.setattr(score_tape, "ScoreTape", partial(ScoreTape, seconds=0.0))
    return scored


@EACH_KIND
def test_a_killed_evaluation_goes_on_to_the_same_bytes(listwise_chain, tmp_path, monkeypatch, kind):
    arguments = arguments_of(listwise_chain, kind, "first", tmp_path / "out")
    arguments["resume_dir"] = tmp_path / "resume" / kind
    for lives in (3, 4):
        with monkeypatch.context() as patch, pytest.raises(Killed):
            dying_after(patch, lives)
            KINDS[kind].main(**arguments)
        assert not (tmp_path / "out").exists()
    with monkeypatch.context() as patch:
        rest = dying_after(patch, 10**6)
        KINDS[kind].main(**arguments)
    with monkeypatch.context() as patch:
        every = dying_after(patch, 10**6)
        KINDS[kind].main(**arguments_of(listwise_chain, kind, "first", tmp_path / "unbroken"))
    assert rest == every[7:]
    for path in (path for path in (tmp_path / "out").rglob("*") if path.is_file()):
        before = listwise_chain.evaluated(kind, "first").parent / path.relative_to(tmp_path / "out")
        assert path.read_bytes() == before.read_bytes()
    assert not (tmp_path / "resume").exists()


def test_the_reranked_runs_have_the_values_of_the_table(listwise_chain):
    values = pd.read_parquet(listwise_chain.evaluated("orders", "first"))
    runs = listwise_chain.evaluated("orders", "first").with_suffix(".runs")
    for path in sorted(runs.iterdir()):
        collection, system, seed, _ = path.name.split(".")
        ours = values[
            (values["collection"] == collection)
            & (values["system"] == system)
            & (values["seed"] == int(seed))
            & (values["first_stage"] == "one")
            & (values["order"] == 0)
        ].set_index("query_id")["ndcg"]
        qrels = read_qrels(listwise_chain.tests([collection])["qrels"][0])
        judged = {query_id: qrels[query_id] for query_id in ours.index}
        theirs = ndcg_per_query(judged, read_run(path), CUTOFF)
        assert theirs == pytest.approx(ours.to_dict())


@EACH_KIND
def test_another_models_or_a_changed_checkpoint_is_refused(listwise_chain, tmp_path, kind):
    arguments = arguments_of(listwise_chain, kind, "first", tmp_path / "out")
    others = listwise_chain.checkpoints("turned")
    with pytest.raises(DataError, match="holds reranker turned, seed 1, not reranker first"):
        KINDS[kind].main(**arguments | {"checkpoints": others})
    first, second = arguments["checkpoints"]
    with pytest.raises(DataError, match="holds reranker first, seed 2, not reranker first, seed 1"):
        KINDS[kind].main(**arguments | {"checkpoints": [second, first]})
    folder = tmp_path / "changed"
    shutil.copytree(first, folder)
    (folder / "scorer.json").write_text((folder / "scorer.json").read_text() + " ")
    with pytest.raises(DataError, match=r"scorer.json: not the file that the training wrote"):
        KINDS[kind].main(**arguments | {"checkpoints": [folder, second]})
    (folder / "scorer.json").unlink()
    with pytest.raises(DataError, match=r"scorer.json: missing from the checkpoint"):
        KINDS[kind].main(**arguments | {"checkpoints": [folder, second]})
    assert not (tmp_path / "out").exists()


def some_systems(chain, **changed) -> list[System]:
    options = {"model": "first", "checkpoints": chain.checkpoints("first"), "seeds": SEEDS,
               "scorer": SCORER,
               "inferences": ["plain", "calibrated"], "batch": 4} | changed  # fmt: skip
    return list(trained_systems(**options))


def test_systems_come_seed_by_seed(listwise_chain):
    found = [
        (system.name, system.seed, system.inference) for system in some_systems(listwise_chain)
    ]
    assert found == [
        (name, seed, inference)
        for seed in SEEDS
        for name, inference in (("first", "plain"), ("first+calibrated", "calibrated"))
    ]
    reference = some_systems(listwise_chain, model="cosine", checkpoints=[])
    assert [(system.name, system.seed) for system in reference] == [("cosine", SEEDLESS)]


def test_a_calibrated_system_subtracts_the_last_passage(listwise_chain):
    files = listwise_chain.files("wiki").values()
    collection, _ = read_collection(*files, ["one", "two"])
    assert isinstance(collection, Collection)
    plain, calibrated = some_systems(listwise_chain)[:2]
    queries, passages = np.array([0, 3]), np.array([[4, 1, 0, 2, 5], [3, 7, 1, 9, 8]])
    empty = np.full((2, 5), collection.doc_rows["placeholder"])
    score = plain.score(collection)
    np.testing.assert_allclose(
        calibrated.score(collection)(queries, passages),
        score(queries, passages) - score(queries, empty),
        atol=1e-6,
    )


def test_systems_that_do_not_exist_are_named(listwise_chain):
    with pytest.raises(ConfigError, match="inference 'sampled' does not exist; known: plain"):
        some_systems(listwise_chain, inferences=["sampled"])
    with pytest.raises(ConfigError, match="2 checkpoints for 3 seeds"):
        some_systems(listwise_chain, seeds=[1, 2, 3])
    other = SCORER | {"encoders": SCORER["encoders"][::-1]}
    with pytest.raises(DataError, match=r"trained with another listwise.scorer"):
        some_systems(listwise_chain, scorer=other)
