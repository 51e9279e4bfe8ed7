"""Our numbers under the paper's keys: from CSVs of each figure, whole, partial and faulty."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from paper_csvs import BENCHMARKS, COMPARISON, RETRIEVERS, published, write_csvs
from posbias.errors import ConfigError, DataError
from posbias.report.comparison_cells import by_key
from posbias.report.name_map import NameMap, name_map
from posbias.report.our_cells import Sources, our_cells, printed_labels
from posbias.report.paper_cells import paper_cells

PAPER = paper_cells(published())
NAMES = name_map(COMPARISON, PAPER)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, list[Path]]:
    return write_csvs(tmp_path_factory.mktemp("csv"), published())


def changed(files, tmp_path: Path, name: str, change) -> Sources:
    """Return the CSV of one figure alone, after `change` of its frame."""
    frame = pd.read_csv(files[name][0])
    path = tmp_path / f"{name}.csv"
    change(frame).to_csv(path, index=False)
    return Sources(**{name: [path]})


def read(sources: Sources, names: NameMap = NAMES) -> dict:
    return by_key(our_cells(sources, names, PAPER))


def test_every_published_cell_is_found_in_the_csvs(files) -> None:
    found = read(Sources(**files))
    assert set(found) == {cell.key for cell in PAPER}
    for cell in PAPER:
        # Means over retrievers and ranges are worked out anew, from rounded numbers.
        slack = {"Table 4": 0.001, "Tables 5, 13": 0.11 if cell.kind == "range" else 0}
        assert found[cell.key].value == pytest.approx(cell.value, abs=slack.get(cell.item, 1e-9))
        assert (found[cell.key].kind, found[cell.key].digits) == (cell.kind, cell.digits)


def test_nothing_given_is_nothing_found() -> None:
    assert read(Sources()) == {}


def test_what_is_not_mapped_was_not_run(files) -> None:
    names = replace(NAMES, retrievers={"Qwen3-0.6B": "qwen3"}, benchmarks={"PosIR": "posir"})
    found = read(Sources(**files), names).values()
    assert {cell.model for cell in found} == {"Qwen3-0.6B", ""}
    assert {cell.benchmark for cell in found} == {"PosIR", ""}
    assert not [cell for cell in found if cell.item in ("Table 14", "Table 4", "Fig. 9", "Fig. 1")]


def test_a_mean_over_retrievers_needs_all_of_them(files, tmp_path) -> None:
    def without(frame):
        return frame[~((frame.retriever == "bloom") & (frame.benchmark == "fever"))]

    found = read(changed(files, tmp_path, "standard", without))
    means = {cell.benchmark for cell in found.values() if cell.item == "Table 4"}
    assert means == {"SciFact", "HotpotQA", "Climate-FEVER"}  # neither FEVER nor the average


def test_first_and_last_group_stand_for_the_quoted_ones(files, tmp_path) -> None:
    # `group_index` tells the order, not the line; thirds and finer groups are not mixed up.
    found = read(Sources(curves=files["curves"]))
    key = ("Fig. 1", "SQuAD-PosQ", "Qwen3-0.6B", "MB", "nDCG@10")
    assert (found[*key, "0-100"].value, found[*key, "500-3120"].value) == (0.672, 0.407)
    assert (found[*key, "0-100"].our_place, found[*key, "0-100"].note) == (
        "group 0",
        "over characters",
    )
    swapped = changed(
        files, tmp_path, "curves",
        lambda frame: frame.assign(grouping=frame.grouping.map(
            {"thirds": "characters", "characters": "thirds"})),
    )  # fmt: skip
    assert read(swapped) == {}
    # A benchmark may have curves over several groupings.
    more = changed(
        files,
        tmp_path,
        "curves",
        lambda frame: pd.concat(
            [frame.assign(grouping="bins", group_index=frame.group_index - 5, mean=0.0), frame]
        ),
    )
    assert read(more) == found


def test_one_file_twice_is_one_but_two_that_differ_are_a_fault(files, tmp_path) -> None:
    twice = Sources(psi=files["psi"] * 2)
    assert len(read(twice)) == len(read(Sources(psi=files["psi"])))
    other = changed(files, tmp_path, "psi", lambda frame: frame.assign(psi=frame.psi + 0.1))
    with pytest.raises(DataError, match="two numbers of one cell"):
        read(Sources(psi=[*files["psi"], *other.psi]))


def test_references_and_values_that_are_empty_are_passed_over(files, tmp_path) -> None:
    found = read(changed(files, tmp_path, "psi", lambda frame: frame.assign(setting=None)))
    assert found == {}
    found = read(changed(files, tmp_path, "psi", lambda frame: frame.assign(psi=None)))
    assert {cell.measure for cell in found.values()} == {"nDCG@10"}


def test_bins_are_matched_by_order_and_only_if_there_are_as_many(files, tmp_path) -> None:
    def renamed(frame):
        return frame.assign(bin=["192-240", "240-288", "288-336", "336-384", "384-448", "total"])

    found = read(changed(files, tmp_path, "pool", renamed))
    first = found["Tables 1, 8", "", "", "", "begin", "256-512"]
    assert (first.value, first.our_place) == (105652, "192-240")
    fewer = read(changed(files, tmp_path, "pool", lambda frame: renamed(frame).iloc[1:]))
    assert {key[5] for key in fewer} == {"total", "each bin"}
    assert fewer["Tables 1, 8", "", "", "", "total", "total"].value == 481236 - 140991


def test_a_budget_that_differs_by_position_has_a_total_only(files, tmp_path) -> None:
    found = read(changed(files, tmp_path, "pool", lambda frame: frame.assign(uniform="5/5/4")))
    assert found["Tables 1, 8", "", "", "", "uniform", "total"].value == 5 * 14
    assert ("Tables 1, 8", "", "", "", "uniform", "each bin") not in found


def test_strata_are_known_by_their_margins(files, tmp_path) -> None:
    words = ["failed (margin < 0)", "0 to 0.1", "0.1–0.2", "0.2 ≤ m < 0.3", "margin ≥ 0.3"]
    found = read(changed(files, tmp_path, "audit", lambda frame: frame.assign(stratum=words)))
    assert len(found) == 15
    assert found["Table 7", "", "", "", "Exclusive", "0.2-0.3"].value == pytest.approx(85.3)
    other = read(changed(files, tmp_path, "audit", lambda frame: frame.assign(stratum="0.4-0.5")))
    assert other == {}


def test_filter_rows_of_other_thresholds_are_not_mistaken(files, tmp_path) -> None:
    def moved(frame):
        return frame.replace({"filter": {"margin >= 0.3": "margin >= 0.35"}})

    places = {key[5] for key in read(changed(files, tmp_path, "filters", moved))}
    assert "margin ≥ 0.2" in places and "margin ≥ 0.3" not in places


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("psi", "macro_mean"), ("curves", "group_index"), ("standard", "ndcg"),
        ("moving", "position"), ("segments", "segment"), ("reversal", "delta_low"),
        ("filters", "kept"), ("pool", "uniform"), ("audit", "exclusive"), ("places", "n"),
    ],
)  # fmt: skip
def test_a_csv_that_lacks_a_column_is_named(files, tmp_path, name: str, column: str) -> None:
    sources = changed(files, tmp_path, name, lambda frame: frame.drop(columns=column))
    with pytest.raises(DataError, match=rf"{name}\.csv: lacks the column\(s\) {column}"):
        read(sources)


def test_other_faults_of_a_csv_are_named(files, tmp_path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read(Sources(psi=[tmp_path / "none.csv"]))
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    with pytest.raises(DataError, match=r"empty\.csv: not a CSV"):
        read(Sources(psi=[empty]))
    words = changed(files, tmp_path, "standard", lambda frame: frame.assign(ndcg="many"))
    with pytest.raises(DataError, match="line 2: ndcg is 'many'"):
        read(words)
    halves = changed(files, tmp_path, "moving", lambda frame: frame.assign(position=1.5))
    with pytest.raises(DataError, match=r"position is 1\.5, not a whole number"):
        read(halves)


def test_an_interval_of_the_range_is_read_where_there_is_one(files, tmp_path) -> None:
    def with_range(frame):
        return frame.assign(range=0.01, range_low=0.008, range_high=0.012)

    found = read(changed(files, tmp_path, "moving", with_range))
    cell = found["Tables 5, 13", "", "BERT-base", "MB", "range", "range"]
    assert (cell.low, cell.high) == (pytest.approx(8.0), pytest.approx(12.0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"compare": "everything"}, "comparison.compare"),
        ({"retrievers": {"BERT-small": "bert"}}, "BERT-small is not in the published tables"),
        ({"benchmarks": {"BEIR": "x"}}, "BEIR is not in the published tables"),
        ({"retrievers": {"BERT-base": "bert", "Qwen3-0.6B": "bert"}}, "stands for two"),
    ],
)
def test_names_that_cannot_be_are_config_errors(change, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        name_map(COMPARISON | change, PAPER)


def test_null_is_not_run_and_two_benchmarks_may_share_ours() -> None:
    benchmarks = dict.fromkeys(BENCHMARKS) | {"SQuAD-PosQ": "wiki", "FineWeb-PosQ": "wiki"}
    names = name_map(COMPARISON | {"benchmarks": benchmarks}, PAPER)
    assert names.benchmarks_of("wiki") == ["SQuAD-PosQ", "FineWeb-PosQ"]
    assert list(names.models_of(RETRIEVERS["BERT-base"])) == ["BERT-base"]


def test_printed_labels_are_those_of_the_csvs_and_the_configs_go_before(files) -> None:
    found = printed_labels(Sources(**files))
    assert found["retriever"] == {key: name for name, key in RETRIEVERS.items()}
    assert found["benchmark"]["fever"] == "FEVER" and "posir" not in found["benchmark"]
    names = name_map(COMPARISON, PAPER, found)
    assert (names.benchmark("FEVER"), names.benchmark("PosIR")) == ("FEVER", "posir")
    given = COMPARISON | {"labels": {"fever": "lead sections", "posir": "tenths"}}
    names = name_map(given, PAPER, found)
    assert (names.benchmark("FEVER"), names.benchmark("PosIR")) == ("lead sections", "tenths")
    assert names.retriever("Qwen3-0.6B") == "Qwen3-0.6B"
    none = name_map(COMPARISON | {"benchmarks": {}, "retrievers": {}}, PAPER, found)
    assert none.benchmark("FEVER") == none.retriever("Qwen3-0.6B") == ""
