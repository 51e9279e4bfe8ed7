"""The joint loss, the examples, and the trainer: what it learns of slots, and interruptions."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import TrainingArguments

from listwise_toy import BODY, OPTIONS, toy_collection
from posbias.errors import ConfigError, DataError, DivergedError
from posbias.listwise.augment import presentations
from posbias.listwise.collection import Collection
from posbias.listwise.losses import ranks_of
from posbias.listwise.ordering import order_by_score
from posbias.listwise.propensity import Propensity, inverse_weights
from posbias.listwise.reranking import window_score
from posbias.listwise.scorers import build_scorer
from posbias.listwise.training import Objective, make_reranker_trainer, shown_lists
from posbias.training.resumption import last_state

torch.set_num_threads(1)
K = 5
COLLECTION = toy_collection(48, 60)
TRAINING = {
    "batch_size": 8,
    "gradient_accumulation": 1,
    "learning_rate": 5e-3,
    "warmup_ratio": 0.1,
    "schedule": "linear",
    "weight_decay": 0.01,
    "max_grad_norm": 1.0,
    "save_every": 3,
    "log_every": 5,
}
PLAIN = Objective(lm=True, weight=0.1, index="rank", reduction="sum")
# No cosine to begin with: what it learns, it learns from slots and vectors.
SCORER = OPTIONS | {"prior": 0.0, "body": BODY}


def records(n: int = 48) -> list[dict]:
    """Lists of random passages whose first one is always the teacher's first."""
    found = []
    for number in range(n):
        rng = np.random.default_rng(number)
        order = [0, *(1 + rng.permutation(K - 1)).tolist()]
        doc_ids = [f"d{row}" for row in rng.permutation(60)[:K]]
        found.append({"query_id": f"q{number}", "doc_ids": doc_ids, "order": order})
    return found


def examples(kind: str = "none", variants: int = 1) -> list[dict]:
    lists = records()
    shown = [presentations(kind, r["query_id"], K, 0, variants) for r in lists]
    return shown_lists(lists, shown, COLLECTION)


def trainer_of(folder, found, steps, objective=PLAIN, seed=3, slot_scale=1.0, **changed):
    module = build_scorer(
        "passage_embedding", COLLECTION, SCORER | {"slot_scale": slot_scale}, seed
    )
    options = TRAINING | changed
    return make_reranker_trainer(
        module, COLLECTION, found, objective, options, steps, seed, folder, "toy"
    )


def test_a_machine_that_shows_four_gpus_trains_the_scorer_itself_on_one(tmp_path, monkeypatch):
    shown = property(lambda arguments: arguments._n_gpu or 4)  # there are none here
    monkeypatch.setattr(TrainingArguments, "n_gpu", shown)
    trainer = trainer_of(tmp_path, examples(), 2)
    assert trainer.args.train_batch_size == TRAINING["batch_size"]
    trainer.train()
    assert trainer.model_wrapped is trainer.model


def weights(trainer) -> torch.Tensor:
    return torch.cat([value.flatten() for value in trainer.model.state_dict().values()])


def softplus(x: float) -> float:
    return float(np.logaddexp(0, x))


# Two passages in two lists; the second list prefers its second slot.
SCORES = torch.tensor([[0.3, 1.5], [0.3, 1.5]], dtype=torch.float64)
RANKS = torch.tensor([[1, 2], [2, 1]])
LM = torch.tensor([2.0, 4.0], dtype=torch.float64)


def test_the_objective_by_hand():
    rank = (softplus(1.2) / 3 + softplus(-1.2) / 3) / 2
    assert PLAIN(SCORES, LM, RANKS).item() == pytest.approx(3 + 0.1 * rank)
    assert Objective(False, 0.1, "rank", "sum")(SCORES, LM, RANKS).item() == pytest.approx(
        0.1 * rank
    )
    assert Objective(True, 0.0, "rank", "mean")(SCORES, LM, RANKS).item() == pytest.approx(3)


def test_the_objective_with_propensities_by_hand():
    # Slot 1 comes first in 3 of 4 lists.
    item = inverse_weights(Propensity(np.array([[3, 1], [1, 3]])))
    np.testing.assert_allclose(item.weights, [[2 / 3, 2], [2, 2 / 3]])
    weighted = Objective(False, 1.0, "rank", "sum", item)(SCORES, LM, RANKS).item()
    kept, turned = softplus(1.2) / 3 * (2 / 3) ** 2, softplus(-1.2) / 3 * 2**2
    assert weighted == pytest.approx((kept + turned) / 2)


@given(st.integers(0, 100), st.sampled_from(["rank", "slot"]), st.sampled_from(["sum", "mean"]))
def test_even_propensities_change_nothing(seed, index, reduction):
    rng = np.random.default_rng(seed)
    scores = torch.from_numpy(rng.normal(size=(3, 4)))
    ranks = ranks_of(np.stack([rng.permutation(4) for _ in range(3)]))
    even = inverse_weights(Propensity(np.full((4, 4), 5)))
    loss, weighted = (
        Objective(False, 0.7, index, reduction, weights)(scores, None, ranks)
        for weights in (None, even)
    )
    torch.testing.assert_close(loss, weighted)


def test_an_objective_of_nothing_is_named():
    with pytest.raises(ConfigError, match="weight of the rank loss must be at least 0"):
        Objective(False, -1.0, "rank", "sum")(SCORES, LM, RANKS)
    with pytest.raises(ConfigError, match="index 'place'"):
        Objective(True, 1.0, "place", "sum")(SCORES, LM, RANKS)


@given(st.integers(0, 1000), st.integers(1, 8))
def test_an_order_names_the_same_passages_after_any_shuffle(seed, k):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(60)[:k]
    order = rng.permutation(k)
    record = {"query_id": "q7", "doc_ids": [f"d{row}" for row in rows], "order": order.tolist()}
    shuffles = [rng.permutation(k) for _ in range(3)]
    found = shown_lists([record], [shuffles], COLLECTION)
    assert len(found) == 3
    for example, places in zip(found, shuffles, strict=True):
        assert example["query"] == 7
        np.testing.assert_array_equal(example["passages"], rows[places])
        np.testing.assert_array_equal(example["passages"][example["order"]], rows[order])


def test_each_list_and_presentation_is_one_example():
    found = examples("rotation", 5)
    assert len(found) == 48 * 5
    assert [int(example["query"]) for example in found[:6]] == [0] * 5 + [1]
    first_slots = {int(example["order"][0]) for example in found[:5]}
    assert first_slots == set(range(5))


def test_examples_that_cannot_be_made():
    with pytest.raises(DataError, match="there is no list to train on"):
        shown_lists([], [], COLLECTION)
    with pytest.raises(ValueError, match="zip"):
        shown_lists(records(), [[np.arange(K)]], COLLECTION)


def mean_rank_by_slot(module) -> np.ndarray:
    """The mean rank of what stands at each slot of random windows: (K,)."""
    rng = np.random.default_rng(99)
    passages = np.stack([rng.permutation(60)[:K] for _ in range(400)])
    scores = window_score(module.eval(), COLLECTION, 100)(rng.integers(0, 48, 400), passages)
    return order_by_score(scores, passages).argsort(axis=1).mean(axis=0) + 1


def test_sources_at_the_first_slot_teach_to_prefer_it_and_shuffled_lists_do_not(tmp_path):
    ranks = {}
    for kind in ("none", "random"):
        found = examples(kind, 1 if kind == "none" else 5)
        trainer = trainer_of(tmp_path / kind, found, 30, slot_scale=3.0, learning_rate=2e-2)
        trainer.train()
        ranks[kind] = mean_rank_by_slot(trainer.model)
    assert ranks["none"][0] < 1.5
    assert ranks["none"][1:].min() > 2.5
    assert np.abs(ranks["random"] - 3).max() < 0.8


@pytest.mark.parametrize("stop", [4, 6])
def test_a_resumed_training_ends_as_an_unbroken_one(tmp_path, stop):
    from transformers import TrainerCallback

    class PowerCut(TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            if state.global_step == stop:
                raise RuntimeError("the lights went out")

    found = examples("rotation", 2)
    whole = trainer_of(tmp_path / "whole", found, 8)
    whole.train()
    cut = trainer_of(tmp_path / "cut", found, 8)
    cut.add_callback(PowerCut())
    with pytest.raises(RuntimeError, match="lights"):
        cut.train()
    state = last_state(tmp_path / "cut")
    assert state.name == "checkpoint-3"
    resumed = trainer_of(tmp_path / "cut", found, 8)
    assert not torch.equal(weights(resumed), weights(whole))
    resumed.train(resume_from_checkpoint=str(state))
    assert torch.equal(weights(resumed), weights(whole))


def test_the_same_training_twice_and_with_another_seed(tmp_path):
    found = examples()
    trained = []
    for name, seed in (("one", 3), ("two", 3), ("three", 4)):
        trainer = trainer_of(tmp_path / name, found, 3, seed=seed)
        trainer.train()
        trained.append(weights(trainer))
    assert torch.equal(trained[0], trained[1])
    assert not torch.equal(trained[0], trained[2])


def test_two_halves_of_a_batch_give_the_update_of_the_whole(tmp_path):
    found = examples()
    trained = []
    for batch, accumulation in ((8, 1), (4, 2)):
        trainer = trainer_of(
            tmp_path / str(batch), found, 4, batch_size=batch, gradient_accumulation=accumulation
        )
        before = weights(trainer)
        trainer.train()
        trained.append(weights(trainer))
    assert (trained[0] - before).abs().max() > 1e-3
    torch.testing.assert_close(trained[0], trained[1], rtol=0, atol=2e-4)


def test_the_logged_loss_is_the_objective(tmp_path):
    found = examples()[:8]
    trainer = trainer_of(tmp_path, found, 1, log_every=1)
    query, passages, order = (
        np.stack([example[name] for example in found]) for name in ("query", "passages", "order")
    )
    scores, lm = trainer.model.training_scores(COLLECTION, query, passages, order)
    expected = PLAIN(scores, lm, ranks_of(order)).item()
    trainer.train()
    logged = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert logged == [pytest.approx(expected, abs=2e-4)]


def test_a_loss_that_is_no_number_stops_the_training(tmp_path):
    trainer = trainer_of(tmp_path, examples(), 4, log_every=1)
    torch.nn.init.constant_(trainer.model.prior, float("nan"))
    with pytest.raises(DivergedError, match="toy: the loss is nan at step 1"):
        trainer.train()


def test_every_list_is_seen_before_one_comes_again(tmp_path):
    found = examples()
    trainer = trainer_of(tmp_path, found, 6)
    loader = trainer.get_train_dataloader()
    seen = list(itertools.chain.from_iterable(batch["query"].tolist() for batch in loader))
    assert sorted(seen) == list(range(48))
    assert seen != sorted(seen)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query_id": "nobody"}, "lacks this query"),
        ({"doc_ids": ["d0", "elsewhere"]}, "lacks document 'elsewhere'"),
        ({"doc_ids": ["d0", "d0"]}, "stands in it twice"),
        ({"order": [0]}, "teacher's order does not name each of its 2 places once"),
        ({"order": [1, 1]}, "teacher's order"),
    ],
)
def test_a_list_of_another_collection_or_a_damaged_one_is_named(change, message):
    collection = Collection(["q0"], ["words"], ["d0", "d1"], ["one", "two"])
    record = {"query_id": "q0", "doc_ids": ["d0", "d1"], "order": [1, 0]} | change
    with pytest.raises(DataError, match=message):
        shown_lists([record], [[np.arange(2)]], collection)
