"""Directions: rules against closed forms, one set for both sides, verdicts and their limits."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_csvs import published
from posbias.report.comparison_cells import by_key
from posbias.report.direction_rules import (
    Claim,
    Estimate,
    judged,
    magnitude,
    minus,
    sign_of,
    slope,
    verdict_of,
)
from posbias.report.directions import direction_claims
from posbias.report.paper_cells import paper_cells

CELLS = paper_cells(published())
PAPER = by_key(CELLS)
CLAIMS = direction_claims(CELLS, 0.007)
NUMBERS = st.floats(-10, 10).map(lambda x: round(x, 4))


def test_the_papers_own_numbers_agree_with_themselves() -> None:
    rows = judged(CLAIMS, PAPER, PAPER)
    assert len(rows) == len(CLAIMS) == len({row["id"] for row in rows}) == 193
    assert {row["verdict"] for row in rows} == {"agrees"}
    assert all(row["paper_value"] == row["our_value"] for row in rows)


def test_which_claims_the_papers_own_numbers_do_not_bear_out() -> None:
    failing = [row["id"] for row in judged(CLAIMS, PAPER, {}) if not row["paper_holds"]]
    climate = ("ModernBERT-base", "Longformer-base", "BLOOM-560M", "TinyLlama-NoPE")
    assert sorted(failing) == sorted(
        [f"table14.{kind}.Climate-FEVER.{m}" for m in climate for kind in ("mb_mu", "hidden")]
        + ["table14.mb_me.Climate-FEVER.GPT-2-medium", "table4.mb_mu.Climate-FEVER"]
        + ["table13.peak_mb.GPT-2-medium", "table13.range.BLOOM-560M"]
    )


def test_nothing_of_ours_is_not_run() -> None:
    rows = judged(CLAIMS, PAPER, {})
    assert {row["verdict"] for row in rows} == {"not run"}
    assert {row["our_value"] for row in rows} == {None}


def test_claims_by_kind_cover_the_models_that_the_paper_has() -> None:
    counts = Counter(claim.kind for claim in CLAIMS)
    assert counts["table3.psi"] == counts["table3.mean"] == 11
    assert counts["table12.sign"] == 12 and counts["table12.least"] == 3
    assert counts["table14.hidden"] == counts["table14.mb_me"] == counts["table14.mb_mu"] == 24
    assert counts["table13.range"] == counts["figure7.me"] == counts["figure7.base"] == 8
    assert counts["table1.middle"] == 6


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.identifier)
def test_a_claim_turns_with_its_cells_and_needs_each_of_them(claim: Claim) -> None:
    """Mirrored at 0, a claim about one number turns; without a cell it is not run."""
    cells = {key: PAPER[key] for key in claim.needs}
    for key in claim.needs:
        assert claim.on({name: cell for name, cell in cells.items() if name != key}) is None
    # Cells all alike have no direction, and fall short of no tolerance.
    same = {key: replace(cell, value=0.0) for key, cell in cells.items()}
    assert claim.on(same).value == 0


@pytest.mark.parametrize(
    ("identifier", "key", "value"),
    [
        ("table3.psi.SQuAD-PosQ.BERT-base",
         ("Table 3", "SQuAD-PosQ", "BERT-base", "MU", "PSI", ""), 0.9),
        ("table3.mean.SQuAD-PosQ.BERT-base",
         ("Table 3", "SQuAD-PosQ", "BERT-base", "MU", "nDCG@10", ""), 0.43),
        ("table12.sign.Qwen3-0.6B.ME", ("Table 12", "PosIR", "Qwen3-0.6B", "ME", "Δ", ""), 0.01),
        ("table12.least.Qwen3-0.6B", ("Table 12", "PosIR", "Qwen3-0.6B", "MU", "Δ", ""), -0.2),
        ("table14.mb_me.FEVER.BLOOM-560M",
         ("Table 14", "FEVER", "BLOOM-560M", "ME", "nDCG@10", ""), 0.6),
        ("table14.hidden.FEVER.BLOOM-560M",
         ("Table 3", "SQuAD-PosQ", "BLOOM-560M", "MU", "PSI", ""), 0.6),
        ("table13.peak_mb.BERT-base",
         ("Tables 5, 13", "", "BERT-base", "MB", "cosine", "p6"), 0.9),
        ("table13.peak_me.BERT-base",
         ("Tables 5, 13", "", "BERT-base", "ME", "cosine", "p5"), 0.9),
        ("table13.range.BERT-base",
         ("Tables 5, 13", "", "BERT-base", "MU", "range", "range"), 50.0),
        ("figure7.me.BERT-base", ("Figs. 3, 7", "", "BERT-base", "MB", "cosine", "p10"), 1.5),
        ("figure7.base.BERT-base", ("Figs. 3, 7", "", "BERT-base", "Base", "cosine", "p1"), 1.5),
        ("figure1.mb.SQuAD-PosQ.Qwen3-0.6B",
         ("Fig. 1", "SQuAD-PosQ", "Qwen3-0.6B", "MB", "nDCG@10", "500-3120"), 0.7),
        ("table6.begin.margin ≥ 0 to margin ≥ 0.1",
         ("Table 6", "", "", "", "begin %", "margin ≥ 0.1"), 40.0),
        ("table6.kept.margin ≥ 0 to margin ≥ 0.1",
         ("Table 6", "", "", "", "kept", "margin ≥ 0.1"), 3e6),
        ("table7.Exclusive.failed to 0-0.1", ("Table 7", "", "", "", "Exclusive", "0-0.1"), 50.0),
        ("table1.middle.256-512", ("Tables 1, 8", "", "", "", "middle", "256-512"), 22000),
    ],
)  # fmt: skip
def test_a_number_on_the_other_side_opposes(identifier: str, key, value: float) -> None:
    ours = {**PAPER, key: replace(PAPER[key], value=value)}
    rows = {row["id"]: row for row in judged(CLAIMS, PAPER, ours)}
    assert rows[identifier]["verdict"] == "opposes"
    assert rows[identifier]["our_holds"] is False
    # Only claims that need the cell can have another number.
    needing = {claim.identifier for claim in CLAIMS if key in claim.needs}
    moved = {name for name, row in rows.items() if row["our_value"] != row["paper_value"]}
    assert moved <= needing


def test_a_loss_within_the_tolerance_keeps_the_mean() -> None:
    row = next(r for r in judged(CLAIMS, PAPER, {})
               if r["id"] == "table3.mean.SQuAD-PosQ.ModernBERT-large")  # fmt: skip
    assert row["paper_value"] == pytest.approx(-0.007) and row["paper_holds"]
    strict = judged(direction_claims(CELLS, 0.0069), PAPER, {})
    assert not next(r for r in strict if r["id"] == row["id"])["paper_holds"]


def test_our_interval_around_the_threshold_is_unclear() -> None:
    key = ("Table 12", "PosIR", "Qwen3-0.6B", "MU", "Δ", "")
    for low, high, verdict in (
        (-0.01, 0.09, "unclear"), (0.0, 0.09, "unclear"), (0.01, 0.09, "agrees"),
        (None, None, "agrees"),
    ):  # fmt: skip
        ours = {key: replace(PAPER[key], low=low, high=high)}
        rows = {row["id"]: row for row in judged(CLAIMS, PAPER, ours)}
        assert rows["table12.sign.Qwen3-0.6B.MU"]["verdict"] == verdict


def test_rows_of_cosines_are_judged_by_their_values_alone() -> None:
    wide = {
        key: replace(cell, low=cell.value - 9, high=cell.value + 9)
        for key, cell in PAPER.items()
        if cell.kind == "cosine"
    }
    verdicts = {
        row["kind"]: row["verdict"] for row in judged(CLAIMS, PAPER, wide) if row["our_value"]
    }
    assert {"table13.peak_mb", "table13.peak_me", "figure7.me", "figure7.base"} <= set(verdicts)
    assert set(verdicts.values()) == {"agrees"}


@given(st.lists(NUMBERS, min_size=2, max_size=12))
def test_slope_is_the_least_squares_slope(values: list[float]) -> None:
    expected = np.polyfit(range(len(values)), values, 1)[0]
    assert slope([Estimate(v) for v in values]).value == pytest.approx(expected, abs=1e-9)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_a_difference_holds_all_that_its_intervals_allow(a, b, c, d) -> None:
    first = Estimate((a + b) / 2, min(a, b), max(a, b))
    second = Estimate((c + d) / 2, min(c, d), max(c, d))
    found, turned = minus(first, second), minus(second, first)
    for x in (a, b):
        for y in (c, d):
            assert found.low - 1e-9 <= x - y <= found.high + 1e-9
    assert (found.low, found.high) == (-turned.high, -turned.low)
    assert not minus(first, Estimate(c)).bounded


@given(NUMBERS, NUMBERS)
def test_magnitude_holds_the_size_of_every_number_in_the_interval(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    found = magnitude(Estimate((a + b) / 2, low, high))
    for value in np.linspace(low, high, 7):
        assert found.low - 1e-9 <= abs(value) <= found.high + 1e-9
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9


@given(NUMBERS, NUMBERS, st.floats(0, 5))
def test_verdicts_follow_signs(paper: float, ours: float, half: float) -> None:
    verdict = verdict_of(Estimate(paper), Estimate(ours, ours - half, ours + half), 0.0)
    if abs(ours) <= half:
        assert verdict == "unclear"
    else:
        same = sign_of(Estimate(paper), 0.0) == sign_of(Estimate(ours), 0.0)
        assert verdict == ("agrees" if same else "opposes")
