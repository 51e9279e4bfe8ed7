"""The listwise study's figures: fonts, numbers in the CSV, provenance, nulls, missing parts."""

import json
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from pypdf import PdfReader

import make_listwise_propensity
from imports import library_files
from listwise_measures import (
    COLLECTIONS,
    ENDS,
    FIGURES,
    MAIN,
    MODELS,
    PROVENANCE,
    SEEDS,
    SLOTS,
    TABLES,
    made_up,
    make,
    write_record,
)
from posbias.errors import ConfigError, DataError
from posbias.files import sha256_file
from posbias.report import style
from posbias.report.causal_graph import draw_causal_graph, edge_frame
from posbias.report.listwise_ablation_curves import (
    PANELS,
    ablation_curves,
    draw_ablation_curves,
)
from posbias.report.listwise_permutations import draw_permutations, permutation_frame
from posbias.report.listwise_position_curves import draw_main_curves, main_curves
from posbias.report.listwise_propensity import draw_propensity, propensity_frame
from posbias.report.listwise_records import read_listwise
from posbias.report.listwise_training_positions import draw_training_positions, training_frame
from posbias.report.provenance import footer_text

ALL = (*FIGURES, *TABLES)
SCRIPTS = Path(make_listwise_propensity.__file__).parent
NEEDS = {
    "propensity": "propensity",
    "training_positions": "training",
    "position_curves": "slots",
    "permutations": "permutations",
    "ablation_curves": "slots",
    "table1": "orders",
    "table2": "first_stage_table",
    "table3": "ablation",
    "coverage": "training",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict[str, dict[str, Path]]:
    """Every figure and table of the made-up measures, by name and kind of file."""
    folder = tmp_path_factory.mktemp("listwise")
    measures = write_record(folder)
    return {name: make(name, measures, folder) for name in ALL}


@pytest.mark.parametrize("name", ALL)
def test_a_pdf_is_one_page_with_true_fonts_footer_and_no_date(made, name) -> None:
    reader = PdfReader(made[name]["pdf"])
    assert len(reader.pages) == 1
    fonts = reader.pages[0]["/Resources"]["/Font"].values()
    kinds = {font.get_object()["/Subtype"] for font in fonts}
    assert kinds == {"/Type0"}
    descendants = {
        inner.get_object()["/Subtype"]
        for font in fonts
        for inner in font.get_object()["/DescendantFonts"]
    }
    assert descendants == {"/CIDFontType2"}, "TrueType, type 42"
    assert "/CreationDate" not in reader.metadata
    text = " ".join(reader.pages[0].extract_text().split())
    for part in ("Mini scale: not the paper's models", "0f3a9c5d1e2b", "abc1234"):
        assert part in text
    seeds = "seed 42" if name == "causal_graph" else "seeds 42, 43, 44"
    assert f"{seeds} ·" in text


@pytest.mark.parametrize("name", ALL)
def test_no_picture_in_a_pdf_is_made_of_pixels(made, name) -> None:
    resources = PdfReader(made[name]["pdf"]).pages[0]["/Resources"]
    objects = resources.get("/XObject", {}).values()
    assert not [one for one in objects if one.get_object()["/Subtype"] == "/Image"]


@pytest.mark.parametrize("name", ALL)
def test_meta_says_what_varies_and_names_the_measures_by_hash(made, name) -> None:
    meta = json.loads(made[name]["meta"].read_text())
    assert meta["varies"] and meta["title"]
    if name == "causal_graph":
        assert (meta["inputs"], meta["interval"], meta["seeds"]) == ([], None, [42])
        return
    (source,) = meta["inputs"]
    assert source["sha256"] == sha256_file(Path(source["path"]))
    assert meta["seeds"] == list(SEEDS)
    counted = name in ("propensity", "training_positions", "coverage")
    assert (meta["interval"] is None) == counted


def test_same_input_gives_the_same_bytes(made, tmp_path) -> None:
    measures = write_record(tmp_path)
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "hatch.linewidth": 3}):
        for name in ("propensity", "permutations", "table1"):
            again = make(name, measures, tmp_path)
            for kind in set(again) - {"meta"}:
                assert again[kind].read_bytes() == made[name][kind].read_bytes(), (name, kind)


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_missing_part_is_named_and_leaves_no_file(name, tmp_path) -> None:
    record = made_up()
    del record[NEEDS[name]]
    record.pop("permutations_sliding")
    measures = write_record(tmp_path, record)
    with pytest.raises(DataError, match=r"(?s)summarise the listwise study again"):
        make(name, measures, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["measures.json"]


def test_provenance_without_commit_is_refused_before_any_file(tmp_path) -> None:
    lacking = {name: value for name, value in PROVENANCE.items() if name != "commit"}
    files = {kind: tmp_path / f"o.{kind}" for kind in ("pdf", "csv", "meta")}
    with pytest.raises(ConfigError, match="commit"):
        make_listwise_propensity.main(write_record(tmp_path), **files, provenance=lacking)
    assert not list(tmp_path.glob("o.*"))


def test_other_or_broken_measures_are_named(tmp_path) -> None:
    path = write_record(tmp_path, {"retriever": "bert"})
    with pytest.raises(DataError, match=r"measures\.json.*study"):
        read_listwise(path)
    write_record(tmp_path, made_up() | {"study": "retriever"})
    with pytest.raises(DataError, match="'retriever', not 'listwise'"):
        read_listwise(path)
    write_record(tmp_path, made_up() | {"roles": {"baseline": "first", "proposed": "gone"}})
    with pytest.raises(DataError, match="proposed is 'gone'"):
        read_listwise(path)


def test_the_graph_has_the_papers_edges(made) -> None:
    edges = pd.read_csv(made["causal_graph"]["csv"], keep_default_na=False)
    paper = edges[edges["in_paper"]]
    assert set(zip(paper["source"], paper["target"], strict=True)) == {
        ("X", "P"),
        ("LLM", "P"),
        ("P", "π"),
    }
    assert set(edges.loc[~edges["in_paper"], "target"]) == {"π"}


def test_propensity_csv_holds_every_seed_and_cell(made) -> None:
    cells = pd.read_csv(made["propensity"]["csv"])
    assert len(cells) == len(SEEDS) * SLOTS**2
    for seed, found in made_up()["propensity"]["seeds"].items():
        own = cells[cells["seed"] == int(seed)]
        counts = np.array(found["counts"])
        assert own["count"].tolist() == counts.ravel().tolist()
        assert own["relative"].tolist() == (counts * SLOTS**2 / counts.sum()).ravel().tolist()
        assert own["relative"].mean() == pytest.approx(1)


def test_curves_csv_holds_the_main_systems_unrounded(made) -> None:
    curves = pd.read_csv(made["position_curves"]["csv"])
    assert curves["system"].drop_duplicates().tolist() == list(MAIN)
    slots = made_up()["slots"]["systems"]
    for key, rows in curves.groupby("system"):
        found = slots[key]
        assert rows["mean"].tolist() == [at["mean"] for at in found["curve"]]
        assert set(rows["variance"]) == {found["variance"]["value"]}
        assert set(rows["variance_seed_44"]) == {found["variance_per_seed"][2]}


def test_training_csv_holds_counts_and_shares(made) -> None:
    shares = pd.read_csv(made["training_positions"]["csv"])
    for kind, counts in made_up()["training"]["source_slots"].items():
        own = shares[shares["augmentation"] == kind]
        assert own["count"].tolist() == counts
        assert own["share"].sum() == pytest.approx(1)


def test_permutations_csv_holds_singles_and_aggregates(made) -> None:
    points = pd.read_csv(made["permutations"]["csv"])
    assert set(points["depth"]) == {20, 100}
    chosen = points[(points["collection"] == "leads") & (points["depth"] == 100)]
    assert set(chosen["series"]) == {"single", "borda"}
    found = made_up()["permutations_sliding"]["leads"]["systems"]["first"]
    own = chosen[(chosen["system"] == "first") & (chosen["series"] == "borda")]
    assert own["mean"].tolist() == [at["mean"] for at in found["borda"]]
    assert own["orders"].tolist() == [at["m"] for at in found["borda"]]


def test_each_ablation_panel_shows_the_models_that_it_is_about(made) -> None:
    points = pd.read_csv(made["ablation_curves"]["csv"])
    shown = {panel: list(dict.fromkeys(rows["system"])) for panel, rows in points.groupby("panel")}
    assert shown == {
        "a": ["first", "noaug_ips"],
        "b": ["randaug", "randaug_ips"],
        "c": ["first", "randaug", "posaug"],
        "d": ["first", "posaug", "debiasfirst"],
    }
    assert list(PANELS) == sorted(shown)


def texts_of(figure: Figure) -> list:
    figure.dpi = 720  # fine enough that widths are those of print
    figure.draw_without_rendering()
    found = [text for text in figure.findobj(matplotlib.text.Text) if text.get_text().strip()]
    return [text for text in found if text.get_visible()]


def pages() -> dict[str, object]:
    record = made_up()
    footer = footer_text({**PROVENANCE, "seed": record["seeds"]}, record["interval"])
    return {
        "causal_graph": lambda: draw_causal_graph("Title", footer),
        "propensity": lambda: draw_propensity(record, "Title", footer),
        "training_positions": lambda: draw_training_positions(
            record, training_frame(record), "Title", footer
        ),
        "position_curves": lambda: draw_main_curves(record, main_curves(record), "Title", footer),
        "permutations": lambda: draw_permutations(
            record, permutation_frame(record), "Title", footer
        ),
        "ablation_curves": lambda: draw_ablation_curves(
            record, ablation_curves(record), "Title", footer
        ),
    }


@pytest.mark.parametrize("name", FIGURES)
def test_texts_lie_on_the_page_apart_and_are_legible(name) -> None:
    with style.print_style():
        figure = pages()[name]()
        texts = texts_of(figure)
        width, height = figure.bbox.width, figure.bbox.height
        boxes = [(text, text.get_window_extent()) for text in texts]
    ticks = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for label in axis.get_ticklabels(which="both")
    }
    for text, box in boxes:
        least = style.SMALL if text in figure.texts else style.BODY
        assert text.get_fontsize() >= least, text
        if text in ticks and not figure.bbox.overlaps(box):
            continue  # a tick outside the axis, which is not drawn
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, text
    seen = [(text, box.shrunk(0.97, 0.7)) for text, box in boxes if text not in ticks]
    for index, (one, box) in enumerate(seen):
        for other, beside in seen[index + 1 :]:
            assert not box.overlaps(beside), (one, other)


@pytest.mark.parametrize("name", ["position_curves", "ablation_curves", "permutations"])
def test_no_two_lines_of_a_panel_look_alike_in_grey(name) -> None:
    with style.print_style():
        figure = pages()[name]()
    for panel in figure.axes:
        looks = [
            (str(line._dash_pattern), line.get_marker(), line.get_markerfacecolor() == "white")
            for line in panel.get_lines()
            if len(line.get_xdata()) > 1  # not the bar of an interval
        ]
        assert len(set(looks)) == len(looks), looks


def test_the_legend_tells_the_variance_of_each_curve() -> None:
    with style.print_style():
        figure = pages()["position_curves"]()
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(told) == len(MAIN)
    variance = 1e4 * made_up()["slots"]["systems"]["first"]["variance"]["value"]
    assert told[0].startswith(f"FIRST: {variance:.2f} (")


def test_nulls_are_gaps_and_not_faults(tmp_path) -> None:
    record = made_up()
    curve = record["slots"]["systems"]["first"]["curve"]
    curve[4] |= {"mean": None, "low": None, "high": None}
    record["slots"]["systems"]["first"]["variance"] = {"value": None, "low": None, "high": None}
    record["slots"]["systems"]["minilm_l6"] |= {"variance": None, "variance_per_seed": None}
    for found in record["permutations"]["wiki"]["systems"].values():
        found["borda"] = None
        found["single"][0] |= {"mean": None, "low": None, "high": None}
    record["permutations"]["leads"] |= {"n": None, "depth": None}
    record["propensity"]["weights"] = None
    record["training"]["lists"] = None
    record["training"]["first_stage"] = None
    measures = write_record(tmp_path, record)
    for name in FIGURES:
        assert make(name, measures, tmp_path)["pdf"].is_file()
    curves = pd.read_csv(tmp_path / "position_curves.csv")
    assert np.isnan(
        curves.loc[(curves["system"] == "first") & (curves["slot"] == 5), "mean"].item()
    )


def test_equal_propensities_make_a_plain_map_without_a_line() -> None:
    record = made_up()
    record["propensity"]["seeds"] = {"7": {"counts": [[5] * 4] * 4}}
    with style.print_style():
        figure = draw_propensity(record, "Title", "Footer")
        figure.draw_without_rendering()
    low, high = figure.axes[0].collections[0].get_clim()
    assert (low, high) == (0.5, 2.0)
    assert set(propensity_frame(record)["relative"]) == {1.0}


def test_a_single_collection_makes_a_single_panel() -> None:
    record = made_up()
    record["permutations"] = {"wiki": record["permutations"]["wiki"]}
    del record["permutations_sliding"]
    with style.print_style():
        figure = draw_permutations(record, permutation_frame(record), "Title", "Footer")
    assert len(figure.axes) == 1
    assert figure.axes[0].get_title() == f"{COLLECTIONS['wiki'][0]}, top-20"


@pytest.mark.parametrize("name", ALL)
def test_a_script_reads_measures_only(name) -> None:
    files = library_files(SCRIPTS / f"make_listwise_{name}.py")
    parts = {path.parent.name for path in files if path.suffix == ".py"}
    assert parts <= {"scripts", "posbias", "report", "listwise"}
    of_study = {path.stem for path in files if path.parent.name == "listwise"}
    assert of_study <= {"__init__", "propensity"}


def test_the_edge_list_is_the_whole_graph() -> None:
    assert len(edge_frame()) == 5


def summarised() -> dict:
    """Return the measures of random values, made by what makes the real ones."""
    from posbias.listwise.ablation import ablation_rows, ips_only
    from posbias.listwise.order_summary import first_stage_table, summarise_orders
    from posbias.listwise.permutation_summary import summarise_permutations
    from posbias.listwise.slot_summary import summarise_slots

    rng = np.random.default_rng(5)
    how = {"resamples": 20, "level": 0.95, "seed": 1}
    record = made_up()

    def values(**columns: list) -> pd.DataFrame:
        columns = {"query_id": ["q1", "q2", "q3", "q4"], "seed": [42, 43], **columns}
        index = pd.MultiIndex.from_product(columns.values(), names=columns)
        return index.to_frame(index=False).assign(ndcg=rng.random(len(index)))

    systems = list(ENDS)
    others = [key for key in systems if key != "debiasfirst"]
    slots = values(system=systems, slot=list(range(1, SLOTS + 1)))
    record["slots"] |= summarise_slots(slots, [(o, "debiasfirst") for o in others], **how)
    orders = values(
        system=[*systems, "first_stage"],
        collection=list(COLLECTIONS),
        first_stage=["bm25", "minilm_l3"],
        order=[0, 1, 2],
    )
    taus = orders[orders["order"] == 1].rename(columns={"ndcg": "tau_psi"})
    taus = taus[taus["system"] != "first_stage"]
    pairs = [("debiasfirst", other) for other in others]
    record["orders"] = summarise_orders(orders, taus, "minilm_l3", pairs, **how)
    record["first_stage_table"] = first_stage_table(orders, "first", "debiasfirst", **how)
    several = values(
        system=["first", "debiasfirst"],
        collection=["wiki"],
        depth=[20, 100],
        aggregate=["single", "borda", "kemeny"],
        m=[1, 2, 3],
    )
    record["permutations"] = summarise_permutations(several, 20, 20, **how)
    record["permutations_sliding"] = summarise_permutations(several, 100, 20, **how)
    of_wiki = record["orders"]["wiki"]["systems"]
    record["ablation"] = ablation_rows(record["models"], record["slots"]["systems"], of_wiki)
    wiki = orders[(orders["collection"] == "wiki") & (orders["first_stage"] == "minilm_l3")]
    record["ips_only"] = ips_only(record["models"], slots, wiki, **how)
    return record


def test_what_the_summary_writes_is_what_the_report_reads(tmp_path) -> None:
    from posbias.report.claim_records import NOT_MEASURABLE
    from posbias.report.listwise_claims import judge_listwise
    from posbias.report.listwise_verdicts import Thresholds

    record = summarised()
    measures = write_record(tmp_path, record)
    for name in ALL:
        make(name, measures, tmp_path)
    claims = judge_listwise(read_listwise(measures), Thresholds(3, 0.002, 0.05, 0.85))
    assert [c["explanation"] for c in claims if c["status"] == NOT_MEASURABLE] == []
    added = pd.read_csv(tmp_path / "table3.csv").query("section == 'ips_only'")
    assert len(added) == 3
    for measure in ("original", "shuffled", "slot_mean", "slot_variance"):
        assert added[measure].notna().all() and added[f"{measure}_low"].notna().all()
    assert len(pd.read_csv(tmp_path / "table1.csv")) == (len(MODELS) + 4) * (len(COLLECTIONS) + 1)
