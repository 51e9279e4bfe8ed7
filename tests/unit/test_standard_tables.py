"""Tables 4 and 14: marks, means, references, benchmarks with other retrievers, and layout."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import make_standard_mean_table
import make_standard_table
from page_checks import check_page
from posbias.errors import DataError
from posbias.report.grid import draw_grid
from posbias.report.printed import fraction
from posbias.report.standard_mean_table import mean_frame, mean_table
from posbias.report.standard_table import ranked_cells, standard_frame, standard_table
from report_measures import LABELS, PROVENANCE, SETTINGS

BENCHMARKS = {
    "scifact": "SciFact",
    "hotpotqa": "HotpotQA",
    "fever": "FEVER",
    "climate_fever": "Climate-FEVER",
}
ONE = {"scifact": "Wikipedia, titles to lead sections"}
INTERVAL = {"kind": "bootstrap over queries", "resamples": 10000, "level": 0.95}
REFERENCES = {"bm25": "BM25", "minilm_l6": "all-MiniLM-L6-v2"}
PAPER_LABELS = {
    "bert": "BERT-base",
    "longformer": "Longformer-base",
    "gpt2": "GPT-2-medium",
    "bloom": "BLOOM-560M",
    "qwen3": "Qwen3-0.6B",
}


def record(key: str, setting: str | None, benchmark: str, mean: float, bounds: bool = True) -> dict:
    ends = {"micro_low": mean - 0.02, "micro_high": mean + 0.02} if bounds else {}
    return {
        "retriever": key,
        "label": LABELS.get(key) or REFERENCES[key],
        "setting": setting,
        "benchmark": benchmark,
        "groupings": {},
        "micro_mean": mean,
        "counts": {"judged": 300},
        "interval": INTERVAL,
        **ends,
    }


def paper(root) -> list[dict]:
    """Return the paper's Table 14 as records."""
    tables = json.loads((root / "expected/paper/retriever_tables.json").read_text())
    return [
        record(key, setting, benchmark, float(values[short]))
        for key in LABELS
        for benchmark, label in BENCHMARKS.items()
        for values in [tables["table14_BEIR_ndcg10"][PAPER_LABELS.get(key, LABELS[key])][label]]
        for setting, short in zip(SETTINGS, ("MB", "MM", "ME", "MU"), strict=True)
    ]


@pytest.fixture(scope="module")
def table14(root) -> list[dict]:
    return paper(root)


def references(names=BENCHMARKS) -> list[dict]:
    return [record(key, None, name, 0.5) for name in names for key in REFERENCES]


def rows_of(grid) -> list[tuple]:
    return [row for section in grid.sections for row in section.rows]


def test_the_means_over_retrievers_are_the_papers(root, table14) -> None:
    expected = json.loads((root / "expected/paper/retriever_tables.json").read_text())
    means = mean_frame(standard_frame(table14, BENCHMARKS, list(LABELS)))
    assert len(means) == 4 * 5 and set(means["retrievers"]) == {8}
    for row in means.to_dict("records"):
        found = expected["table4_BEIR_avg"][row["benchmark_label"]][row["label"]]
        assert row["ndcg"] == pytest.approx(found, abs=0.0015)


def test_the_average_weighs_every_benchmark_alike(table14) -> None:
    means = mean_frame(standard_frame(table14, BENCHMARKS))
    wide = means.pivot(index="setting", columns="benchmark", values="ndcg")
    assert wide["average"].tolist() == pytest.approx(wide[list(BENCHMARKS)].mean(axis=1).tolist())


def test_the_csv_holds_every_mean_with_its_interval(table14, tmp_path) -> None:
    paths = []
    for number, one in enumerate([*table14, *references()]):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(one))
    for name, script in (("14", make_standard_table), ("4", make_standard_mean_table)):
        files = {end: tmp_path / f"{name}.{end}" for end in ("pdf", "csv", "tex", "meta")}
        made = []
        for _ in range(2):
            script.main(paths, **files, provenance=PROVENANCE, benchmarks=BENCHMARKS)
            made.append({end: path.read_bytes() for end, path in files.items()})
        assert made[0] == made[1]
    table = pd.read_csv(tmp_path / "14.csv")
    assert list(table) == [
        "retriever", "label", "setting", "benchmark", "benchmark_label", "n", "ndcg", "low", "high",
    ]  # fmt: skip
    held = table.set_index(["benchmark", "retriever", table["setting"].fillna("")])
    assert len(held) == len(paths)
    for one in [*table14, *references()]:
        row = held.loc[(one["benchmark"], one["retriever"], one["setting"] or "")]
        assert (row["ndcg"], row["low"], row["high"]) == (
            one["micro_mean"], one["micro_low"], one["micro_high"],
        )  # fmt: skip
    tex = (tmp_path / "14.tex").read_text()
    assert tex.count(r"\textit") == len(BENCHMARKS)
    assert tex.count(r"\textbf") >= 32 and tex.count(r"\underline") >= 32
    assert json.loads((tmp_path / "4.meta").read_text())["interval"] is None


@given(st.lists(st.floats(0, 1) | st.none(), min_size=1, max_size=6))
def test_marks_follow_what_is_printed(values) -> None:
    cells = ranked_cells(values, [(None, None)] * len(values))
    known = sorted({float(fraction(v)) for v in values if v is not None}, reverse=True)
    for value, cell in zip(values, cells, strict=True):
        place = None if value is None else known.index(float(fraction(value)))
        assert cell.bold == (place == 0)
        assert cell.underlined == (place == 1)


def test_references_stand_below_and_in_no_settings_column(table14) -> None:
    frame = standard_frame([*references(), *table14], BENCHMARKS, list(LABELS))
    grid = standard_table(frame, INTERVAL)
    assert len(grid.columns) == 6
    for section in grid.sections:
        labels = [row[0].text for row in section.rows]
        assert labels == [*LABELS.values(), *REFERENCES.values()]
        for row in section.rows[:8]:
            assert all(cell.text for cell in row[1:5]) and not row[5].text
        for row in section.rows[8:]:
            assert [cell.text for cell in row[1:5]] == [""] * 4
            assert row[5].text == ".500" and not row[5].bold and not row[5].underlined
    means = mean_frame(frame)
    upper, lower = mean_table(means, frame).sections
    assert [row[0].text for row in upper.rows] == ["MB", "MM", "ME", "MU"]
    assert [[cell.text for cell in row] for row in lower.rows] == [
        [label, *[".500"] * 5] for label in REFERENCES.values()
    ]


def test_without_references_there_is_no_column_for_them(table14) -> None:
    frame = standard_frame(table14, BENCHMARKS)
    assert len(standard_table(frame, INTERVAL).columns) == 5
    assert len(mean_table(mean_frame(frame), frame).sections) == 1


def test_a_reference_that_lacks_a_benchmark_has_no_average(table14) -> None:
    some = [
        one for one in references() if (one["retriever"], one["benchmark"]) != ("bm25", "fever")
    ]
    frame = standard_frame([*table14, *some], BENCHMARKS)
    means = mean_frame(frame)
    known = means[means["setting"].isna()].groupby("retriever")["benchmark"].agg(set)
    assert known["bm25"] == set(BENCHMARKS) - {"fever"}
    assert known["minilm_l6"] == {*BENCHMARKS, "average"}
    lower = mean_table(means, frame).sections[1]
    assert [cell.text for cell in lower.rows[0]] == ["BM25", ".500", ".500", "–", ".500", "–"]


def test_only_retrievers_that_all_benchmarks_have_are_averaged(table14) -> None:
    some = [one for one in table14 if (one["retriever"], one["benchmark"]) != ("gpt2", "fever")]
    some = [{**one, "micro_mean": 0.2} if one["retriever"] != "gpt2" else one for one in some]
    frame = standard_frame(some, BENCHMARKS, list(LABELS))
    means = mean_frame(frame)
    assert set(means["retrievers"]) == {7} and means["ndcg"].tolist() == pytest.approx([0.2] * 20)
    notes = " ".join(mean_table(means, frame).notes)
    assert "over 7 retrievers" in notes and "not measured on all benchmarks: GPT-2." in notes
    lonely = [one for one in some if (one["retriever"] == "bert") == (one["benchmark"] == "fever")]
    with pytest.raises(DataError, match="no retriever was measured on all of"):
        mean_frame(standard_frame(lonely, BENCHMARKS))


def test_one_benchmark_alone_needs_no_average(table14) -> None:
    frame = standard_frame([one for one in table14 if one["benchmark"] == "scifact"], ONE)
    means = mean_frame(frame)
    grid = mean_table(means, frame)
    assert [column.heading for column in grid.columns] == ["Training", ONE["scifact"]]
    assert "average" in set(means["benchmark"]) and "average" not in " ".join(grid.notes)


def test_measures_without_intervals_are_printed_without(table14) -> None:
    plain = [
        record(one["retriever"], one["setting"], one["benchmark"], one["micro_mean"], bounds=False)
        for one in table14
    ]
    grid = standard_table(standard_frame(plain, BENCHMARKS), INTERVAL)
    assert not any(cell.interval for row in rows_of(grid) for cell in row)
    assert "small type" not in " ".join(grid.notes)


@pytest.mark.parametrize("names", [BENCHMARKS, ONE])
@pytest.mark.parametrize("more", [True, False])
def test_pages_are_legible(table14, names, more) -> None:
    some = [one for one in table14 if one["benchmark"] in names]
    frame = standard_frame([*some, *(references(names) if more else [])], names)
    check_page(lambda: draw_grid(standard_table(frame, INTERVAL), "Title", "footer"))
    check_page(lambda: draw_grid(mean_table(mean_frame(frame), frame), "Title", "footer"))


def test_missing_settings_and_benchmarks_are_named(table14) -> None:
    lacking = [one for one in table14 if (one["retriever"], one["setting"]) != ("bloom", "end")]
    with pytest.raises(DataError, match="no measures for bloom: end"):
        standard_frame(lacking, BENCHMARKS)
    with pytest.raises(DataError, match="measured on 'hotpotqa', not on scifact"):
        standard_frame(table14, ONE)
    with pytest.raises(DataError, match="at least one benchmark"):
        standard_frame([], {})
    with pytest.raises(DataError, match="no measures on nfcorpus"):
        standard_frame(table14, {**BENCHMARKS, "nfcorpus": "NFCorpus"})
