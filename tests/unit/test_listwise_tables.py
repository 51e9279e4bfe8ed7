"""The listwise study's tables: CSV and LaTeX hold the same numbers, marks, nulls, layout."""

import copy
import re
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

from listwise_measures import COLLECTIONS, MODELS, STAGES, TABLES, made_up, make, write_record
from posbias.report import style
from posbias.report.grid import draw_grid
from posbias.report.latex import latex_grid
from posbias.report.listwise_cells import points, signed, signed_points, significance_mark
from posbias.report.listwise_coverage import coverage_frame, coverage_table
from posbias.report.listwise_records import stage_gain
from posbias.report.listwise_table1 import table1, table1_frame
from posbias.report.listwise_table2 import table2, table2_frame
from posbias.report.listwise_table3 import table3, table3_frame
from posbias.report.printed import Cell, fraction, span
from posbias.report.tables import Column, Grid, Section

LATEX_TABLES = ("table1", "table2", "table3")


def grids(record: dict) -> dict[str, Grid]:
    return {
        "table1": table1(record, table1_frame(record), 0.05),
        "table2": table2(record, table2_frame(record)),
        "table3": table3(record, table3_frame(record)),
        "coverage": coverage_table(coverage_frame(record)),
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict[str, dict[str, Path]]:
    folder = tmp_path_factory.mktemp("tables")
    measures = write_record(folder)
    return {name: make(name, measures, folder) for name in TABLES}


def rows_of(tex: str) -> list[list[str]]:
    """Return the cells of each row of a LaTeX table, less its heading."""
    body = tex.split(r"\midrule", 1)[1].split(r"\bottomrule")[0]
    lines = [line.strip() for line in body.splitlines() if line.strip().endswith(r"\\")]
    return [re.split(r"(?<!\\)&", line.removesuffix(r"\\")) for line in lines]


def number_in(cell: str) -> str:
    """Return the printed number of a LaTeX cell, less bold, mark and interval."""
    bare = cell.split(r"{\scriptsize")[0].split(r"\rlap")[0].split(r"\textsuperscript")[0]
    return bare.replace(r"\textbf", "").strip(" {}").replace("$-$", "−").replace("--", "–")


@pytest.mark.parametrize("name", LATEX_TABLES)
def test_latex_is_balanced_and_every_row_has_all_columns(made, name) -> None:
    tex = made[name]["tex"].read_text()
    bare = re.sub(r"\\[{}]", "", tex)
    assert bare.count("{") == bare.count("}")
    assert re.findall(r"\\begin\{(.+?)\}", tex) == ["table*", "tabular"]
    assert re.findall(r"\\end\{(.+?)\}", tex) == ["tabular", "table*"]
    assert tex.count(r"\toprule") == tex.count(r"\bottomrule") == 1
    assert bare.count("$") % 2 == 0
    columns = re.search(r"begin\{tabular\}\{(\w+)\}", tex).group(1)
    for row in rows_of(tex):
        spanned = re.match(r"\s*\\multicolumn\{(\d+)\}", row[0])
        assert len(row) == (1 if spanned else len(columns)), row
        assert not spanned or int(spanned.group(1)) == len(columns)
    assert not re.search(r"[−–τ²×†‡]", tex), "characters that need a package"
    assert f"tab:listwise{name[-1]}" in tex
    assert "Mini scale: not the paper's models." in tex


def test_table1_latex_prints_the_numbers_of_its_csv(made) -> None:
    numbers = pd.read_csv(made["table1"]["csv"])
    rows = [row for row in rows_of(made["table1"]["tex"].read_text()) if len(row) > 1]
    assert len(rows) == len(numbers) == (len(MODELS) + 4) * (len(COLLECTIONS) + 1)
    for printed, row in zip(rows, numbers.to_dict("records"), strict=True):
        assert printed[0].strip() == row["label"]
        found = [number_in(cell) for cell in printed[1:]]
        assert found == [
            fraction(row["original"]),
            fraction(row["shuffled"]),
            signed(row["drop"]),
            points(row["variance_over_shuffles"], 3),
            fraction(row["tau_psi"]),
        ]


def test_table2_and_3_latex_print_the_numbers_of_their_csv(made) -> None:
    numbers = pd.read_csv(made["table2"]["csv"])
    rows = [row for row in rows_of(made["table2"]["tex"].read_text()) if len(row) > 1]
    assert len(rows) == len(STAGES) * len(COLLECTIONS)
    for printed, row in zip(rows, numbers.to_dict("records"), strict=True):
        found = [number_in(cell) for cell in printed[1:]]
        means = [fraction(row[name]) for name in ("alone", "baseline", "proposed")]
        assert found == [*means, signed(row["gain"])]
    numbers = pd.read_csv(made["table3"]["csv"])
    rows = [row for row in rows_of(made["table3"]["tex"].read_text()) if len(row) > 1]
    assert len(rows) == len(MODELS) + 3
    for printed, row in zip(rows, numbers.to_dict("records"), strict=True):
        plain, variance = fraction, points
        if row["section"] == "ips_only":
            plain, variance = signed, signed_points
        means = [plain(row[name]) for name in ("original", "shuffled", "slot_mean")]
        assert [number_in(cell) for cell in printed[4:]] == [
            *means,
            variance(row["slot_variance"]),
        ]


def test_csv_holds_the_measures_unrounded(made) -> None:
    record = made_up()
    table = pd.read_csv(made["table1"]["csv"])
    for row in table[table["collection"] != "mean"].to_dict("records"):
        found = record["orders"][row["collection"]]["systems"][row["system"]]
        for name in ("original", "shuffled", "drop"):
            assert row[name] == found[name]["mean"]
            assert (row[f"{name}_low"], row[f"{name}_high"]) == (
                found[name]["low"],
                found[name]["high"],
            )
    coverage = pd.read_csv(made["coverage"]["csv"])
    assert coverage.to_dict("records") == record["training"]["coverage"]


def test_the_last_section_of_table1_is_the_mean_of_the_collections(made) -> None:
    table = pd.read_csv(made["table1"]["csv"])
    own = table[(table["system"] == "debiasfirst")]
    means = own[own["collection"] != "mean"]["shuffled"]
    mean = own.loc[own["collection"] == "mean", "shuffled"].item()
    assert mean == pytest.approx(means.mean())
    record = made_up()
    del record["orders"]["leads"]["systems"]["posaug"]
    frame = table1_frame(record)
    assert "posaug" not in set(frame.loc[frame["collection"] == "mean", "system"])


def cells_by_label(grid: Grid, section: int) -> dict[str, tuple[Cell, ...]]:
    return {row[0].text: row for row in grid.sections[section].rows}


def test_marks_compare_with_the_proposed_model() -> None:
    rows = cells_by_label(grids(made_up())["table1"], 0)
    assert (rows["FIRST"][1].mark, rows["FIRST"][2].mark) == ("‡", "‡")
    assert rows["DebiasFirst"][1].mark == rows["PosAug"][1].mark == ""
    record = made_up()
    for entry in record["orders"]["wiki"]["comparisons"]:
        entry["mean_difference"] *= -1
    assert cells_by_label(grids(record)["table1"], 0)["FIRST"][2].mark == "†"
    loose = table1(record, table1_frame(record), 0.001)
    assert cells_by_label(loose, 0)["FIRST"][2].mark == ""


@pytest.mark.parametrize(
    ("p", "difference", "mark"),
    [(0.01, 0.1, "†"), (0.01, -0.1, "‡"), (0.05, 0.1, ""), (None, 0.1, ""), (0.01, None, "")],
)
def test_significance_mark(p, difference, mark) -> None:
    assert significance_mark(p, difference, 0.05) == mark


def test_bold_is_the_best_of_the_trained_models_only() -> None:
    record = made_up()
    record["orders"]["wiki"]["systems"]["minilm_l6"]["original"]["mean"] = 0.99
    bold = {
        label for label, row in cells_by_label(grids(record)["table1"], 0).items() if row[1].bold
    }
    assert bold == {"DebiasFirst"}
    for rows in grids(record)["table2"].sections:
        assert all(row[3].bold and not row[2].bold for row in rows.rows)


def test_a_paired_gain_takes_the_place_of_the_difference_of_means() -> None:
    found = copy.deepcopy(made_up()["first_stage_table"]["wiki"]["bm25"])
    assert stage_gain(found, "first", "debiasfirst")["low"] is None
    found["difference"] = {"difference": 0.05, "low": 0.01, "high": 0.09}
    assert stage_gain(found, "first", "debiasfirst") == found["difference"]
    assert stage_gain({}, "first", "debiasfirst")["difference"] is None


def test_ips_alone_is_marked_where_its_interval_excludes_0() -> None:
    rows = grids(made_up())["table3"].sections[1].rows
    assert [cell.mark for cell in rows[0][4:]] == ["", "*", "*", "*"]
    record = made_up()
    record["ips_only"] = []
    assert len(grids(record)["table3"].sections) == 1


def test_nulls_become_dashes_that_are_explained(tmp_path) -> None:
    record = made_up()
    nothing = {"mean": None, "low": None, "high": None}
    wiki = record["orders"]["wiki"]["systems"]
    wiki["first"] = dict.fromkeys(wiki["first"])
    wiki["posaug"]["original"] = dict(nothing)
    record["orders"]["wiki"]["comparisons"] = None
    record["first_stage_table"]["wiki"]["bm25"] = {"alone": None, "first": nothing}
    for row in record["ablation"]:
        row["slot_variance"] = None
    record["ips_only"] = [
        {"augmentation": "none", "what": "slot mean", "difference": None, "low": None, "high": None}
    ]
    record["training"]["coverage"][0] |= {"share": None, "slots_mean": None, "rarest": None}
    measures = write_record(tmp_path, record)
    for name in TABLES:
        assert make(name, measures, tmp_path)["pdf"].is_file()
    table = grids(record)["table1"]
    assert [cell.text for cell in cells_by_label(table, 0)["FIRST"][1:]] == ["–"] * 5
    assert "–: not measured." in table.notes


def test_flat_windows_are_told() -> None:
    record = made_up() | {"windows": {"windows": 9000, "flat": 12}}
    assert any("12 of 9,000" in note for note in grids(record)["table1"].notes)


def texts_of(grid: Grid) -> list:
    with style.print_style():
        figure = draw_grid(grid, "A title of the table", "Footer")
        figure.dpi = 720
        figure.draw_without_rendering()
        found = [t for t in figure.findobj(matplotlib.text.Text) if t.get_text().strip()]
        boxes = [(text, text.get_window_extent()) for text in found]
    for text, box in boxes:
        assert box.x0 >= 0 and box.y0 >= 0, text
        assert box.x1 <= figure.bbox.width and box.y1 <= figure.bbox.height, text
        assert text.get_fontsize() >= style.SMALL
    return boxes


@pytest.mark.parametrize("name", TABLES)
def test_no_two_texts_of_a_table_overlap(name) -> None:
    boxes = [(text, box.shrunk(0.98, 0.7)) for text, box in texts_of(grids(made_up())[name])]
    for index, (one, box) in enumerate(boxes):
        for other, beside in boxes[index + 1 :]:
            assert not box.overlaps(beside), (one, other)


def test_a_long_label_is_wrapped_and_numbers_keep_their_columns() -> None:
    label = "a system whose name is much too long for the room that the numbers leave"
    numbers = tuple(Cell(".123", interval=".100 to .150") for _ in range(6))
    rows = ((Cell(label), *numbers), (Cell("short"), *numbers))
    columns = [Column("System", number=False), *[Column("Two\nlines")] * 6]
    boxes = texts_of(Grid(columns, [Section("", rows)], ["A note."]))
    words = {text.get_text() for text, _ in boxes}
    assert label not in words and any("much" in word for word in words)
    ends = {round(box.x1) for text, box in boxes if text.get_text() == ".123"}
    assert len(ends) == 6


def test_intervals_stand_below_where_there_is_no_room_beside() -> None:
    def heights(columns: int) -> tuple[float, float]:
        cells = tuple(Cell("+.123", interval=".100 to .150", mark="*") for _ in range(columns))
        head = [Column("System", number=False), *[Column("Mean")] * columns]
        boxes = texts_of(Grid(head, [Section("", ((Cell("a system"), *cells),))], ["A note."]))
        tops = {text.get_text(): box.y0 for text, box in boxes}
        return tops["+.123"], tops[".100 to .150"]

    number, interval = heights(5)
    assert abs(number - interval) < 10
    number, interval = heights(8)
    assert number - interval > 50


def test_latex_escapes_a_hostile_label() -> None:
    rows = (
        (
            Cell("a_b & 50% τ²", bold=True, mark="†"),
            Cell("−.5", interval="−.6–.1", mark="*"),
        ),
    )
    grid = Grid([Column("x", number=False), Column("a\nb")], [Section("s_1", rows)], ["n."])
    tex = latex_grid(grid, "T", [], "tab:x")
    cell = r"\textbf{a\_b \& 50\% $\tau$$^2$}\rlap{\textsuperscript{$\dagger$}}"
    assert f"    {cell} & $-$.5\\textsuperscript{{*}} {{\\scriptsize $-$.6--.1}} \\\\" in tex
    assert r"x & a b \\" in tex and r"\textit{s\_1}" in tex


def test_digits() -> None:
    assert [signed(v) for v in (0.0121, -0.0121, 0.0001, 0.0, None)] == [
        "+.012",
        "−.012",
        ".000",
        ".000",
        "–",
    ]
    assert [points(v) for v in (0.00123, 0.0, float("nan"))] == ["12.30", "0.00", "–"]
    assert signed_points(-0.0006) == "−6.00"
    assert span(-0.01, 0.02) == "−.010 to .020"
    assert span(0.01, None) == ""
