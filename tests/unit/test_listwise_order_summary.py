"""Original and shuffled orders, first stages and their paired tests: against values by hand."""

import numpy as np
import pandas as pd
import pytest

from listwise_frames import HOW, order_frame
from posbias.errors import DataError
from posbias.listwise.order_summary import comparisons, first_stage_table, summarise_orders

MEANS = {
    "base": [0.70, 0.50, 0.54],
    "new": [0.72, 0.71, 0.71],
    "first_stage": [0.60, 0.20, 0.22],
}
FRAME = pd.concat(
    [
        order_frame(MEANS),
        order_frame({name: [means[0] - 0.1] for name, means in MEANS.items()}, stages=("other",)),
        order_frame({name: [0.4, 0.3] for name in MEANS}, queries=8, collection="leads"),
    ],
    ignore_index=True,
)
PAIRS = [("new", "base"), ("new", "first_stage")]
STABILITY = pd.DataFrame(
    [
        {
            "system": system,
            "seed": seed,
            "collection": "wiki",
            "query_id": f"q{query}",
            "tau_psi": t,
        }
        for system, value in (("base", 0.3), ("new", 0.1))
        for seed in (1, 2)
        for query, t in ((0, value - 0.1), (1, value + 0.1), (2, np.nan))
    ]
)


@pytest.fixture(scope="module")
def record() -> dict:
    return summarise_orders(FRAME, STABILITY, "main", PAIRS, **HOW)


def test_means_drops_and_variances(record):
    assert list(record) == ["wiki", "leads"]
    wiki = record["wiki"]
    assert (wiki["first_stage"], wiki["n"], wiki["shuffles"]) == ("main", 30, 2)
    assert (record["leads"]["n"], record["leads"]["shuffles"]) == (8, 1)
    for name, (original, *shuffled) in MEANS.items():
        found = wiki["systems"][name]
        assert found["original"]["mean"] == pytest.approx(original)
        assert found["shuffled"]["mean"] == pytest.approx(np.mean(shuffled))
        assert found["drop"]["mean"] == pytest.approx(original - np.mean(shuffled))
        assert found["variance_over_shuffles"] == pytest.approx(np.var(shuffled), abs=1e-12)
        assert found["per_seed"]["original"] == pytest.approx([original] * 2)
        assert found["per_seed"]["shuffled"] == pytest.approx([np.mean(shuffled)] * 2)
        for part in ("original", "shuffled", "drop"):
            assert found[part]["low"] < found[part]["mean"] < found[part]["high"]


def test_instability_is_averaged_over_the_lists_that_have_one(record):
    systems = record["wiki"]["systems"]
    assert systems["base"]["tau_psi"] == pytest.approx(0.3)
    assert systems["new"]["tau_psi"] == pytest.approx(0.1)
    assert systems["first_stage"]["tau_psi"] is None
    assert record["leads"]["systems"]["base"]["tau_psi"] is None


def test_lists_of_one_candidate_have_no_instability():
    unknown = STABILITY.assign(tau_psi=np.nan)
    found = summarise_orders(FRAME, unknown, "main", PAIRS, **HOW)
    assert found["wiki"]["systems"]["base"]["tau_psi"] is None


def test_comparisons_of_a_collection_are_one_family(record):
    found = record["wiki"]["comparisons"]
    assert [(r["order"], r["first"], r["second"]) for r in found] == [
        (order, *pair) for order in ("original", "shuffled", "drop") for pair in PAIRS
    ]
    differences = [r["mean_difference"] for r in found]
    assert differences == pytest.approx([0.02, 0.12, 0.19, 0.5, 0.01 - 0.18, 0.01 - 0.39])
    for one in found:
        assert one["low"] - 1e-9 <= one["mean_difference"] <= one["high"] + 1e-9
        assert one["p"] <= one["p_holm"] <= min(1, one["p"] * 6 + 1e-300)


def test_the_sign_of_a_comparison_turns_with_its_pair():
    rows = FRAME[(FRAME["collection"] == "wiki") & (FRAME["first_stage"] == "main")]
    there = comparisons(rows, [("new", "base")], **HOW)
    back = comparisons(rows, [("base", "new")], **HOW)
    for one, other in zip(there, back, strict=True):
        assert one["mean_difference"] == pytest.approx(-other["mean_difference"])
        assert one["p"] == pytest.approx(other["p"])


def test_first_stages_alone_and_reranked():
    table = first_stage_table(FRAME, "base", "new", **HOW)
    assert list(table) == ["wiki", "leads"]
    assert list(table["wiki"]) == ["main", "other"]
    main, other = table["wiki"]["main"], table["wiki"]["other"]
    assert set(main) == {"alone", "base", "new", "difference"}
    assert main["alone"]["mean"] == pytest.approx(0.6)
    assert (main["base"]["mean"], main["new"]["mean"]) == pytest.approx((0.70, 0.72))
    assert other["new"]["mean"] == pytest.approx(0.62)
    assert main["difference"]["difference"] == pytest.approx(0.02)
    assert main["difference"]["n"] == 30
    assert "mean_difference" not in main["difference"]


def test_shuffled_orders_are_no_part_of_the_first_stages():
    originals = FRAME[FRAME["order"] == 0]
    assert first_stage_table(originals, "base", "new", **HOW) == first_stage_table(
        FRAME, "base", "new", **HOW
    )


@pytest.mark.parametrize("order", [0, 1])
def test_values_of_other_queries_are_refused(order):
    frame = FRAME.copy()
    place = (frame["collection"] == "wiki") & (frame["system"] == "new") & (frame["seed"] == 2)
    place &= (frame["order"] == order) & (frame["first_stage"] == "main")
    frame.loc[place & (frame["query_id"] == "q003"), "query_id"] = "q999"
    message = rf"collection wiki, system new, seed 2, order {order}: evaluated on other queries"
    with pytest.raises(DataError, match=message):
        summarise_orders(frame, STABILITY, "main", PAIRS, **HOW)
    if order == 0:
        with pytest.raises(DataError, match="first_stage main, system new, seed 2"):
            first_stage_table(frame, "base", "new", **HOW)


def test_a_system_more_changes_no_other(record):
    fewer = FRAME[FRAME["system"] != "first_stage"]
    found = summarise_orders(fewer, STABILITY, "main", PAIRS[:1], **HOW)["wiki"]
    assert found["systems"]["base"] == record["wiki"]["systems"]["base"]
    values = ("mean_difference", "low", "high", "p")
    for one, other in zip(found["comparisons"], record["wiki"]["comparisons"][::2], strict=True):
        assert [one[name] for name in values] == [other[name] for name in values]
