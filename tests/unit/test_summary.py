"""The measures record: means, PSI, what is favoured, and when PSI is withheld."""

from collections import Counter

import numpy as np
import pytest

from posbias.errors import DataError
from posbias.files import write_json
from posbias.measures.groups import Grouping
from posbias.measures.summary import grouping_counts, summarise

OPTIONS = {"resamples": 2000, "level": 0.95, "min_group": 30}


def collection(shares: dict[str, tuple[int, int]]) -> tuple[dict[str, float], Grouping]:
    """Make groups of `size` queries of which the first `ones` have the value 1, others 0."""
    groups = {name: [f"{name}{i}" for i in range(size)] for name, (size, _) in shares.items()}
    values = {
        query_id: float(i < shares[name][1])
        for name, query_ids in groups.items()
        for i, query_id in enumerate(query_ids)
    }
    return values, Grouping(groups)


def thirds_of(shares: dict[str, tuple[int, int]], **changed) -> dict:
    values, grouping = collection(shares)
    rng = np.random.default_rng(0)
    return summarise(values, {"thirds": grouping}, **{**OPTIONS, **changed}, rng=rng)


def test_means_and_psi_of_unequal_groups():
    record = thirds_of({"begin": (100, 80), "middle": (50, 20), "end": (200, 100)})
    thirds = record["groupings"]["thirds"]
    assert record["micro_mean"] == pytest.approx(200 / 350)
    assert [(g["name"], g["mean"], g["n"]) for g in thirds["groups"]] == [
        ("begin", 0.8, 100),
        ("middle", 0.4, 50),
        ("end", 0.5, 200),
    ]
    assert thirds["macro_mean"] == pytest.approx((0.8 + 0.4 + 0.5) / 3)
    assert thirds["psi"] == pytest.approx(0.5)
    assert thirds["psi_note"] is None
    assert thirds["favoured"] == "begin"
    assert record["interval"] == {
        "kind": "bootstrap over queries",
        "resamples": 2000,
        "level": 0.95,
    }


def test_intervals_equal_theory():
    thirds = thirds_of(
        {"begin": (400, 320), "middle": (400, 160), "end": (400, 200)}, resamples=20_000
    )["groupings"]["thirds"]
    errors = [np.sqrt(p * (1 - p) / 400) for p in (0.8, 0.4, 0.5)]
    for group, error in zip(thirds["groups"], errors, strict=True):
        half = (group["high"] - group["low"]) / 2
        assert half == pytest.approx(1.96 * error, rel=0.06)
    macro = np.sqrt(np.square(errors).sum()) / 3
    assert (thirds["macro_high"] - thirds["macro_low"]) / 2 == pytest.approx(1.96 * macro, rel=0.06)
    # 1 - middle / begin by error propagation; the end is never the lowest here but by noise.
    ratio = 0.5 * np.sqrt((errors[0] / 0.8) ** 2 + (errors[1] / 0.4) ** 2)
    assert (thirds["psi_high"] - thirds["psi_low"]) / 2 == pytest.approx(1.96 * ratio, rel=0.1)


def test_a_query_may_lie_in_two_groups():
    values = {"a": 1.0, "both": 0.5, "b": 0.0}
    grouping = Grouping({"0-100": ["a", "both"], "100-200": ["both", "b"]}, Counter(), 1)
    record = summarise(values, {"characters": grouping}, 100, 0.95, 1, np.random.default_rng(0))
    assert [g["mean"] for g in record["groupings"]["characters"]["groups"]] == [0.75, 0.25]
    assert record["micro_mean"] == 0.5


def test_a_small_group_withholds_psi_but_not_the_means():
    thirds = thirds_of({"begin": (40, 30), "middle": (29, 10), "end": (40, 10)})["groupings"][
        "thirds"
    ]
    assert thirds["psi"] is thirds["psi_low"] is thirds["psi_high"] is None
    assert thirds["psi_note"] == "PSI needs 30 queries in each group; middle has 29"
    assert thirds["macro_mean"] == pytest.approx((0.75 + 10 / 29 + 0.25) / 3)
    assert thirds["macro_low"] < thirds["macro_mean"] < thirds["macro_high"]
    assert thirds["favoured"] == "begin"


def test_just_enough_queries_give_psi():
    thirds = thirds_of({"begin": (30, 20), "middle": (30, 10)})["groupings"]["thirds"]
    assert thirds["psi"] == pytest.approx(0.5)


@pytest.mark.parametrize("least", [0, 1, 30])
def test_an_empty_group_has_no_mean_and_withholds_what_needs_it(tmp_path, least):
    record = thirds_of({"begin": (40, 30), "middle": (0, 0), "end": (40, 10)}, min_group=least)
    thirds = record["groupings"]["thirds"]
    assert thirds["groups"][1] == {
        "name": "middle",
        "mean": None,
        "low": None,
        "high": None,
        "n": 0,
    }
    assert thirds["macro_mean"] is thirds["macro_low"] is thirds["psi"] is None
    assert thirds["favoured"] is None
    assert "middle has 0" in thirds["psi_note"]
    write_json(tmp_path / "measures.json", record)


def test_all_zero_withholds_psi():
    record = thirds_of({"begin": (40, 0), "middle": (40, 0), "end": (40, 0)})
    thirds = record["groupings"]["thirds"]
    assert record["micro_mean"] == thirds["macro_mean"] == thirds["macro_high"] == 0
    assert thirds["psi"] is None
    assert thirds["psi_note"] == "PSI is not defined: every group's mean is 0"
    assert thirds["favoured"] is None


def test_two_groups_that_share_the_highest_mean_favour_none():
    thirds = thirds_of({"begin": (40, 20), "middle": (40, 10), "end": (80, 40)})["groupings"][
        "thirds"
    ]
    assert thirds["favoured"] is None
    assert thirds["psi"] == 0.5


def test_same_generator_same_record():
    shares = {"begin": (40, 30), "middle": (40, 20), "end": (40, 10)}
    assert thirds_of(shares) == thirds_of(shares)


def test_nothing_judged_is_refused():
    with pytest.raises(DataError, match="no query is judged"):
        summarise({}, {}, 100, 0.95, 30, np.random.default_rng(0))


def test_counts_of_groupings():
    groupings = {
        "thirds": Grouping({}),
        "characters": Grouping({}, Counter({"no answer offset": 3}), 2),
    }
    assert grouping_counts(groupings) == {
        "dropped": {"characters: no answer offset": 3},
        "counted_twice": {"thirds": 0, "characters": 2},
    }
