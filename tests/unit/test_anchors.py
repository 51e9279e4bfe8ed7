"""Published values beside ours: matching of names, classes of differences; the shipped tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compare_anchors
from posbias.errors import DataError
from posbias.files import read_json, write_json
from posbias.report.anchors import compare_with_anchors, difference_class, plain

TOLERANCE = {"equal": 0.001, "near": 0.01}


@pytest.fixture(scope="module")
def anchors(root):
    return read_json(root / "expected/paper/anchors.json")


@pytest.fixture(scope="module")
def tables(root):
    return read_json(root / "expected/paper/retriever_tables.json")


def record(retriever="bm25", benchmark="squad_posq", setting=None, shift=0.0, **changed) -> dict:
    """A measures record of the published values of BM25, shifted."""
    published = {
        "0-100": 0.7662,
        "100-200": 0.7937,
        "200-300": 0.8061,
        "300-400": 0.8106,
        "400-500": 0.8143,
        "500-3120": 0.7949,
    }
    bounds = {"low": None, "high": None}
    groups = [{"name": n, "mean": mean + shift, "n": 1, **bounds} for n, mean in published.items()]
    none = dict.fromkeys(
        ("macro_mean", "macro_low", "macro_high", "psi_low", "psi_high", "favoured", "psi_note")
    )
    return {
        "retriever": retriever,
        "label": "BM25",
        "setting": setting,
        "benchmark": benchmark,
        "measure": "nDCG@10",
        "micro_mean": 0.79,
        "groupings": {"characters": {"groups": groups, "psi": 0.06, **none}},
        "counts": {"judged": 92749, "documents": 20233},
        "interval": {"kind": "bootstrap", "resamples": 10, "level": 0.95},
    } | changed


def rows_of(result, system, benchmark):
    return [r for r in result["rows"] if (r["system"], r["benchmark"]) == (system, benchmark)]


def test_a_run_is_found_by_its_name_and_held_against_each_group(anchors):
    result = compare_with_anchors(anchors, [record(shift=0.002)])
    rows = rows_of(result, "BM25", "SQuAD-PosQ")
    assert [row["group"] for row in rows] == [
        g["name"] for g in record()["groupings"]["characters"]["groups"]
    ]
    assert {row["class"] for row in rows} == {"near"}
    assert [row["difference"] for row in rows] == pytest.approx([0.002] * 6)
    assert {row["same_collection"] for row in rows} == {True}
    assert rows[0]["source"].startswith("Zeng et al. 2025")
    assert result["counts"] == {
        "equal": 0,
        "near": 6,
        "differs": 0,
        "not run": len(result["rows"]) - 6,
    }


@pytest.mark.parametrize(
    "other",
    [
        {"benchmark": "squad_posq_tiny"},
        {"setting": "begin"},
        {"retriever": "bm25_k09", "label": "BM25, other"},
        {"measure": "nDCG@5"},
    ],
)
def test_other_runs_are_not_held_against_it(anchors, other):
    result = compare_with_anchors(anchors, [record(**other)])
    assert result["counts"]["not run"] == len(result["rows"])


def test_the_label_names_the_system_too(anchors):
    groups = [{"name": "begin", "mean": 0.8864, "n": 9}]
    run = record("encoder_3", "fineweb_posq", label="BGE-M3")
    run["groupings"] = {"thirds": {"groups": groups, "psi": None}}
    rows = rows_of(compare_with_anchors(anchors, [run]), "bge-m3", "FineWeb-PosQ")
    assert [row["class"] for row in rows] == ["equal", "not run", "not run"]


def test_a_run_on_another_collection_says_so(anchors):
    small = record(counts={"judged": 10000, "documents": 20233})
    rows = rows_of(compare_with_anchors(anchors, [small]), "BM25", "SQuAD-PosQ")
    assert {row["same_collection"] for row in rows} == {False}
    assert {row["class"] for row in rows} == {"equal"}


def test_two_runs_of_one_system_are_an_error(anchors):
    with pytest.raises(DataError, match="BM25 on SQuAD-PosQ: 2 runs"):
        compare_with_anchors(anchors, [record(), record("b_m_25")])


@given(st.floats(0, 1), st.floats(0, 1))
def test_classes_follow_the_distance_and_have_no_direction(one, other):
    found = difference_class(one, other, TOLERANCE)
    assert found == difference_class(other, one, TOLERANCE)
    distance = abs(one - other)
    if abs(distance - 0.001) > 1e-8 and abs(distance - 0.01) > 1e-8:
        assert found == ("equal" if distance < 0.001 else "near" if distance < 0.01 else "differs")


def test_a_value_on_a_tolerance_is_within_it():
    assert difference_class(0.7672, 0.7662, TOLERANCE) == "equal"
    assert difference_class(0.7762, 0.7662, TOLERANCE) == "near"
    assert difference_class(None, 0.7662, TOLERANCE) == "not run"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tolerance": None}, None),
        ({"anchors": [{"benchmark": "PosIR", "system": "x", "source": "posir"}]}, "grouping"),
        (
            {"anchors": [{"benchmark": "X", "system": "x", "source": "posir", "grouping": "bins"}]},
            "benchmark 'X' is not among collections",
        ),
        (
            {"anchors": [{"benchmark": "PosIR", "system": "x", "source": "y", "grouping": "bins"}]},
            "source 'y' is not among sources",
        ),
    ],
)
def test_published_values_of_another_form_are_named(anchors, changed, message):
    broken = {key: value for key, value in {**anchors, **changed}.items() if value is not None}
    with pytest.raises(DataError, match=message or "the published values lack tolerance"):
        compare_with_anchors(broken, [])


def test_the_script_reports_with_and_without_runs(anchors, root, tmp_path):
    source = root / "expected/paper/anchors.json"
    compare_anchors.main(source, [], tmp_path / "none.json")
    assert read_json(tmp_path / "none.json")["counts"]["not run"] == 56
    write_json(tmp_path / "measures.json", record())
    compare_anchors.main(source, [tmp_path / "measures.json"], tmp_path / "some.json")
    assert read_json(tmp_path / "some.json")["counts"]["equal"] == 6


def test_the_shipped_anchors_are_shares_with_known_groups(anchors):
    names = {
        "characters": ["0-100", "100-200", "200-300", "300-400", "400-500", "500-3120"],
        "thirds": ["begin", "middle", "end"],
    }
    for anchor in anchors["anchors"]:
        values = [*anchor.get("groups", {}).values()]
        values += [anchor[name] for name in ("micro_mean", "psi") if name in anchor]
        assert values and all(0 < value < 1 for value in values)
        if "groups" in anchor:
            assert list(anchor["groups"]) == names[anchor["grouping"]]
    systems = [(a["benchmark"], plain(a["system"])) for a in anchors["anchors"]]
    assert len(set(systems)) == len(systems)


def test_the_shipped_tables_agree_with_each_other(tables):
    """Numbers that the paper gives twice, so that a slip of transcription would show."""
    pool = tables["table1_8_retained_pool"]
    strictest = tables["table6_filter"]["thresholds"]["0.3"]
    for position in ("begin", "middle", "end"):
        assert sum(pool[position]) == pool["totals"][position] == strictest[position]
    assert pool["concentrated_per_bin"] == min(pool["middle"])
    assert pool["concentrated_total"] == len(pool["bins"]) * pool["concentrated_per_bin"]
    for row in tables["table6_filter"]["thresholds"].values():
        assert row["begin"] + row["middle"] + row["end"] == row["n"]
    for name, means in tables["table4_BEIR_avg"].items():
        if name not in tables["table14_BEIR_ndcg10"]["BERT-base"]:
            continue
        for setting, mean in means.items():
            of_models = [m[name][setting] for m in tables["table14_BEIR_ndcg10"].values()]
            assert sum(of_models) / 8 == pytest.approx(mean, abs=1.1e-3)
    assert tables["source"].startswith("arXiv:2605.26578v1")


def test_psi_of_the_quoted_points_is_the_table_s(tables):
    points = tables["text_points"]["SQuAD-PosQ Qwen3-0.6B"]
    psi = tables["table3"]["SQuAD-PosQ"]["Qwen3-0.6B"]["psi"]
    for setting in ("MB", "ME"):
        low, high = sorted(group[setting] for group in points.values())
        assert 1 - low / high == pytest.approx(psi[setting], abs=2e-3)
