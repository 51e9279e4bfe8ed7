"""Curves of several benchmarks: rows, groupings, colours, legible axes, and what is refused."""

import copy
import json

import pandas as pd
import pytest

import make_position_curves
from page_checks import check_page, texts_on
from posbias.errors import ConfigError, DataError
from posbias.report.position_curves import curve_frame, draw_position_curves
from report_measures import LABELS, PROVENANCE, SETTINGS, grouping, made_up

LONG = ["qwen3", "modernbert_base"]  # not the order of LABELS, nor from its start
BENCHMARKS = {
    "wiki_heldout": {"label": "SQuAD-PosQ", "groupings": ["characters"]},
    "fineweb": {"label": "FineWeb-PosQ", "groupings": ["thirds"]},
    "fine": {"label": "PosIR", "groupings": ["bins"]},
}


def bins(count: int) -> dict:
    names = tuple(f"{i / count:.2f}-{(i + 1) / count:.2f}" for i in range(count))
    return grouping(names, [0.3 + 0.01 * index for index in range(count)], 90)


def records(count: int = 20, order: list[str] = LONG) -> list[dict]:
    """Eight retrievers on one benchmark, two on two more; a reference on two of the three."""
    found = made_up()
    for name in ("fineweb", "fine"):
        for key in [*order, *(["bm25"] if name == "fineweb" else [])]:
            for one in made_up():
                if one["retriever"] == key:
                    groups = {"bins": bins(count)} if name == "fine" else one["groupings"]
                    found.append({**one, "benchmark": name, "groupings": groups})
    return found


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return curve_frame(records(), BENCHMARKS, list(LABELS))


def page(frame: pd.DataFrame, benchmarks: dict = BENCHMARKS, order=None):
    return check_page(
        lambda: draw_position_curves(frame, benchmarks, order or list(LABELS), "Title", "footer")
    )


@pytest.fixture(scope="module")
def figure(frame):
    return page(frame)


def test_every_record_gives_the_points_of_its_benchmarks_groupings(frame) -> None:
    assert list(frame.columns) == [
        "retriever", "label", "setting", "setting_label", "benchmark", "seed",
        "grouping", "group_index", "group", "mean", "low", "high", "n",
    ]  # fmt: skip
    counts = frame.groupby(["benchmark", "grouping"], sort=False).size().to_dict()
    assert counts == {
        ("wiki_heldout", "characters"): 6 * (8 * 4 + 2),
        ("fineweb", "thirds"): 3 * (2 * 4 + 1),
        ("fine", "bins"): 20 * 2 * 4,
    }
    keys = ["benchmark", "retriever", "setting", "group_index"]
    held = frame.set_index(keys)["mean"]
    for record in records():
        (name,) = BENCHMARKS[record["benchmark"]]["groupings"]
        if record["setting"] is None:
            continue
        for index, group in enumerate(record["groupings"][name]["groups"]):
            where = (record["benchmark"], record["retriever"], record["setting"], index)
            assert held[where] == group["mean"]


def test_the_order_of_the_files_changes_nothing(frame) -> None:
    turned = curve_frame(records()[::-1], BENCHMARKS, list(LABELS))
    keys = ["benchmark", "retriever", "setting", "group_index"]
    pd.testing.assert_frame_equal(
        *(one.sort_values(keys, ignore_index=True) for one in (frame, turned))
    )


def looks(panel) -> dict:
    """Return label to (colour, dashes) of the lines of a panel."""
    handles, labels = panel.get_legend_handles_labels()
    lines = [handle[0] if isinstance(handle, tuple) else handle for handle in handles]
    return {
        label: (line.get_color(), str(line._unscaled_dash_pattern), line.get_marker())
        for label, line in zip(labels, lines, strict=True)
    }


def test_a_retriever_looks_the_same_in_every_row_and_in_the_legend(frame) -> None:
    order = [*LONG, *(key for key in LABELS if key not in LONG)]
    figure = page(frame, order=order)
    panels = figure.axes
    assert len(panels) == 12
    first = looks(panels[0])
    assert len(first) == 10 and len(set(first.values())) == 10
    for panel, setting in zip(panels[4:8], SETTINGS, strict=True):
        assert set(looks(panel)) == {LABELS[key] for key in LONG} | {"BM25"}, setting
    for panel in panels[4:]:
        assert looks(panel).items() <= first.items()
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [*(LABELS[key] for key in order), "BM25", "all-MiniLM-L6-v2"]


def test_a_retriever_that_only_a_later_benchmark_has_is_in_the_legend() -> None:
    some = [r for r in records() if (r["benchmark"], r["retriever"]) != ("wiki_heldout", "qwen3")]
    figure = page(curve_frame(some, BENCHMARKS, list(LABELS)))
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[: len(LABELS)] == list(LABELS.values())


def test_rows_say_the_benchmark_and_its_axis_and_share_their_scale(figure) -> None:
    words = [text.get_text() for text in texts_on(figure)]
    for text in (
        "SQuAD-PosQ: evidence position (characters)",
        "FineWeb-PosQ: evidence position (third of the document)",
        "PosIR: evidence position (share of the document)",
    ):
        assert words.count(text) == 1
    for row in range(3):
        assert len({panel.get_ylim() for panel in figure.axes[4 * row : 4 * row + 4]}) == 1
    assert words.count("nDCG@10") == 3


@pytest.mark.parametrize("count", [10, 20])
def test_bins_are_marked_at_their_edges_whatever_their_number(count) -> None:
    fine = {"fine": BENCHMARKS["fine"]}
    of_fine = [record for record in records(count) if record["benchmark"] == "fine"]
    figure = page(curve_frame(of_fine, fine, LONG), fine, LONG)
    for panel, third in zip(figure.axes, (0, 1, 2, None), strict=True):
        labels = [tick.get_text() for tick in panel.get_xticklabels()]
        assert labels == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        # A bin's line stands on its index: the tick of an edge is halfway between two bins.
        assert panel.get_xticks() == pytest.approx([s * count / 5 - 0.5 for s in range(6)])
        edges = {*panel.get_xticks(), *panel.get_xticks(minor=True)}
        assert sorted(edges) == pytest.approx([index - 0.5 for index in range(count + 1)])
        spans = sorted((p.get_x(), p.get_width()) for p in panel.patches)
        starts = range(3) if third is None else [third]
        wanted = [(k * count / 3 - 0.5, count / 3) for k in starts]
        assert [x for span in spans for x in span] == pytest.approx(
            [x for span in wanted for x in span]
        )


def test_lines_that_hardly_differ_leave_the_axis_legible() -> None:
    flat = {"fine": BENCHMARKS["fine"]}
    found = [r for r in copy.deepcopy(records(10)) if r["benchmark"] == "fine"]
    for record in found:
        for group in record["groupings"]["bins"]["groups"]:
            group |= {"mean": 0.4321, "low": 0.4319, "high": 0.4323}
    figure = page(curve_frame(found, flat, LONG), flat, LONG)
    labels = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert len(labels) >= 3 and all(len(label) <= 4 for label in labels)


def test_panels_are_taller_where_many_lines_share_them() -> None:
    def inches(benchmarks: dict, order: list[str]) -> float:
        found = [r for r in records() if r["benchmark"] in benchmarks]
        found = [r for r in found if r["setting"] is None or r["retriever"] in order]
        figure = page(curve_frame(found, benchmarks, order), benchmarks, order)
        heights = {round(panel.get_position().height * figure.get_figheight(), 6)
                   for panel in figure.axes}  # fmt: skip
        assert len(heights) == 1
        return heights.pop()

    one = {"wiki_heldout": {"label": "SQuAD-PosQ", "groupings": ["thirds"]}}
    few, many = list(LABELS)[:4], list(LABELS)[:5]
    assert inches(one, many) > 1.3 * inches(one, few)
    assert inches(BENCHMARKS, list(LABELS)) < inches(one, many)  # three rows have less room each


def test_the_page_carries_the_notes_and_its_axis_ends_where_they_say() -> None:
    found = [r for r in copy.deepcopy(records(10)) if r["benchmark"] == "fineweb"]
    fineweb = {"fineweb": BENCHMARKS["fineweb"]}
    for record in found:
        for index, group in enumerate(record["groupings"]["thirds"]["groups"]):
            group["n"] = 60 + index
            if record["setting"] is None:
                group["mean"] = 0.99
    figure = page(curve_frame(found, fineweb, LONG), fineweb, LONG)
    lines = sorted(figure.texts, key=lambda text: -text.get_position()[1])
    notes = " ".join(text.get_text() for text in lines)
    assert "Queries: 60–62 in a third." in notes and "lie BM25 (.990)." in notes
    assert figure.axes[0].get_ylim()[1] < 0.9


def test_variants_of_pooling_are_lines_of_their_own() -> None:
    variants = {}
    for index, pooling in enumerate(("cls", "mean", "max", "last")):
        label = f"ModernBERT-base, {pooling} pooling"
        variants[f"modernbert_base-{pooling}"] = (label, list(LABELS)[index])
    found = [
        {**copy.deepcopy(one), "retriever": key, "label": label}
        for key, (label, source) in variants.items()
        for one in made_up()
        if one["retriever"] == source
    ]
    one_row = {"wiki_heldout": {"label": "Wikipedia", "groupings": ["thirds", "characters"]}}
    figure = page(curve_frame(found, one_row, list(variants)), one_row, list(variants))
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [label for label, _ in variants.values()]
    assert len(figure.axes) == 8 and not any("Grey" in t.get_text() for t in texts_on(figure))


def test_a_reference_with_the_name_of_a_retriever_stays_itself() -> None:
    found = made_up()
    found[-1]["retriever"] = "bert"
    one_row = {"wiki_heldout": {"label": "Wikipedia", "groupings": ["thirds"]}}
    figure = page(curve_frame(found, one_row, list(LABELS)), one_row)
    assert len(looks(figure.axes[0])) == 10


def refuse(found, benchmarks, order, match, fault=DataError) -> None:
    with pytest.raises(fault, match=match):
        curve_frame(found, benchmarks, order)


def test_what_does_not_fit_is_named() -> None:
    every, order = records(), list(LABELS)
    refuse(every, {"fine": BENCHMARKS["fine"]}, order, "measured on 'wiki_heldout', not on fine")
    nowhere = {**BENCHMARKS, "x": {"label": "X", "groupings": ["thirds"]}}
    refuse(every, nowhere, order, "no measures on x")
    refuse(every, BENCHMARKS, [*order, "roberta"], "no measures of roberta on any")
    refuse(every, BENCHMARKS, order[1:], "measures of bert, which the configured")
    lacking = [r for r in every if (r["benchmark"], r["setting"]) != ("fineweb", "end")]
    refuse(lacking, BENCHMARKS, order, "no measures for modernbert_base: end; qwen3: end")
    refuse([*every, every[-1]], BENCHMARKS, order, "qwen3|modernbert_base.*measured twice")
    reference = next(r for r in every if r["setting"] is None)
    refuse([*every, reference], BENCHMARKS, order, "bm25: measured twice on 'wiki_heldout'")
    zones = {**BENCHMARKS, "fine": {"label": "PosIR", "groupings": ["zones"]}}
    refuse(every, zones, order, "fine: curves are drawn over .* not over zones", ConfigError)
    nothing = {**BENCHMARKS, "fine": {"label": "PosIR", "groupings": []}}
    refuse(every, nothing, order, "not over nothing", ConfigError)


def test_the_script_writes_the_same_bytes_twice_and_nothing_after_a_fault(tmp_path) -> None:
    paths = []
    few = {name: BENCHMARKS[name] for name in ("fine", "fineweb")}
    provenance = {**PROVENANCE, "retrievers": LONG}
    for number, record in enumerate(r for r in records(3) if r["benchmark"] in few):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(record))
    made = []
    for name in ("a", "b"):
        files = [tmp_path / f"{name}.{end}" for end in ("pdf", "csv", "json")]
        make_position_curves.main(paths, *files, provenance, few, "Title of it")
        made.append([file.read_bytes() for file in files])
    assert made[0] == made[1]
    assert json.loads(made[0][2])["title"] == "Title of it"
    files = [tmp_path / f"c.{end}" for end in ("pdf", "csv", "json")]
    with pytest.raises(DataError):
        make_position_curves.main(paths[1:], *files, provenance, few, "Title of it")
    assert not list(tmp_path.glob("c.*"))
