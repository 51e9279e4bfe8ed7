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
    highest,
    judged,
    lowest,
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
    assert len(rows) == len(CLAIMS) == len({row["id"] for row in rows}) == 244
    assert {row["verdict"] for row in rows} == {"agrees"}
    assert all(row["paper_value"] == row["our_value"] for row in rows)


def test_which_claims_the_papers_own_numbers_do_not_bear_out() -> None:
    failing = [row["id"] for row in judged(CLAIMS, PAPER, {}) if not row["paper_holds"]]
    climate = ("ModernBERT-base", "Longformer-base", "BLOOM-560M", "TinyLlama-NoPE")
    assert sorted(failing) == sorted(
        [f"table14.{kind}.Climate-FEVER.{m}" for m in climate for kind in ("mb_mu", "hidden")]
        + ["table14.mb_me.Climate-FEVER.GPT-2-medium", "table4.mb_mu.Climate-FEVER"]
        + ["table13.peak_mb.GPT-2-medium", "table13.range.BLOOM-560M"]
        + [f"table13.peak_mm.{m}" for m in ("GPT-2-medium", "TinyLlama-NoPE")]
        + [f"figure7.rise.{m}" for m in ("Longformer-base", "Qwen3-0.6B")]
        + [f"table14.mu_mb.SciFact.{m}" for m in ("BERT-base", "Longformer-base")]
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
    assert counts["table3.least"] == 11 and counts["table11.least"] == 3
    assert counts["table13.peak_mm"] == counts["figure7.rise"] == counts["table14.mu_mb"] == 8
    assert counts["table1.middle"] == counts["table1.begin"] == 6
    assert counts["table6.begin"] == counts["table6.middle"] == counts["table6.end"] == 3


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
        ("table13.peak_mm.BERT-base",
         ("Tables 5, 13", "", "BERT-base", "MM", "cosine", "p9"), 0.9),
        ("table3.least.SQuAD-PosQ.BERT-base",
         ("Table 3", "SQuAD-PosQ", "BERT-base", "MU", "PSI", ""), 0.29),
        ("table4.mu_mb.SciFact", ("Table 4", "SciFact", "", "MB", "nDCG@10", ""), 0.5),
        ("figure7.rise.BERT-base", ("Figs. 3, 7", "", "BERT-base", "ME", "cosine", "p1"), 0.9),
        ("table6.end.margin ≥ 0 to margin ≥ 0.1",
         ("Table 6", "", "", "", "end %", "margin ≥ 0.1"), 30.0),
        ("table6.middle.margin ≥ 0 to margin ≥ 0.1",
         ("Table 6", "", "", "", "middle %", "margin ≥ 0.1"), 30.0),
        ("table1.begin.256-512", ("Tables 1, 8", "", "", "", "begin", "256-512"), 21404),
        ("table1.begin.total", ("Tables 1, 8", "", "", "", "end", "total"), 335651),
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
    assert {"table13.peak_mm", "table13.peak_me", "figure7.me", "figure7.rise"} <= set(verdicts)
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


PLAIN = NUMBERS.map(lambda x: x + 0.0)  # no -0.0, which orders nothing
BOUNDED = st.tuples(PLAIN, PLAIN, PLAIN).map(sorted).map(lambda x: Estimate(x[1], x[0], x[2]))


@given(st.lists(BOUNDED, min_size=1, max_size=5), st.data())
def test_the_interval_of_an_extreme_holds_every_extreme_of_the_intervals(found, data) -> None:
    within = [data.draw(st.floats(one.low, one.high)) for one in found]
    for extreme, pick in ((lowest, min), (highest, max)):
        whole = extreme(found)
        assert whole.value == pick(one.value for one in found)
        assert whole.low <= pick(within) <= whole.high
        # And no more than that: both ends are reached.
        assert whole.low == pick(one.low for one in found)
        assert whole.high == pick(one.high for one in found)


def test_extremes_in_closed_form() -> None:
    narrow, wide = Estimate(1.0, 0.9, 1.1), Estimate(1.2, 0.2, 2.2)
    # The wide one can lie below the narrow one, which the lowest value's own interval would hide.
    assert lowest([narrow, wide]) == Estimate(1.0, 0.2, 1.1)
    assert highest([narrow, wide]) == Estimate(1.2, 0.9, 2.2)
    assert lowest([narrow, Estimate(3.0)]) == Estimate(1.0)


def test_a_peak_on_either_edge_of_the_middle_places() -> None:
    keys = next(c for c in CLAIMS if c.identifier == "table13.peak_mm.BERT-base").needs
    flat = {key: replace(PAPER[key], value=0.5) for key in keys}
    for place, verdict in (("p2", False), ("p3", True), ("p8", True), ("p9", False)):
        key = next(key for key in keys if key[-1] == place)
        ours = flat | {key: replace(PAPER[key], value=0.6)}
        rows = {row["id"]: row for row in judged(CLAIMS, PAPER, ours)}
        assert rows["table13.peak_mm.BERT-base"]["our_holds"] is verdict


def test_a_tie_is_unclear_and_does_not_hold() -> None:
    key = ("Tables 1, 8", "", "", "", "begin", "256-512")
    ours = PAPER | {key: replace(PAPER[key], value=21405)}
    rows = {row["id"]: row for row in judged(CLAIMS, PAPER, ours)}
    row = rows["table1.begin.256-512"]
    assert (row["our_value"], row["verdict"], row["our_holds"]) == (0, "unclear", False)


def test_shares_that_all_stand_at_one_bound_test_nothing() -> None:
    keys = [key for key in PAPER if key[0] == "Table 7" and key[4] == "TargetYes"]

    def verdicts(values: list[float]) -> list[dict]:
        ours = {key: replace(PAPER[key], value=v) for key, v in zip(keys, values, strict=True)}
        found = judged(CLAIMS, PAPER, PAPER | ours)
        return [row for row in found if row["kind"] == "table7.TargetYes"]

    for bound in (100.0, 0.0):
        rows = verdicts([bound] * 5)
        assert {row["verdict"] for row in rows} == {"not testable"}
        assert {row["reason"] for row in rows} == {
            f"all 5 of our shares are {bound:g} %, which leaves no direction"
        }
        assert {row["our_holds"] for row in rows} == {None}
    # Elsewhere, or with one that differs, a standstill is a result.
    assert {row["verdict"] for row in verdicts([90.0] * 5)} == {"unclear"}
    assert "not testable" not in {row["verdict"] for row in verdicts([100.0] * 4 + [99.0])}
    # A stratum that is missing is not taken for one at the bound.
    some = {key: replace(PAPER[key], value=100.0) for key in keys[:2]}
    found = {row["id"]: row["verdict"] for row in judged(CLAIMS, PAPER, some)}
    assert found["table7.TargetYes.failed to 0-0.1"] == "unclear"


def test_what_a_benchmark_hides_is_two_numbers_by_name() -> None:
    rows = {row["id"]: row for row in judged(CLAIMS, PAPER, PAPER)}
    row = rows["table14.hidden.FEVER.BERT-base"]
    parts = {name: round(part.value, 3) for name, part in row["our_parts"]}
    assert parts == {"nDCG@10": 0.207, "PSI": 0.145}
    assert row["our_value"] == pytest.approx(0.145)
    assert rows["table14.mb_mu.FEVER.BERT-base"]["our_parts"] == []


@pytest.mark.parametrize(
    ("tolerance", "said"),
    [(0.007, "0.007 (the paper's own largest shortfall)"),
     (0.01, "0.01 (the paper's own largest shortfall: 0.007)")],
)  # fmt: skip
def test_the_tolerance_of_the_mean_says_where_it_is_from(tolerance: float, said: str) -> None:
    texts = {claim.text for claim in direction_claims(CELLS, tolerance)}
    assert f"MU keeps the best skew's mean nDCG@10, but for {said}" in texts
