"""Teacher, augmentation, training and propensities, script by script on a small study."""

import csv
import shutil
from functools import partial

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

import augment_lists
import estimate_propensity
import order_by_teacher
import train_reranker
from listwise_models import scorer_of
from listwise_settings import CUTOFF, KINDS, MODELS, SEED, SEEDS, TRAINING, WINDOW
from posbias.errors import DataError, DivergedError
from posbias.files import read_json, read_jsonl, write_jsonl
from posbias.listwise import score_tape
from posbias.listwise.passage_embedding import PassageEmbeddingScorer
from posbias.listwise.propensity import Propensity
from posbias.listwise.score_tape import ScoreTape
from posbias.listwise.scorers import load_scorer
from posbias.measures.ndcg import ndcg_per_query
from posbias.models.checkpoints import checked_settings
from posbias.retrieval.trec import read_qrels, read_run, write_qrels


def content(folder):
    """The bytes of every file of a folder, by name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_lists_are_first_candidates_with_the_source_first_in_the_order(listwise_chain):
    run = read_run(listwise_chain.run("train", "bm25"))
    qrels = read_qrels(listwise_chain.files("train")["qrels"])
    lists = read_jsonl(listwise_chain.lists, ("query_id", "doc_ids", "order", "source_slot"))
    assert lists
    for record in lists:
        source = next(iter(qrels[record["query_id"]]))
        assert record["doc_ids"] == list(run[record["query_id"]])[:WINDOW]
        assert sorted(record["order"]) == list(range(WINDOW))
        assert record["doc_ids"][record["order"][0]] == source
        assert record["order"][0] == record["source_slot"]


def test_the_teachers_summary_counts_every_query(listwise_chain):
    summary = read_json(listwise_chain.root / "training" / "teacher.json")
    lists = read_jsonl(listwise_chain.lists)
    qrels = read_qrels(listwise_chain.files("train")["qrels"])
    assert summary["lists"] == len(lists) == sum(summary["source_slots"])
    assert summary["lists"] + sum(summary["dropped"].values()) == len(qrels)
    run = read_run(listwise_chain.run("train", "bm25"))
    judged = {record["query_id"]: qrels[record["query_id"]] for record in lists}
    shown = {q: dict(list(run[q].items())[:WINDOW]) for q in judged}
    mean = np.mean(list(ndcg_per_query(judged, shown, CUTOFF).values()))
    assert summary["ndcg"]["first_stage"] == pytest.approx(mean)


def test_a_judged_passage_of_grade_zero_is_no_source(listwise_chain, tmp_path):
    arguments = listwise_chain.teacher_arguments(tmp_path)
    qrels = read_qrels(arguments["qrels"])
    run = read_run(arguments["run"])
    for query_id, judged in qrels.items():
        first = next(iter(run.get(query_id, judged)))
        qrels[query_id] = {first: 0} | judged
    write_qrels(tmp_path / "qrels.txt", qrels)
    order_by_teacher.main(**arguments | {"qrels": tmp_path / "qrels.txt"})
    assert read_jsonl(tmp_path / "lists.jsonl") == read_jsonl(listwise_chain.lists)


def test_no_list_with_its_source_is_an_error(listwise_chain, tmp_path):
    with pytest.raises(DataError, match=r"no list of 50 holds its source .*fewer than 50 cand"):
        order_by_teacher.main(**listwise_chain.teacher_arguments(tmp_path) | {"window": 50})
    assert not any(tmp_path.iterdir())


def test_what_is_shown_are_orders_of_each_list(listwise_chain):
    lists = read_jsonl(listwise_chain.lists)
    summary = read_json(listwise_chain.root / "training" / "shown.json")
    for kind, variants in KINDS.items():
        shown = read_jsonl(listwise_chain.shown(kind), ("query_id", "shown"))
        assert [r["query_id"] for r in shown] == [r["query_id"] for r in lists]
        counts = np.zeros(WINDOW, int)
        for record, of_list in zip(shown, lists, strict=True):
            assert len(record["shown"]) == variants
            for order in record["shown"]:
                assert sorted(order) == list(range(WINDOW))
                counts[order.index(of_list["source_slot"])] += 1
        assert summary["source_slots"][kind] == counts.tolist()
    teacher = read_json(listwise_chain.root / "training" / "teacher.json")
    assert summary["source_slots"]["none"] == teacher["source_slots"]
    # As many rotations as passages: each passage stands at each slot as often.
    assert summary["source_slots"]["rotation"] == [len(lists)] * WINDOW


def test_the_coverage_is_a_row_per_kind(listwise_chain):
    with (listwise_chain.root / "training" / "coverage.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    summary = read_json(listwise_chain.root / "training" / "shown.json")
    assert [row["kind"] for row in rows] == list(KINDS)
    none, random, rotation = (float(row["share"]) for row in rows)
    assert none == 0.2 < random < 0.4
    assert rotation == 1.0
    assert [{k: str(v) for k, v in row.items()} for row in summary["coverage"]] == rows


def test_augmenting_twice_gives_the_same_bytes(listwise_chain, tmp_path):
    augment_lists.main(
        lists=listwise_chain.lists,
        shown=[tmp_path / f"{kind}.jsonl" for kind in KINDS],
        coverage=tmp_path / "coverage.csv",
        summary=tmp_path / "shown.json",
        kinds=KINDS,
        seed=SEED,
    )
    for kind in KINDS:
        before = listwise_chain.shown(kind).read_bytes()
        assert (tmp_path / f"{kind}.jsonl").read_bytes() == before


@pytest.mark.parametrize("model", MODELS)
def test_a_checkpoint_says_how_it_was_trained(listwise_chain, model):
    lists = len(read_jsonl(listwise_chain.lists))
    for seed in SEEDS:
        folder = listwise_chain.checkpoint(model, seed)
        settings = checked_settings(folder, {"reranker": model, "seed": seed})
        assert set(settings["files"]) == {"README.md", "model.safetensors", "scorer.json"}
        assert settings["lists"] == lists
        # As many updates for every augmentation.
        assert settings["steps"] == -(-lists // TRAINING["batch_size"]) * TRAINING["epochs"]
        assert settings["shown_orders"] == lists * KINDS[MODELS[model]["augmentation"]]
        assert (settings["weights"] is not None) == MODELS[model]["ips"]
        assert MODELS[model]["label"] in (folder / "README.md").read_text("utf-8")
    assert not (listwise_chain.root / "resume").exists()


def test_models_and_seeds_have_weights_of_their_own(listwise_chain):
    weights = [
        load_file(str(listwise_chain.checkpoint(model, seed) / "model.safetensors"))["head.weight"]
        for model in MODELS
        for seed in SEEDS
    ]
    for number, one in enumerate(weights):
        assert all(np.abs(one - other).max() > 1e-5 for other in weights[:number])


def test_training_twice_gives_the_same_bytes(listwise_chain, tmp_path):
    out = tmp_path / "model"
    train_reranker.main(**listwise_chain.train_arguments("debiased", 2, out))
    assert content(out) == content(listwise_chain.checkpoint("debiased", 2))


def test_an_interrupted_training_goes_on(listwise_chain, tmp_path, monkeypatch):
    arguments = listwise_chain.train_arguments("debiased", 2, tmp_path / "model")
    with monkeypatch.context() as patch:

        def fail(*args):
            raise DivergedError("stopped before it was saved")

        patch.setattr(train_reranker, "check_finite", fail)
        with pytest.raises(DivergedError, match="stopped"):
            train_reranker.main(**arguments)
    states = list(tmp_path.glob("resume/debiased-2/*/checkpoint-*"))
    assert len(states) == 1
    assert not (tmp_path / "model").exists()
    train_reranker.main(**arguments)
    assert content(tmp_path / "model") == content(listwise_chain.checkpoint("debiased", 2))
    assert not (tmp_path / "resume").exists()


def test_without_the_language_model_loss_the_weights_are_others(listwise_chain, tmp_path):
    arguments = listwise_chain.train_arguments("first", 1, tmp_path / "model")
    train_reranker.main(**arguments | {"entry": MODELS["first"] | {"lm": False}})
    with_lm, without = (
        load_file(str(folder / "model.safetensors"))["head.weight"]
        for folder in (listwise_chain.checkpoint("first", 1), tmp_path / "model")
    )
    assert np.abs(with_lm - without).max() > 1e-5
    assert "language-model loss | no |" in (tmp_path / "model/README.md").read_text("utf-8")


def test_lists_and_presentations_must_be_of_the_same_queries(listwise_chain, tmp_path):
    write_jsonl(tmp_path / "shown.jsonl", read_jsonl(listwise_chain.shown("none"))[::-1])
    arguments = listwise_chain.train_arguments("first", 1, tmp_path / "model")
    with pytest.raises(DataError, match=r"shown.jsonl: other queries than the lists"):
        train_reranker.main(**arguments | {"shown": tmp_path / "shown.jsonl"})


@pytest.mark.parametrize("model", ["first", "debiased"])
def test_propensities_are_there_if_and_only_if_the_model_uses_them(listwise_chain, tmp_path, model):
    arguments = listwise_chain.train_arguments(model, 1, tmp_path / "model")
    wrong = [] if MODELS[model]["ips"] else [listwise_chain.propensity(1)]
    with pytest.raises(DataError, match=f"{model}: .* propensities"):
        train_reranker.main(**arguments | {"propensity": wrong})


def test_every_slot_and_rank_is_counted_once_a_list(listwise_chain):
    for seed in SEEDS:
        record = read_json(listwise_chain.propensity(seed))
        counts = np.array(record["counts"])
        lists = record["queries"] * record["shuffles"]
        assert record["lists"] == lists
        np.testing.assert_array_equal(counts.sum(axis=0), [lists] * WINDOW)
        np.testing.assert_array_equal(counts.sum(axis=1), [lists] * WINDOW)
        np.testing.assert_allclose(record["ratios"], counts / counts.sum())
        assert record["flat"] == 0
        Propensity.from_record(record, listwise_chain.propensity(seed))
    assert listwise_chain.propensity(1).read_bytes() != listwise_chain.propensity(2).read_bytes()


def test_rows_of_the_matrix_are_slots_and_columns_are_ranks(listwise_chain, tmp_path, monkeypatch):
    def second_slot_first(scorer, collection, batch, tape):
        bonus = np.array([0.0, 5.0, 4.0, 3.0, 2.0])
        return lambda queries, passages: np.tile(bonus, (len(queries), 1))

    monkeypatch.setattr(estimate_propensity, "window_score", second_slot_first)
    estimate_propensity.main(**listwise_chain.propensity_arguments(1, tmp_path / "p.json"))
    expected = 80 * np.roll(np.eye(WINDOW, dtype=int), -1, axis=1)
    assert read_json(tmp_path / "p.json")["counts"] == expected.tolist()


def test_a_killed_estimate_of_propensities_goes_on_to_the_same_bytes(
    listwise_chain, tmp_path, monkeypatch
):
    arguments = listwise_chain.propensity_arguments(1, tmp_path / "p.json")
    arguments["resume_dir"] = tmp_path / "resume"
    scores = PassageEmbeddingScorer.scores
    scored = []

    def counted(self, *windows):
        scored.append(windows)
        if len(scored) == 3:
            raise KeyboardInterrupt
        return scores(self, *windows)

    monkeypatch.setattr(PassageEmbeddingScorer, "scores", counted)
    monkeypatch.setattr(score_tape, "ScoreTape", partial(ScoreTape, seconds=0.0))
    with pytest.raises(KeyboardInterrupt):
        estimate_propensity.main(**arguments)
    estimate_propensity.main(**arguments)
    assert len(scored) == 1 + 80 // 16
    assert (tmp_path / "p.json").read_bytes() == listwise_chain.propensity(1).read_bytes()
    assert not (tmp_path / "resume").exists()


def test_propensities_twice_and_in_other_batches_are_the_same_bytes(
    listwise_chain, tmp_path, monkeypatch
):
    monkeypatch.setattr(estimate_propensity, "BLOCK", 13)
    arguments = listwise_chain.propensity_arguments(1, tmp_path / "p.json")
    estimate_propensity.main(**arguments | {"batch_size": 5})
    assert (tmp_path / "p.json").read_bytes() == listwise_chain.propensity(1).read_bytes()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model": "turned"}, "holds reranker first, seed 1, not reranker turned, seed 1"),
        ({"model_seed": 2}, "holds reranker first, seed 1, not reranker first, seed 2"),
        ({"window": 10}, "no query has 10 candidates; raise the first stage's depth"),
    ],
)
def test_propensities_of_another_model_or_window_are_refused(
    listwise_chain, tmp_path, changed, message
):
    arguments = listwise_chain.propensity_arguments(1, tmp_path / "p.json")
    with pytest.raises(DataError, match=message):
        estimate_propensity.main(**arguments | changed)
    assert not (tmp_path / "p.json").exists()


@pytest.mark.parametrize("file", ["model.safetensors", "scorer.json", "posbias.json"])
def test_a_changed_checkpoint_is_refused(listwise_chain, tmp_path, file):
    folder = tmp_path / "model"
    shutil.copytree(listwise_chain.checkpoint("first", 1), folder)
    changed = bytearray((folder / file).read_bytes())
    changed[-2] ^= 1
    (folder / file).write_bytes(changed)
    arguments = listwise_chain.propensity_arguments(1, tmp_path / "p.json")
    with pytest.raises(DataError, match=file):
        estimate_propensity.main(**arguments | {"checkpoint": folder})


def test_a_language_model_is_trained_by_the_same_script(listwise_chain, tmp_path):
    base = tmp_path / "base"
    base.mkdir()
    scorer_of("byte-level").save(base)
    few = read_jsonl(listwise_chain.lists)[:4]
    write_jsonl(tmp_path / "lists.jsonl", few)
    write_jsonl(tmp_path / "shown.jsonl", read_jsonl(listwise_chain.shown("none"))[:4])
    options = {"max_tokens": 1500, "max_words": 8}
    arguments = listwise_chain.train_arguments("first", 1, tmp_path / "model") | {
        "lists": tmp_path / "lists.jsonl",
        "shown": tmp_path / "shown.jsonl",
        "base": [base],
        "scorer": {"kind": "causal_lm", "model": str(base), "encoders": ["one"],
                   "options": options},
        "training": TRAINING | {"batch_size": 2, "epochs": 1},
    }  # fmt: skip
    train_reranker.main(**arguments)
    settings = checked_settings(tmp_path / "model", {"reranker": "first", "seed": 1})
    assert settings["steps"] == 2
    trained = load_scorer("causal_lm", tmp_path / "model", options)
    before = load_scorer("causal_lm", base, options)
    changed = [
        not torch.equal(one, other)
        for one, other in zip(before.parameters(), trained.parameters(), strict=True)
    ]
    assert all(changed)
