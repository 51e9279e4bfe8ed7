"""The ablation: which models differ in one part, and what that part is worth."""

import numpy as np
import pytest

from listwise_frames import HOW, order_frame, slot_frame
from posbias.listwise.ablation import ablation_rows, augmentation_pairs, ips_only, ips_pairs


def model(augmentation: str, ips: bool, lm: bool = True) -> dict:
    return {"label": "a model", "augmentation": augmentation, "ips": ips, "lm": lm}


MODELS = {
    "first": model("none", False),
    "first_ips": model("none", True),
    "random": model("random", False),
    "turned": model("rotation", False),
    "turned_ips": model("rotation", True),
    "turned_ips_no_lm": model("rotation", True, lm=False),
}
SLOTS = {name: [0.9 - 0.1 * n, 0.5] for n, name in enumerate(MODELS)}
ORDERS = {name: [0.7 + 0.02 * n, 0.5 + 0.03 * n, 0.5 + 0.03 * n] for n, name in enumerate(MODELS)}


def test_pairs_differ_in_one_part_alone():
    assert ips_pairs(MODELS) == [("first_ips", "first"), ("turned_ips", "turned")]
    assert augmentation_pairs(MODELS) == [
        ("first", "random"),
        ("first", "turned"),
        ("first_ips", "turned_ips"),
    ]
    assert ips_pairs({"first": MODELS["first"]}) == []
    assert augmentation_pairs({"turned": MODELS["turned"]}) == []


def test_a_row_per_model_in_print_order():
    by_slot = {name: {"mean": n, "variance": -n} for n, name in enumerate(MODELS)}
    by_order = {name: {"original": 10 + n, "shuffled": 20 + n} for n, name in enumerate(MODELS)}
    rows = ablation_rows(MODELS, by_slot, by_order)
    assert [row["model"] for row in rows] == list(MODELS)
    assert rows[5] == {
        "model": "turned_ips_no_lm",
        "augmentation": "rotation",
        "ips": True,
        "lm": False,
        "original": 15,
        "shuffled": 25,
        "slot_mean": 5,
        "slot_variance": -5,
    }


def test_with_less_without():
    found = ips_only(MODELS, slot_frame(SLOTS), order_frame(ORDERS), **HOW)
    by_name = {(record["augmentation"], record["what"]): record for record in found}
    measures = ("slot variance", "slot mean", "original nDCG", "shuffled nDCG", "drop nDCG")
    assert set(by_name) == {(kind, what) for kind in ("none", "rotation") for what in measures}
    differences = [by_name["none", what]["difference"] for what in measures]
    variance = np.var(SLOTS["first_ips"]) - np.var(SLOTS["first"])
    assert differences == pytest.approx([variance, -0.05, 0.02, 0.03, -0.01])
    for record in found:
        assert {"low", "high", "n"} <= record.keys()
        if record["what"] not in ("slot variance", "slot mean"):
            assert record["p"] <= record["p_holm"]
            pair = next(
                pair
                for pair in ips_pairs(MODELS)
                if MODELS[pair[0]]["augmentation"] == record["augmentation"]
            )
            assert (record["a"], record["b"]) == pair


def test_without_a_pair_there_is_nothing():
    plain = {"first": MODELS["first"]}
    assert ips_only(plain, slot_frame(SLOTS), order_frame(ORDERS), **HOW) == []
