"""Reference numbers: equal in print, near, different, missing."""

import json

import pytest

import check_expected
from listwise_measures import made_up as made_up_listwise
from posbias.errors import DataError
from posbias.files import read_json, write_json
from posbias.report.expected import compare, compare_all, key_numbers, listwise_numbers
from report_measures import made_up


@pytest.mark.parametrize(
    ("found", "expected", "status"),
    [
        (0.5, 0.5004, "equal"),
        (0.5, 0.5006, "near"),
        (0.5, 0.549, "near"),
        (0.5, 0.5501, "differs"),
        (0.5, 0.4, "differs"),
        (None, 0.5, "missing"),
        (0.5, None, "missing"),
        (None, None, "equal"),
    ],
)
def test_a_number_is_judged_by_its_distance(found, expected, status):
    assert compare(found, expected, tolerance=0.05) == status


EVERY = sorted({record["retriever"] for record in made_up()})


def reference(records, ndcg=0.02, psi=0.03):
    return {"tolerance": {"ndcg": ndcg, "psi": psi}, "numbers": key_numbers(records)}


def test_a_run_equals_itself():
    records = made_up()
    result = compare_all(key_numbers(records), reference(records), EVERY)
    assert result["verdict"] == "equal"
    assert result["counts"]["equal"] == len(result["rows"]) == 4 * len(records)


@pytest.mark.parametrize(("shift", "verdict"), [(0.015, "near"), (0.025, "differs")])
def test_one_shifted_number_decides_the_verdict(shift, verdict):
    records = made_up()
    expected = reference(records)
    expected["numbers"]["bert/begin"]["begin"] += shift
    result = compare_all(key_numbers(records), expected, EVERY)
    assert result["verdict"] == verdict
    assert result["counts"][verdict] == 1
    (row,) = [row for row in result["rows"] if row["status"] == verdict]
    assert (row["system"], row["number"]) == ("bert/begin", "begin")


def test_a_missing_system_is_told_and_a_new_one_passed_over():
    records = made_up()
    expected = reference(records)
    assert compare_all(key_numbers(records[1:]), expected, EVERY)["counts"]["missing"] == 4
    del expected["numbers"]["bert/begin"]
    assert compare_all(key_numbers(records), expected, EVERY)["verdict"] == "equal"


def test_a_run_of_some_retrievers_is_compared_on_those_only():
    records = [record for record in made_up() if record["retriever"] in ("bert", "bm25")]
    result = compare_all(key_numbers(records), reference(made_up()), ["bert", "bm25"])
    assert result["verdict"] == "equal" and len(result["rows"]) == 4 * len(records) == 20
    with pytest.raises(DataError, match="unknown"):
        compare_all(key_numbers(records), reference(made_up()), ["unknown"])


@pytest.mark.parametrize(("scale", "verdict"), [("mini", "equal"), ("paper", "no reference")])
def test_only_a_run_of_the_same_scale_is_compared(tmp_path, scale, verdict):
    files = []
    for number, record in enumerate(made_up()):
        files.append(tmp_path / f"{number}.json")
        write_json(files[-1], record)
    listwise = made_up_listwise()
    write_json(tmp_path / "listwise.json", listwise)
    expected = {"scale": "mini", **reference(made_up())}
    expected["numbers"] |= listwise_numbers(listwise)
    write_json(tmp_path / "expected.json", expected)
    check_expected.main(
        files,
        [tmp_path / "listwise.json"],
        tmp_path / "out.json",
        scale,
        [*EVERY, "listwise"],
        tmp_path / "expected.json",
    )
    assert read_json(tmp_path / "out.json")["verdict"].startswith(verdict)


def test_the_listwise_numbers_are_those_of_its_figures():
    measures = made_up_listwise()
    numbers = listwise_numbers(measures)
    baseline = measures["roles"]["baseline"]
    slots = measures["slots"]["systems"][baseline]
    assert numbers[f"listwise/{baseline}"]["slot_variance"] == slots["variance"]["value"]
    collection = next(iter(measures["orders"]))
    shuffled = measures["orders"][collection]["systems"][baseline]["shuffled"]["mean"]
    assert numbers[f"listwise/{baseline}"][f"{collection}_shuffled"] == shuffled


def test_a_number_with_a_tolerance_of_its_own_is_judged_by_it():
    found = {"listwise/first": {"slot_variance": 0.004}}
    expected = {
        "tolerance": {"ndcg": 0.06, "slot_variance": 0.001},
        "numbers": {"listwise/first": {"slot_variance": 0.006}},
    }
    assert compare_all(found, expected, ["listwise"])["verdict"] == "differs"


def test_numbers_without_tolerances_are_refused():
    with pytest.raises(DataError, match="tolerance"):
        compare_all(key_numbers(made_up()), {"numbers": {}}, EVERY)


def test_the_committed_numbers_name_every_configured_system(root, config):
    expected = json.loads((root / config["expected"]).read_text("utf-8"))
    retrievers, settings = config["retrievers"]["known"], config["balance"]["settings"]
    systems = {f"{retriever}/{setting}" for retriever in retrievers for setting in settings}
    systems |= {f"{reference['name']}/reference" for reference in config["references"]}
    models = config["listwise"]["models"]
    listwise = {f"listwise/{name}" for name in [*models, *config["listwise"]["references"]]}
    listwise |= {f"listwise/{n}+calibrated" for n, model in models.items() if model["calibrate"]}
    assert set(expected["numbers"]) == systems | listwise | {"listwise/first_stage"}
    for values in (expected["numbers"][system] for system in systems):
        low, high = (f(values[p] for p in ("begin", "middle", "end")) for f in (min, max))
        assert values["psi"] == pytest.approx(1 - low / high, abs=1e-4)
