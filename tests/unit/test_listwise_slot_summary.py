"""Curves over slots, their variance, and paired differences: against values by hand."""

import numpy as np
import pandas as pd
import pytest

from listwise_frames import HOW, slot_frame
from posbias.errors import ConfigError, DataError
from posbias.listwise.slot_summary import end_differences, slot_tables, summarise_slots

MEANS = {"steep": [0.9, 0.7, 0.5, 0.3], "flat": [0.6, 0.6, 0.6, 0.6], "bent": [0.5, 0.7, 0.7, 0.5]}
FRAME = slot_frame(MEANS)
PAIRS = [("steep", "flat"), ("flat", "bent")]


@pytest.fixture(scope="module")
def record() -> dict:
    return summarise_slots(FRAME, PAIRS, **HOW)


def test_curves_are_the_means_of_the_slots(record):
    assert record["n"] == 30
    assert list(record["systems"]) == list(MEANS)
    for name, means in MEANS.items():
        found = record["systems"][name]
        assert [point["slot"] for point in found["curve"]] == [1, 2, 3, 4]
        assert [point["mean"] for point in found["curve"]] == pytest.approx(means)
        assert found["mean"]["mean"] == pytest.approx(np.mean(means))
        for point in [*found["curve"], found["mean"]]:
            assert point["low"] < point["mean"] < point["high"]


def test_variances_are_those_of_the_population_of_slots(record):
    for name, means in MEANS.items():
        found = record["systems"][name]
        assert found["variance"]["value"] == pytest.approx(np.var(means), abs=1e-12)
        assert found["variance_per_seed"] == pytest.approx([np.var(means)] * 2, abs=1e-12)
        # The noise of a query is the same at all slots here, so that no resample changes them.
        assert found["variance"]["low"] == pytest.approx(np.var(means), abs=1e-12)
        assert found["variance"]["high"] == pytest.approx(np.var(means), abs=1e-12)


def test_seeds_are_averaged_before_the_variance_is_taken():
    up, down = slot_frame({"s": [0.2, 0.6]}, seeds=(1,)), slot_frame({"s": [0.6, 0.2]}, seeds=(2,))
    frame = pd.concat([up, down], ignore_index=True)
    found = summarise_slots(frame, [], **HOW)["systems"]["s"]
    assert found["variance"]["value"] == pytest.approx(0, abs=1e-12)
    assert found["variance_per_seed"] == pytest.approx([0.04, 0.04])


def test_differences_are_a_less_b(record):
    found = {(r["a"], r["b"], r["what"]): r for r in record["differences"]}
    assert list(found) == [(*pair, what) for pair in PAIRS for what in ("variance", "mean")]
    steep, mean = found["steep", "flat", "variance"], found["flat", "bent", "mean"]
    assert steep["difference"] == pytest.approx(np.var(MEANS["steep"]))
    assert found["flat", "bent", "variance"]["difference"] == pytest.approx(-0.01)
    assert mean["difference"] == pytest.approx(0, abs=1e-12)
    assert {r["n"] for r in found.values()} == {30}
    assert "mean_difference" not in mean


def test_first_and_last_slots():
    tables = slot_tables(FRAME)
    ends, versus = end_differences(tables, "steep", "flat", 1, **HOW)
    assert (ends["a"], ends["b"], ends["what"]) == ("steep", "steep", "first less last slots")
    assert ends["difference"] == pytest.approx(0.6)
    assert (versus["a"], versus["b"], versus["what"]) == ("steep", "flat", "first slots")
    assert versus["difference"] == pytest.approx(0.3)
    assert ends["slots"] == versus["slots"] == 1
    wide, _ = end_differences(tables, "steep", "flat", 2, **HOW)
    assert wide["difference"] == pytest.approx((0.9 + 0.7 - 0.5 - 0.3) / 2)
    with pytest.raises(ConfigError, match=r"claims.first_slots: 3 first and 3 last slots overlap"):
        end_differences(tables, "steep", "flat", 3, **HOW)


def test_a_system_or_pair_more_changes_no_other(record):
    alone = summarise_slots(FRAME[FRAME["system"] != "bent"], PAIRS[:1], **HOW)
    assert alone["systems"]["steep"] == record["systems"]["steep"]
    assert alone["differences"] == record["differences"][:2]
    assert summarise_slots(FRAME[::-1], PAIRS, **HOW)["systems"]["flat"]["mean"]["mean"] == (
        pytest.approx(0.6)
    )


@pytest.mark.parametrize("fault", ["query", "slot"])
def test_other_queries_or_slots_are_named(fault):
    frame = FRAME.copy()
    here = frame["system"] == "flat"
    if fault == "query":
        frame.loc[here & (frame["query_id"] == "q003"), "query_id"] = "q999"
    else:
        frame = frame[~(here & (frame["slot"] == 4))]
    with pytest.raises(DataError, match="slots: flat was evaluated on other queries"):
        summarise_slots(frame, PAIRS, **HOW)
