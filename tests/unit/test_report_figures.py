"""Figures: fonts, repeatable bytes, numbers in the CSV, provenance, nothing outside the page."""

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
from matplotlib.figure import Figure
from pypdf import PdfReader

import judge_claims
import make_position_curves
import make_psi_table
import make_truncation_table
from listwise_measures import write_record
from posbias.errors import ConfigError, DataError
from posbias.files import sha256_file
from posbias.report import style
from posbias.report.position_curves import curve_frame, draw_position_curves
from posbias.report.printed import printed_rows, table_notes
from posbias.report.provenance import footer_text
from posbias.report.psi_table import long_frame, wide_frame
from posbias.report.records import read_measures
from posbias.report.table_figure import draw_psi_table
from posbias.report.truncation import read_truncation, truncation_note
from report_measures import LABELS, PROVENANCE, made_up

INTERVAL = made_up()[0]["interval"]
BENCHMARKS = {"wiki_heldout": {"label": "Wikipedia", "groupings": ["characters", "thirds"]}}
SCRIPTS = Path(make_psi_table.__file__).parent


@pytest.fixture
def measures(tmp_path: Path) -> list[Path]:
    paths = []
    for number, record in enumerate(made_up()):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(record))
    return paths


def truncation_files(folder: Path) -> list[Path]:
    """Write the cut evidence of two retrievers: half of one's last third, nothing of the other."""
    folder.mkdir(exist_ok=True)
    files = []
    for name, wholly in (("bert", 5), ("qwen3", 0)):
        rows = [
            {"retriever": name, "label": LABELS[name], "bin": b, "position": p, "n": 10,
             "partly": 0, "wholly": wholly if (b, p) == ("300-400", "end") else 0, "share": 0}
            for b in ("200-300", "300-400") for p in ("begin", "middle", "end")
        ]  # fmt: skip
        files.append(folder / f"{name}.csv")
        pd.DataFrame(rows).to_csv(files[-1], index=False)
    return files


def table_inputs(measures: list[Path]) -> dict:
    """Return what the table is made of."""
    return {
        "measures": measures,
        "truncation": truncation_files(measures[0].parent / "truncation"),
        "benchmark": "a benchmark",
        "grouping": "thirds",
    }


def make_table(measures: list[Path], folder: Path) -> Path:
    names = {name: folder / f"psi.{name}" for name in ("pdf", "csv", "tex")}
    meta = folder / "psi.meta.json"
    make_psi_table.main(**table_inputs(measures), **names, meta=meta, provenance=PROVENANCE)
    return names["pdf"]


def make_curves(measures: list[Path], folder: Path, benchmarks: dict = BENCHMARKS) -> Path:
    pdf, csv, meta = (folder / f"curves.{name}" for name in ("pdf", "csv", "meta.json"))
    make_position_curves.main(measures, pdf, csv, meta, PROVENANCE, benchmarks, "Curves")
    return pdf


def fonts_of(pdf: Path) -> set[str]:
    page = PdfReader(pdf).pages[0]
    return {font.get_object()["/Subtype"] for font in page["/Resources"]["/Font"].values()}


@pytest.mark.parametrize("make", [make_table, make_curves])
def test_pdf_is_one_page_with_true_fonts_footer_and_no_date(measures, tmp_path, make) -> None:
    pdf = make(measures, tmp_path)
    reader = PdfReader(pdf)
    assert len(reader.pages) == 1
    assert fonts_of(pdf) and "/Type3" not in fonts_of(pdf)
    assert "/CreationDate" not in reader.metadata
    text = reader.pages[0].extract_text()
    for part in ("Mini scale: not the paper's models", "0f3a9c5d1e2b", "abc1234", "seed 42"):
        assert part in text
    for label in LABELS.values():
        assert label in text


@pytest.mark.parametrize("make", [make_table, make_curves])
def test_same_input_gives_the_same_bytes(measures, tmp_path, make) -> None:
    (tmp_path / "again").mkdir()
    first = {p.name: p.read_bytes() for p in make(measures, tmp_path).parent.glob("*.[pct]*")}
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True}):
        again = make(measures, tmp_path / "again").parent.glob("*.[pct]*")
    for path in again:
        assert first[path.name] == path.read_bytes()


def test_same_bytes_in_another_process_with_another_hash_seed(measures, tmp_path) -> None:
    here = make_curves(measures, tmp_path).read_bytes()
    code = (
        "import json, sys; from pathlib import Path; import make_position_curves as m;"
        "a = json.loads(sys.argv[1]); f = Path(a['folder']);"
        "m.main([Path(p) for p in a['measures']],"
        "f / 'o.pdf', f / 'o.csv', f / 'o.json', a['provenance'], a['benchmarks'], 'Curves')"
    )
    arguments = {
        "measures": [str(path) for path in measures],
        "folder": str(tmp_path),
        "provenance": PROVENANCE,
        "benchmarks": BENCHMARKS,
    }
    subprocess.run(
        [sys.executable, "-c", code, json.dumps(arguments)],
        check=True,
        env=os.environ | {"PYTHONPATH": str(SCRIPTS), "PYTHONHASHSEED": "7"},
    )
    assert (tmp_path / "o.pdf").read_bytes() == here


def test_table_csv_holds_the_records_unrounded(measures, tmp_path) -> None:
    make_table(measures, tmp_path)
    table = pd.read_csv(tmp_path / "psi.csv")
    assert len(table) == len(measures)
    for row, record in zip(table.to_dict("records"), made_up(), strict=True):
        thirds = record["groupings"]["thirds"]
        assert (row["psi"], row["macro_mean"]) == (thirds["psi"], thirds["macro_mean"])
        assert row["micro_mean"] == record["micro_mean"]
        assert row["characters_psi"] == record["groupings"]["characters"]["psi"]


def test_what_retrievers_do_not_see_stands_under_the_table(measures, tmp_path) -> None:
    make_table(measures, tmp_path)
    told = (tmp_path / "psi.tex").read_text("utf-8")
    assert "beyond the longest input" in told and r"BERT 50 \% of end in 300-400." in told
    assert "Qwen3 50" not in told and "Qwen3 0" not in told
    none = read_truncation([tmp_path / "truncation/qwen3.csv"])
    assert truncation_note(none).endswith("(worst bin, characters): none.")


def test_the_truncation_table_prints_every_bin_and_position(tmp_path) -> None:
    files = truncation_files(tmp_path / "t")
    names = {name: tmp_path / f"t.{name}" for name in ("pdf", "csv", "tex", "meta")}
    make_truncation_table.main(files, **names, provenance=PROVENANCE)
    table = pd.read_csv(names["csv"])
    cut = table[table["share"] > 0]
    assert cut[["retriever", "bin", "position", "share"]].to_numpy().tolist() == [
        ["bert", "300-400", "end", 0.5]
    ]
    words = PdfReader(names["pdf"]).pages[0].extract_text().split()
    assert words.count("50.0") == 1 and words.count("0.0") == 11
    pd.read_csv(files[0]).drop(columns="wholly").to_csv(files[0], index=False)
    with pytest.raises(DataError, match=r"bert\.csv: the column\(s\) wholly are missing"):
        make_truncation_table.main(files, **names, provenance=PROVENANCE)


def test_curves_are_drawn_of_the_groupings_that_are_asked_for(tmp_path) -> None:
    paths = []
    for number, record in enumerate(made_up()):
        del record["groupings"]["characters"]
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(record))
    only = {"wiki_heldout": {**BENCHMARKS["wiki_heldout"], "groupings": ["thirds"]}}
    make_curves(paths, tmp_path, only)
    assert set(pd.read_csv(tmp_path / "curves.csv")["grouping"]) == {"thirds"}
    with pytest.raises(DataError, match=r"bert, setting begin: no grouping 'characters'"):
        make_curves(paths, tmp_path)


def test_curves_csv_holds_every_point(measures, tmp_path) -> None:
    make_curves(measures, tmp_path)
    points = pd.read_csv(tmp_path / "curves.csv")
    assert len(points) == len(measures) * (6 + 3)
    chosen = points[(points["retriever"] == "qwen3") & (points["setting"] == "end")]
    thirds = chosen[chosen["grouping"] == "thirds"]
    assert thirds["group"].tolist() == ["begin", "middle", "end"]
    assert thirds["mean"].tolist() == [0.260, 0.430, 0.712]


def test_meta_names_every_input_by_hash(measures, tmp_path) -> None:
    make_table(measures, tmp_path)
    meta = json.loads((tmp_path / "psi.meta.json").read_text())
    assert meta["inputs"] == [
        {"path": path.as_posix(), "sha256": sha256_file(path)}
        for path in [*measures, *sorted((tmp_path / "truncation").glob("*.csv"))]
    ]
    assert meta["title"].endswith(", a benchmark")
    assert (meta["scale"], meta["seeds"], meta["commit"]) == ("mini", [42], "abc1234")
    assert meta["interval"] == INTERVAL


def test_provenance_without_commit_is_refused_before_any_file(measures, tmp_path) -> None:
    provenance = {name: value for name, value in PROVENANCE.items() if name != "commit"}
    outputs = {name: tmp_path / f"out.{name}" for name in ("pdf", "csv", "tex", "meta")}
    with pytest.raises(ConfigError, match="commit"):
        make_psi_table.main(**table_inputs(measures), **outputs, provenance=provenance)
    assert not list(tmp_path.glob("out.*"))


def test_a_missing_setting_leaves_no_file(measures, tmp_path) -> None:
    outputs = {name: tmp_path / f"out.{name}" for name in ("pdf", "csv", "tex", "meta")}
    with pytest.raises(DataError, match=r"bert.*middle"):
        less = table_inputs([measures[0], *measures[2:]])
        make_psi_table.main(**less, **outputs, provenance=PROVENANCE)
    with pytest.raises(DataError, match="bert: middle"):
        make_curves([measures[0], *measures[2:]], tmp_path)
    assert not list(tmp_path.glob("out.*")) and not (tmp_path / "curves.csv").exists()


def test_unreadable_measures_are_named(tmp_path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"retriever": "bert"}')
    with pytest.raises(DataError, match=r"broken\.json.*groupings"):
        read_measures([path])
    path.write_text("[]")
    with pytest.raises(DataError, match=r"broken\.json: expected an object, found an empty list"):
        read_measures([path])
    thirds = made_up()[0]["groupings"]["thirds"]
    for change, message in [
        ({"groupings": None}, "groupings is null, expected an object"),
        ({"groupings": {"thirds": {}}}, r"groupings\.thirds is an empty object"),
        ({"groupings": {"thirds": thirds | {"groups": []}}}, r"thirds\.groups is an empty list"),
        ({"counts": {}}, "counts is an empty object"),
        ({"interval": {}}, "interval is an empty object"),
        ({"interval": None}, "interval is null"),
        ({"micro_mean": "high"}, "micro_mean is 'high', expected a number or null"),
    ]:
        path.write_text(json.dumps(made_up()[0] | change))
        with pytest.raises(
            DataError, match=rf"broken\.json: .*{message}.*; delete the file and run"
        ):
            read_measures([path])
    path.write_text(json.dumps(made_up()[0] | {"groupings": {}}))
    assert read_measures([path])[0]["groupings"] == {}  # a standard benchmark
    path.write_text(json.dumps(made_up()[0] | {"setting": "MB"}))
    with pytest.raises(DataError, match=r"broken\.json: unknown setting 'MB'"):
        read_measures([path])


def test_judge_claims_writes_a_record_a_text_and_a_page(measures, tmp_path) -> None:
    claims, text, page = (tmp_path / f"claims.{ending}" for ending in ("json", "txt", "html"))
    judge_claims.main(
        measures,
        [write_record(tmp_path)],
        claims,
        text,
        page,
        mean_tolerance=0.007,
        first_slots=3,
        saturation_tolerance=0.002,
        alpha=0.05,
        single_share=0.85,
        note="tiny models & few texts",
    )
    records = json.loads(claims.read_text())
    retrievers = [one for one in records if not one["id"].startswith("listwise.")]
    assert len(retrievers) == 8 * 5 + 6 < len(records)
    assert {tuple(one) for one in records} == {tuple(records[0])}
    assert text.read_text().startswith("40 claims on single retrievers: ")
    assert "\n\nListwise study (arXiv 2604.03642), " in text.read_text()
    shown = page.read_text("utf-8")
    assert "Tiny models &amp; few texts." in shown
    assert shown.count('<td class="status') == len(records)
    for status in ("held", "not held", "not measurable"):
        number = sum(one["status"] == status for one in records)
        assert f"{number} {status}" in shown
    assert {one["claim"] for one in records} == set(
        map(html.unescape, re.findall(r"<h2>(.*)</h2>", shown))
    )


def texts_of(figure: Figure) -> list:
    figure.dpi = 720  # fine enough that widths are those of print
    figure.draw_without_rendering()
    found = [text for text in figure.findobj(matplotlib.text.Text) if text.get_text().strip()]
    return [text for text in found if text.get_visible()]


def table_page() -> Figure:
    long = long_frame(made_up())
    notes = table_notes(long, INTERVAL)
    footer = footer_text(PROVENANCE, INTERVAL)
    return draw_psi_table(printed_rows(wide_frame(long)), "Title", notes, footer)


def curves_page() -> Figure:
    frame = curve_frame(made_up(), BENCHMARKS)
    footer = footer_text(PROVENANCE, INTERVAL)
    return draw_position_curves(frame, BENCHMARKS, None, "Title", footer)


@pytest.mark.parametrize("page", [table_page, curves_page])
def test_all_text_lies_on_the_page_and_is_legible(page) -> None:
    with style.print_style():
        figure = page()
        texts = texts_of(figure)
        width, height = figure.bbox.width, figure.bbox.height
        for text in texts:
            box = text.get_window_extent()
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, text
            assert text.get_fontsize() >= 6


def test_no_two_texts_of_the_table_overlap() -> None:
    with style.print_style():
        texts = texts_of(table_page())
        boxes = [(text.get_text(), text.get_window_extent().shrunk(0.98, 0.7)) for text in texts]
    for index, (one, box) in enumerate(boxes):
        for other, beside in boxes[index + 1 :]:
            assert not box.overlaps(beside), (one, other)


def test_lines_differ_without_colour() -> None:
    looks = {
        (style.line_style(index)["marker"], str(style.line_style(index)["linestyle"]))
        for index in range(45)
    }
    assert len(looks) == 45


def test_every_panel_has_every_line_and_shades_its_thirds() -> None:
    with style.print_style():
        figure = curves_page()
    panels = figure.axes
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [*LABELS.values(), "BM25", "all-MiniLM-L6-v2"]
    assert len(panels) == 8
    for panel in panels:
        assert len(panel.get_legend_handles_labels()[1]) == len(LABELS) + 2
    assert [len(panel.patches) for panel in panels] == [0, 0, 0, 0, 1, 1, 1, 3]


def test_print_style_leaves_the_settings_as_they_were() -> None:
    chosen = list(style.SETTINGS)
    before = [matplotlib.rcParams[name] for name in chosen]
    with style.print_style():
        assert matplotlib.rcParams["pdf.fonttype"] == 42
        assert matplotlib.rcParams["ps.fonttype"] == 42
    assert [matplotlib.rcParams[name] for name in chosen] == before


def test_wrap_keeps_every_word_and_the_width() -> None:
    text = "one two three four five six seven " * 5
    with style.print_style():
        lines = style.wrap(text, 2.0, style.SMALL)
        assert " ".join(lines) == text.strip()
        assert all(style.text_width(line, style.SMALL) <= 2.0 for line in lines)
