"""The verdicts on the paper's claims, on the paper's own numbers and on invented ones."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.report.claims import HELD, NOT_HELD, NOT_MEASURABLE, claims_text, judge_claims
from report_measures import SETTINGS, TABLE_3, made_up, paper_records, record


def judged(records: list, tolerance: float = 0.007) -> dict[str, dict]:
    return {claim["id"]: claim for claim in judge_claims(records, tolerance)}


def test_every_claim_holds_on_the_papers_numbers() -> None:
    claims = judged(paper_records())
    assert {claim["status"] for claim in claims.values()} == {HELD}
    for key in TABLE_3:
        assert "inside the paper's 57-87 %" in claims[f"psi.{key}"]["explanation"]
    assert round(claims["psi.longformer"]["value"], 3) == 0.568
    assert round(claims["psi.gpt2"]["value"], 4) == 0.8649
    assert claims["psi.all"]["value"] == claims["psi.all"]["threshold"] == 8


def test_the_mean_trails_by_exactly_the_papers_tolerance() -> None:
    claims = judged(paper_records())
    assert claims["mean.modernbert_large"]["value"] == pytest.approx(-0.007)
    tight = judged(paper_records(), tolerance=0.0)
    failed = {c["retriever"] for c in tight.values() if c["status"] == NOT_HELD}
    assert failed == {"modernbert_base", "modernbert_large", "gpt2", None}
    assert tight["mean.all"]["explanation"].startswith("5 of 8 retrievers; not held: modernbert")


def test_direction_names_the_favoured_third() -> None:
    claims = judged(made_up())
    assert claims["direction_begin.bloom"]["status"] == NOT_HELD
    assert claims["direction_begin.bloom"]["value"] == "end"
    assert claims["direction_end.bloom"]["status"] == HELD
    assert (claims["direction.all"]["status"], claims["direction.all"]["value"]) == (NOT_HELD, 6)


def test_intervals_inform_but_do_not_decide() -> None:
    claims = judged(made_up())
    close, clear = claims["direction_begin.longformer"], claims["direction_begin.bert"]
    assert close["status"] == clear["status"] == HELD
    assert (close["interval"]["separate"], clear["interval"]["separate"]) == (False, True)
    assert claims["psi.qwen3"]["interval"]["compared"].keys() == {"MU", "ME"}


def test_reduction_outside_the_papers_range_is_information_only() -> None:
    claim = judged(made_up())["psi.bloom"]
    assert claim["status"] == HELD
    assert "outside the paper's 57-87 %" in claim["explanation"]


def test_null_psi_and_missing_settings_are_not_measurable() -> None:
    records = made_up()
    records[0]["groupings"]["thirds"] |= {"psi": None, "psi_note": "a group has 3 queries"}
    claims = judged([one for one in records if one["setting"] != "end"])
    assert claims["psi.bert"]["status"] == NOT_MEASURABLE
    assert claims["direction_end.bert"]["explanation"] == "ME was not measured"
    assert claims["direction_end.all"]["status"] == NOT_MEASURABLE
    claims = judged(records)
    assert claims["psi.bert"]["explanation"] == "MB: a group has 3 queries"
    assert claims["psi.all"]["status"] == NOT_HELD
    assert "not measurable: bert" in claims["psi.all"]["explanation"]


def test_no_bias_in_any_skew_is_not_measurable() -> None:
    claims = judged([record("bert", name, [0.5, 0.5, 0.5]) for name in SETTINGS])
    assert claims["psi.bert"]["status"] == NOT_MEASURABLE


def test_references_are_passed_over() -> None:
    assert judge_claims([one for one in made_up() if one["setting"] is None], 0.007) == []


def test_text_starts_with_counts_and_names_every_retriever() -> None:
    claims = judge_claims(made_up(), 0.007)
    text = claims_text(claims)
    single = [claim for claim in claims if claim["retriever"]]
    held = sum(claim["status"] == HELD for claim in single)
    first = text.splitlines()[0]
    assert first.startswith(f"{len(single)} claims on single retrievers: {held} held, ")
    assert text.count(" qwen3 ") == 5
    json.dumps(claims, allow_nan=False)


shares = st.integers(min_value=1, max_value=10_000).map(lambda part: part / 10_000)
means = st.lists(shares, min_size=3, max_size=3)


@given(st.lists(means, min_size=4, max_size=4), st.floats(min_value=0, max_value=0.1))
def test_status_follows_value_and_threshold(curves: list, tolerance: float) -> None:
    claims = judged(
        [record("bert", name, one) for name, one in zip(SETTINGS, curves, strict=True)], tolerance
    )
    for name, curve in zip(SETTINGS[:3], curves[:3], strict=True):
        favoured = curve.index(max(curve)) == SETTINGS.index(name)
        assert (claims[f"direction_{name}.bert"]["status"] == HELD) == favoured
    psi = claims["psi.bert"]
    if psi["value"] is not None:
        assert (psi["status"] == HELD) == (psi["value"] > 0)
    mean = claims["mean.bert"]
    assert (mean["status"] == HELD) == (mean["value"] >= mean["threshold"] - 1e-9)
