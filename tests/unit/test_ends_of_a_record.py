"""What a measures record adds to its groups: the micro mean's interval, the ends' difference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evaluate_reference
from posbias.files import read_json
from posbias.keyed import keyed_generator
from posbias.measures.groups import Grouping
from posbias.measures.intervals import percentile_interval, resampled_means
from posbias.measures.summary import summarise
from posbias.report.records import read_measures
from search_toy import EVALUATION

OPTIONS = {"resamples": 400, "level": 0.9, "min_group": 1}


def two_groups(n: int = 60) -> tuple[dict[str, float], Grouping]:
    values = {f"q{i}": (i * 37 % n) / n for i in range(n)}
    ids = list(values)
    return values, Grouping({"front": ids[: n // 3], "mid": ids[n // 3 :], "back": ids[-n // 3 :]})


def record_of(values, grouping, rng=None, **changed):
    return summarise(values, {"zones": grouping}, **OPTIONS | changed, rng=rng or generator())


def generator() -> np.random.Generator:
    return keyed_generator(1, "bootstrap", "bert", "begin")


def test_groups_have_the_numbers_that_they_had_without_the_interval_of_all():
    values, grouping = two_groups()
    found = record_of(values, grouping)["groupings"]["zones"]["groups"]
    rng = generator()
    for group, ids in zip(found, grouping.groups.values(), strict=True):
        samples = resampled_means([values[one] for one in ids], 400, rng)
        assert (group["low"], group["high"]) == percentile_interval(samples, 0.9)


def test_the_interval_of_all_does_not_depend_on_the_groups():
    values, grouping = two_groups()
    bounds = ("micro_low", "micro_high")
    alone = summarise(values, {}, **OPTIONS, rng=generator())
    with_groups = record_of(values, grouping)
    assert [alone[name] for name in bounds] == [with_groups[name] for name in bounds]
    other = summarise(values, {}, **OPTIONS, rng=keyed_generator(1, "bootstrap", "bert", "end"))
    assert [alone[name] for name in bounds] != [other[name] for name in bounds]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_interval_of_all_lies_among_the_values(of_queries):
    values = {str(i): value for i, value in enumerate(of_queries)}
    record = summarise(values, {}, **OPTIONS, rng=generator())
    low, high = min(of_queries) - 1e-12, max(of_queries) + 1e-12
    assert low <= record["micro_low"] <= record["micro_high"] <= high


def test_the_interval_of_all_is_as_wide_as_that_of_a_mean_of_zeros_and_ones():
    values = {f"q{i}": float(i % 2) for i in range(400)}
    record = summarise(values, {}, resamples=20_000, level=0.95, min_group=1, rng=generator())
    half = 1.96 * 0.5 / 20
    assert record["micro_low"] == pytest.approx(0.5 - half, abs=0.004)
    assert record["micro_high"] == pytest.approx(0.5 + half, abs=0.004)


def test_the_ends_differ_by_their_means_within_an_interval_of_both():
    ones = {f"a{i}": float(i < 80) for i in range(100)}
    zeros = {f"b{i}": float(i < 40) for i in range(100)}
    values = ones | {"m": 0.3} | zeros
    grouping = Grouping({"front": list(ones), "mid": ["m"], "back": list(zeros)})
    zones = record_of(values, grouping, level=0.95, resamples=20_000)["groupings"]["zones"]
    assert zones["first_minus_last"] == pytest.approx(0.4)
    half = 1.96 * np.sqrt(0.8 * 0.2 / 100 + 0.4 * 0.6 / 100)  # of two independent means
    assert zones["first_minus_last_low"] == pytest.approx(0.4 - half, abs=0.012)
    assert zones["first_minus_last_high"] == pytest.approx(0.4 + half, abs=0.012)


@pytest.mark.parametrize(("front", "back"), [([], ["q1"]), (["q1"], []), ([], [])])
def test_an_empty_end_has_no_difference(front, back):
    values = {"q1": 0.5, "q2": 1.0}
    grouping = Grouping({"front": front, "mid": ["q2"], "back": back})
    zones = record_of(values, grouping)["groupings"]["zones"]
    assert zones["first_minus_last"] is zones["first_minus_last_low"] is None
    assert zones["first_minus_last_high"] is None


def test_an_empty_middle_leaves_the_difference_of_the_ends():
    values = {"q1": 0.5, "q2": 0.25}
    grouping = Grouping({"front": ["q1"], "mid": [], "back": ["q2"]})
    zones = record_of(values, grouping)["groupings"]["zones"]
    assert [zones[f"first_minus_last{end}"] for end in ("", "_low", "_high")] == [0.25] * 3


def test_a_benchmark_without_groups_is_evaluated_with_an_interval(tmp_path, toy_collection):
    measures = tmp_path / "m.json"
    evaluate_reference.main(
        **toy_collection,
        models=[],
        model_names=[],
        run=tmp_path / "a.run",
        measures=measures,
        scores=tmp_path / "s.csv",
        reference={
            "name": "bm25",
            "label": "BM25",
            "kind": "bm25",
            "options": {"k1": 0.9, "b": 0.4, "stopwords": "en", "stemmer": None},
        },
        benchmark="standard",
        groups={},
        evaluation=EVALUATION,
        seed=1,
    )
    record = read_measures([measures])[0]
    assert record["groupings"] == {} and record["counts"]["dropped"] == {}
    assert record["micro_low"] <= record["micro_mean"] <= record["micro_high"]
    names = list(read_json(measures))
    assert names[names.index("micro_mean") :][:3] == ["micro_mean", "micro_low", "micro_high"]
