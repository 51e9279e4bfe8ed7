"""Verdicts on the listwise study: they follow the numbers, and never fail on missing ones."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwise_measures import COLLECTIONS, estimate, made_up
from posbias.report.claim_records import HELD, NOT_HELD, NOT_MEASURABLE, claim_record
from posbias.report.listwise_claims import judge_listwise, listwise_claims_text
from posbias.report.listwise_gain_claims import saturation
from posbias.report.listwise_verdicts import KINDS, Thresholds

THRESHOLDS = Thresholds(first_slots=3, saturation_tolerance=0.002, alpha=0.05, single_share=0.85)
ALWAYS = ("study", "measure", "seeds", "interval", "models", "roles", "systems")


def judged(record: dict, thresholds: Thresholds = THRESHOLDS) -> dict[str, dict[str, Any]]:
    claims = judge_listwise(record, thresholds)
    found = {claim["id"].removeprefix("listwise."): claim for claim in claims}
    assert len(found) == len(claims)
    return found


def test_every_claim_holds_where_the_numbers_are_the_papers() -> None:
    record = made_up()
    record["ips_only"] = [e for e in record["ips_only"] if not e["what"].startswith("original")]
    claims = judged(record)
    assert {key: c["status"] for key, c in claims.items() if c["status"] != HELD} == {}
    assert {key.split(".")[0] for key in claims} == set(KINDS)


def test_records_have_the_fields_of_the_other_study() -> None:
    fields = list(claim_record("", "", ""))
    for claim in judge_listwise(made_up(), THRESHOLDS):
        assert list(claim) == fields
        assert claim["retriever"] is None
        assert claim["source"].startswith("arXiv 2604.03642, ")
    json.dumps(judge_listwise(made_up(), THRESHOLDS), allow_nan=False)


def swapped_roles() -> dict:
    return made_up() | {"roles": {"baseline": "debiasfirst", "proposed": "first"}}


def test_the_claims_flip_when_the_models_change_roles() -> None:
    claims = judged(swapped_roles())
    for key in ("slot_variance", "first_slots", "drop.wiki", "shuffled.leads", "stages.titles",
                "single_order.wiki.top20", "saturation.leads.top100", "best_variant.original",
                "drop.all", "shuffled.all", "stages.all"):  # fmt: skip
        assert claims[key]["status"] == NOT_HELD, key
    assert claims["slot_variance"]["value"] == -judged(made_up())["slot_variance"]["value"]
    assert claims["bm25_gain.wiki"]["value"] == "minilm_l6"


def test_a_difference_that_chance_explains_is_not_held() -> None:
    record = made_up()
    for entry in record["slots"]["differences"]:
        entry |= {"low": -0.001}
    claims = judged(record)
    assert claims["slot_variance"]["status"] == NOT_HELD
    assert claims["slot_variance"]["explanation"].endswith("its interval includes 0")
    assert claims["augmentation.posaug"]["status"] == NOT_HELD
    assert claims["augmentation.all"]["explanation"].startswith("2 of 4 models; not held: randaug")


def test_early_slots_and_first_slots_take_paired_differences_where_there_are_some() -> None:
    record = made_up()
    assert judged(record)["early_slots"]["interval"]["separate"]
    paired = {"slots": 3, "difference": 0.1, "low": -0.02, "high": 0.2}
    record["slots"]["differences"] += [
        {"a": "first", "b": "first", "what": "first less last slots", **paired},
        {"a": "debiasfirst", "b": "first", "what": "first slots", **paired},
    ]
    claims = judged(record)
    assert claims["early_slots"]["status"] == NOT_HELD
    assert claims["early_slots"]["interval"] == {"low": -0.02, "high": 0.2}
    assert claims["first_slots"]["value"] == -0.1
    assert claims["first_slots"]["interval"] == {"low": -0.2, "high": 0.02}
    other = judged(record, Thresholds(2, 0.002, 0.05, 0.85))
    assert other["early_slots"]["status"] == HELD, "a difference over other slots is passed over"


def test_a_level_curve_has_no_early_bias() -> None:
    record = made_up()
    for at in record["slots"]["systems"]["first"]["curve"]:
        at |= estimate(0.6)
    claims = judged(record)
    assert (claims["early_slots"]["status"], claims["early_slots"]["value"]) == (NOT_HELD, 0)
    assert claims["first_slots"]["status"] == NOT_HELD


def test_shuffled_needs_the_corrected_test() -> None:
    record = made_up()
    for collection in ("leads", "titles"):
        for entry in record["orders"][collection]["comparisons"]:
            entry["p_holm"] = 0.06
    claims = judged(record)
    assert claims["shuffled.wiki"]["status"] == HELD
    assert claims["shuffled.leads"]["status"] == NOT_HELD
    assert "not below 0.05" in claims["shuffled.leads"]["explanation"]
    assert claims["shuffled.all"]["status"] == NOT_HELD  # 1 of 3 is less than the paper's half
    assert judged(record, Thresholds(3, 0.002, 0.1, 0.85))["shuffled.all"]["status"] == HELD


def test_half_of_the_collections_significant_is_what_the_paper_has() -> None:
    record = made_up()
    for entry in record["orders"]["titles"]["comparisons"]:
        entry["p_holm"] = 0.3
    claims = judged(record)
    assert claims["shuffled.all"]["status"] == HELD
    assert (claims["shuffled.all"]["value"], claims["shuffled.all"]["threshold"]) == (2, 1.5)
    for entry in record["orders"]["titles"]["comparisons"]:
        entry["mean_difference"] = -0.001
    assert judged(record)["shuffled.all"]["status"] == NOT_HELD


def test_a_paired_test_of_the_drop_decides_where_there_is_one() -> None:
    record = made_up()
    record["orders"]["wiki"]["comparisons"].append(
        {"order": "drop", "first": "debiasfirst", "second": "first", "n": 300,
         "mean_difference": -0.041, "low": -0.1, "high": 0.01, "p": 0.2, "p_holm": 0.4}
    )  # fmt: skip
    claim = judged(record)["drop.wiki"]
    assert (claim["status"], claim["value"]) == (NOT_HELD, 0.041)
    assert claim["interval"] == {"low": -0.01, "high": 0.1}


def test_one_first_stage_below_is_enough_to_fail() -> None:
    record = made_up()
    record["first_stage_table"]["leads"]["rrf"]["debiasfirst"] = estimate(0.1)
    claims = judged(record)
    assert claims["stages.leads"]["status"] == NOT_HELD
    assert (claims["stages.leads"]["value"], claims["stages.leads"]["threshold"]) == (3, 4)
    assert claims["stages.all"]["explanation"] == "2 of 3 collections; not held: leads"


def test_paired_gains_must_exclude_0() -> None:
    record = made_up()
    for stage, low in zip(record["first_stage_table"]["wiki"].values(), (1, 1, -1, 1), strict=True):
        stage["difference"] = {"difference": 0.02, "low": 0.01 * low, "high": 0.03}
    claims = judged(record)
    assert (claims["stages.wiki"]["status"], claims["stages.wiki"]["value"]) == (NOT_HELD, 3)
    assert claims["bm25_gain.wiki"]["status"] == NOT_HELD  # all gains are equal


def test_the_largest_gain_elsewhere_is_named() -> None:
    record = made_up()
    record["first_stage_table"]["wiki"]["rrf"]["debiasfirst"] = estimate(0.9)
    claim = judged(record)["bm25_gain.wiki"]
    assert (claim["status"], claim["value"], claim["threshold"]) == (NOT_HELD, "rrf", "bm25")


def test_the_smallest_loss_is_no_gain() -> None:
    record = made_up()
    for loss, stage in enumerate(record["first_stage_table"]["wiki"].values(), start=1):
        stage["debiasfirst"] = estimate(0.6 - 0.01 * loss)
    claim = judged(record)["bm25_gain.wiki"]
    assert (claim["status"], claim["value"]) == (NOT_HELD, "bm25")


def test_single_orders_are_counted_against_all_orders_aggregated() -> None:
    record = made_up()
    singles = record["permutations"]["wiki"]["systems"]["debiasfirst"]["single"]
    for at in singles[:3]:
        at["mean"] = 0.5
    claim = judged(record)["single_order.wiki.top20"]
    assert (claim["status"], claim["value"], claim["threshold"]) == (HELD, 17, 17)
    singles[3]["mean"] = 0.5
    assert judged(record)["single_order.wiki.top20"]["status"] == NOT_HELD
    lenient = Thresholds(3, 0.002, 0.05, 0.8)
    assert judged(record, lenient)["single_order.wiki.top20"]["status"] == HELD


def test_saturation_is_the_fewest_orders_within_the_tolerance() -> None:
    entries = [{"m": m, "mean": mean} for m, mean in ((1, 0.5), (2, 0.598), (3, 0.6), (4, 0.59))]
    assert saturation(entries, 0.002) == 2
    assert saturation(entries, 0.0019) == 3
    assert saturation(entries, 0.0) == 3
    assert saturation(entries, 0.1) == 1
    assert saturation([], 0.1) is saturation(None, 0.1) is None
    assert saturation([{"m": 1, "mean": None}], 0.1) is None


@given(
    st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=20),
    st.floats(min_value=0, max_value=1),
)
def test_saturation_names_an_order_that_reaches_it_first(means, tolerance) -> None:
    entries = [{"m": m, "mean": mean} for m, mean in enumerate(means, start=1)]
    found = saturation(entries, tolerance)
    assert means[found - 1] >= max(means) - tolerance - 1e-8
    assert all(mean < max(means) - tolerance for mean in means[: found - 1])


def test_equal_saturation_is_not_fewer() -> None:
    assert judged(made_up(), Thresholds(3, 1.0, 0.05, 0.85))["saturation.all"]["value"] == 0


def test_the_best_variant_is_named() -> None:
    record = made_up()
    record["ablation"][4]["shuffled"] = estimate(0.7)
    claims = judged(record)
    assert claims["best_variant.original"]["status"] == HELD
    claim = claims["best_variant.shuffled"]
    assert (claim["status"], claim["value"], claim["threshold"]) == (
        NOT_HELD,
        "posaug",
        "debiasfirst",
    )


@pytest.mark.parametrize(
    ("what", "bounds", "status"),
    [
        ("shuffled nDCG", (0.001, 0.01), HELD),
        ("shuffled nDCG", (-0.001, 0.01), NOT_HELD),
        ("shuffled nDCG", (-0.01, -0.001), NOT_HELD),
        ("slot mean", (0.001, 0.01), HELD),
        ("slot variance", (0.0001, 0.001), NOT_HELD),
        ("slot variance", (-0.001, 0.0001), NOT_HELD),
        ("slot variance", (-0.001, -0.0001), HELD),
        ("slot variance", (None, None), NOT_MEASURABLE),
    ],
)
def test_ips_alone_is_held_only_where_its_interval_shows_an_improvement(
    what, bounds, status
) -> None:
    record = made_up()
    low, high = bounds
    difference = None if low is None else (low + high) / 2
    record["ips_only"] = [
        {"augmentation": "rotation", "what": what, "difference": difference, "low": low,
         "high": high}
    ]  # fmt: skip
    found = [c for key, c in judged(record).items() if key.startswith("ips.rotation")]
    assert [claim["status"] for claim in found] == [status]
    if low is not None:
        assert found[0]["value"] == difference
        assert found[0]["interval"] == {"low": low, "high": high}


def test_without_its_parts_nothing_is_measurable_and_every_reason_is_told() -> None:
    bare = {name: value for name, value in made_up().items() if name in ALWAYS}
    claims = judged(bare)
    assert {claim["status"] for claim in claims.values()} == {NOT_MEASURABLE}
    assert all(claim["explanation"] for claim in claims.values())
    assert {key.split(".")[0] for key in claims} == set(KINDS)
    assert "0 held, 0 not held" in listwise_claims_text(list(claims.values()))


def emptied(value: Any, keep: tuple[str, ...]) -> Any:
    """Return the value with every number replaced by null, but under the keys to keep."""
    if isinstance(value, dict):
        return {k: v if k in keep else emptied(v, keep) for k, v in value.items()}
    if isinstance(value, list):
        return [emptied(item, keep) for item in value]
    return None if isinstance(value, int | float) and not isinstance(value, bool) else value


def test_nulls_everywhere_are_not_measurable() -> None:
    counted = ("slot", "m", "order", "depth", "n", "seeds", "interval")
    claims = judged(emptied(made_up(), counted))
    assert {claim["status"] for claim in claims.values()} == {NOT_MEASURABLE}
    json.dumps(list(claims.values()), allow_nan=False)


@pytest.mark.parametrize("part", ["orders", "first_stage_table", "permutations"])
def test_a_collection_of_nothing_is_not_measurable(part) -> None:
    record = made_up()
    record[part] = dict.fromkeys(COLLECTIONS)
    record.pop("permutations_sliding")
    claims = judged(record)
    kinds = {"orders": "drop", "first_stage_table": "stages", "permutations": "saturation"}
    own = [c for key, c in claims.items() if key.startswith(kinds[part])]
    assert own and {claim["status"] for claim in own} == {NOT_MEASURABLE}


def test_a_test_without_p_is_not_measurable() -> None:
    record = made_up()
    for entry in record["orders"]["wiki"]["comparisons"]:
        entry |= {"p": None, "p_holm": None, "low": None, "high": None}
    claims = judged(record)
    assert claims["shuffled.wiki"]["status"] == NOT_MEASURABLE
    assert claims["shuffled.wiki"]["value"] is not None
    record["orders"]["wiki"]["comparisons"] = []
    assert "not compared" in judged(record)["shuffled.wiki"]["explanation"]


def test_text_counts_the_single_claims_and_names_every_kind() -> None:
    claims = judge_listwise(made_up(), THRESHOLDS)
    text = listwise_claims_text(claims)
    single = [claim for claim in claims if not claim["id"].endswith(".all")]
    held = sum(claim["status"] == HELD for claim in single)
    first = text.splitlines()[0]
    assert first.startswith(
        f"Listwise study (arXiv 2604.03642), {len(single)} claims: {held} held, "
    )
    for kind in KINDS:
        told = next(c for c in claims if c["id"].split(".")[1] == kind)
        assert told["claim"][1:] in text
    assert text.count("\n  held") + text.count("\n  not ") == len(claims)
