"""Heat maps of documents and segments: the paper's own numbers in print, and what is refused."""

import itertools
import json
import re

import matplotlib
import numpy as np
import pandas as pd
import pytest
from pypdf import PdfReader

import make_segment_cosine
import make_segment_cosine_pair
from posbias.errors import DataError
from posbias.files import sha256_file
from posbias.report import style
from posbias.report.printed import fraction
from posbias.report.segment_cosine import (
    COLOURS,
    ROW_LABELS,
    draw_segment_cosine,
    draw_segment_pair,
    ink_on,
    scale_of,
    segment_frame,
    segment_notes,
)
from report_measures import PROVENANCE

INTERVAL = {"kind": "bootstrap over documents", "resamples": 10000, "level": 0.95}
PAIR = ["Qwen3-0.6B", "ModernBERT-base"]


def record(name, rows, cut=0):
    """Return the measures of a retriever from its rows of means."""
    count = len(rows[0])
    return {
        "retriever": name,
        "label": name,
        "count": count,
        "settings": {
            setting: [
                {"segment": i, "mean": mean, "low": mean - 0.01, "high": mean + 0.01}
                for i, mean in enumerate(means, start=1)
            ]
            for setting, means in zip(ROW_LABELS, rows, strict=True)
        },
        "counts": {"documents": 300, "dropped": {}, "truncated": dict.fromkeys(ROW_LABELS, cut)},
        "interval": dict(INTERVAL),
    }


@pytest.fixture(scope="module")
def paper(root) -> dict:
    """The cells of the paper's Figure 7 by retriever: five rows, of Base, MB, MM, ME and MU."""
    table = json.loads((root / "expected/paper/retriever_tables.json").read_text("utf-8"))
    figure = table["figure7_doc_segment_cosine"]
    rows = {name: cells for name, cells in figure.items() if isinstance(cells, dict)}
    return {name: [cells[label] for label in ROW_LABELS.values()] for name, cells in rows.items()}


@pytest.fixture(scope="module")
def made(paper, tmp_path_factory):
    """Both figures of the paper's numbers: the folder, the inputs, the retrievers."""
    folder = tmp_path_factory.mktemp("figures")
    files = [folder / f"{name}.json" for name in paper]
    for path, (name, rows) in zip(files, paper.items(), strict=True):
        path.write_text(json.dumps(record(name, rows)))
    draw("all", files, folder, list(paper))
    draw("pair", files, folder, list(paper))
    return folder, files, list(paper)


def outputs(folder, name):
    return {kind: folder / f"{name}.{kind}" for kind in ("pdf", "csv", "meta")}


def draw(name, files, folder, order):
    """Write one of the two figures."""
    provenance = PROVENANCE | {"retrievers": order}
    if name == "all":
        make_segment_cosine.main(files, **outputs(folder, name), provenance=provenance,
                                 benchmark="held-out")  # fmt: skip
    else:
        make_segment_cosine_pair.main(files, **outputs(folder, name), provenance=provenance,
                                      pair=PAIR)  # fmt: skip


def shown(pdf):
    """Return the numbers of a page that look like those of cells."""
    return re.findall(r"(?<![\d.])\.\d{3}\b", PdfReader(pdf).pages[0].extract_text())


def test_all_four_hundred_cells_of_the_paper_are_printed_as_in_the_paper(made, paper):
    folder, _, _ = made
    wanted = [fraction(value) for rows in paper.values() for row in rows for value in row]
    assert len(wanted) == 400
    assert sorted(shown(folder / "all.pdf")) == sorted(wanted)
    text = PdfReader(folder / "all.pdf").pages[0].extract_text()
    assert "held-out" in text and "Mean cosine similarity" in text
    assert all(name in text for name in paper)


def test_the_pair_is_printed_in_its_order_and_names_only_its_own_inputs(made, paper):
    folder, files, _ = made
    frame = pd.read_csv(folder / "pair.csv")
    assert list(dict.fromkeys(frame["retriever"])) == PAIR
    wanted = [fraction(value) for name in PAIR for row in paper[name] for value in row]
    assert sorted(shown(folder / "pair.pdf")) == sorted(wanted)
    meta = json.loads((folder / "pair.meta").read_text())
    assert {entry["path"]: entry["sha256"] for entry in meta["inputs"]} == {
        path.as_posix(): sha256_file(path) for path in files if path.stem in PAIR
    }
    assert meta["interval"] == INTERVAL and "documents are resampled" in meta["varies"]


def test_the_csv_holds_every_number_unrounded_in_the_order_asked_for(made, paper):
    folder, _, names = made
    frame = pd.read_csv(folder / "all.csv")
    assert frame.columns.tolist() == [
        "retriever", "label", "setting", "segment", "mean", "low", "high", "n", "truncated",
    ]  # fmt: skip
    assert frame["mean"].tolist() == [v for name in names for row in paper[name] for v in row]
    assert frame["segment"].tolist() == list(range(1, 11)) * 40
    assert frame.loc[::10, "setting"].tolist() == list(ROW_LABELS) * 8
    records = [record(name, rows) for name, rows in paper.items()]
    again = segment_frame(records, [*reversed(names), "not measured"])
    assert list(dict.fromkeys(again["retriever"])) == names[::-1]


@pytest.mark.parametrize("name", ["pair", pytest.param("all", marks=pytest.mark.slow)])
def test_a_second_draw_has_the_same_bytes(made, tmp_path, name):
    folder, files, names = made
    with matplotlib.rc_context({"font.size": 30, "image.cmap": "jet"}):
        draw(name, files, tmp_path, names)
    for path in (folder / f"{name}.pdf", folder / f"{name}.csv"):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_what_the_note_says_of_the_paper_is_true(paper):
    note = " ".join(segment_notes(segment_frame([record("r", [[0.5] * 10] * 5)], ["r"])))
    assert "segment 1 is the highest of both ModernBERTs in every row" in note
    for name in ("ModernBERT-base", "ModernBERT-large"):
        assert [int(np.argmax(row)) for row in paper[name]] == [0] * 5
    others = [name for name in paper if not name.startswith("ModernBERT")]
    assert all(any(np.argmax(row) for row in paper[name]) for name in others)


def test_cut_documents_are_told():
    rows = [[0.5] * 3] * 5
    frame = segment_frame([record("a", rows, cut=12), record("b", rows)], ["a", "b"])
    assert segment_notes(frame)[-1].endswith("does not read: a 12.")
    assert segment_notes(frame[frame["retriever"] == "b"])[-1].endswith("does not read: none.")
    assert "n = 300 documents" in segment_notes(frame)[-2]


def page_texts(figure):
    figure.dpi = 720  # fine enough that widths are those of print
    figure.draw_without_rendering()
    found = [text for text in figure.findobj(matplotlib.text.Text) if text.get_text().strip()]
    return [text for text in found if text.get_visible()]


def invented(n, count, low=-0.99, high=1.0):
    """Measures of n retrievers whose cells hold the widest numbers there are."""
    values = np.linspace(high, low, 5 * count).reshape(5, count)
    return segment_frame(
        [record(f"Retriever-{i}", values.tolist()) for i in range(n)],
        [f"Retriever-{i}" for i in range(n)],
    )


@pytest.mark.parametrize(
    ("page", "n", "count"),
    [
        (draw_segment_cosine, 3, 10),
        pytest.param(draw_segment_cosine, 1, 10, marks=pytest.mark.slow),
        pytest.param(draw_segment_cosine, 12, 10, marks=pytest.mark.slow),
        (draw_segment_cosine, 2, 20),
        (draw_segment_cosine, 1, 60),
        (draw_segment_pair, 2, 10),
    ],
)
def test_texts_are_legible_lie_on_the_page_and_do_not_overlap(page, n, count):
    with style.print_style():
        figure = page(invented(n, count), "Title", "footer " * 60)
        texts = page_texts(figure)
        width, height = figure.bbox.width, figure.bbox.height
        assert figure.get_figwidth() == style.PAGE_WIDTH and figure.get_figheight() < 18
        boxes = []
        for text in texts:
            box = text.get_window_extent()
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, text
            assert text.get_fontsize() >= style.SMALL
            boxes.append((text, box.shrunk(0.98, 0.7)))
        if count < 60:
            for index, (one, box) in enumerate(boxes):
                for other, beside in boxes[index + 1 :]:
                    assert not box.overlaps(beside), (one, other)
        maps = [panel for panel in figure.axes if panel.get_title()]
        assert len(maps) == n
        for panel in maps:
            assert len(panel.texts) == (5 * count if count < 60 else 0)
            cell = panel.bbox.width / count
            for text in panel.texts:
                assert text.get_window_extent().width < cell


def test_both_rows_and_columns_of_a_panel_stand_where_their_names_do():
    with style.print_style():
        frame = invented(1, 10)
        panel = draw_segment_cosine(frame, "Title", "footer").axes[0]
        rows = {label.get_text(): label.get_position()[1] for label in panel.get_yticklabels()}
        for text in panel.texts:
            x, y = text.get_position()
            setting = next(name for name, label in ROW_LABELS.items() if rows[label] == y)
            (value,) = frame[(frame["setting"] == setting) & (frame["segment"] == x)]["mean"]
            assert text.get_text() == fraction(value)
        base, uniform = panel.transData.transform([(1, rows["Base"]), (1, rows["MU"])])
        assert base[1] > uniform[1]


def test_the_pair_has_a_scale_each_and_all_retrievers_share_one():
    frame = segment_frame(
        [record("a", [[0.3, 0.4]] * 5), record("b", [[0.91, 0.94]] * 5)], ["a", "b"]
    )
    with style.print_style():
        ends = [
            [mesh.get_clim() for panel in page(frame, "T", "f").axes if panel.get_title()
             for mesh in panel.collections]
            for page in (draw_segment_cosine, draw_segment_pair)
        ]  # fmt: skip
    assert ends[0] == [pytest.approx((0.3, 0.95))] * 2
    assert ends[1] == [pytest.approx((0.3, 0.4)), pytest.approx((0.9, 0.95))]


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([0.5, 0.5], (0.5, 0.55)),
        ([0.301, 1.0000000596], (0.3, 1.0)),
        ([-0.12, 0.02], (-0.15, 0.05)),
    ],
)
def test_ends_of_the_scale(values, ends):
    scale = scale_of(pd.Series(values))
    assert (scale.vmin, scale.vmax) == pytest.approx(ends)


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_numbers_stand_out_from_every_colour_and_colours_differ_in_grey():
    shades = [matplotlib.colormaps[COLOURS](at) for at in np.linspace(0, 1, 256)]
    grey = [luminance(shade) for shade in shades]
    assert all(later > earlier for earlier, later in itertools.pairwise(grey))
    for shade, light in zip(shades, grey, strict=True):
        ink = 0.0 if ink_on(shade) == "black" else 1.0
        contrast = (max(light, ink) + 0.05) / (min(light, ink) + 0.05)
        assert contrast >= 4.5


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda r: r["settings"].pop("middle"),
            r"Qwen3-0\.6B\.json: .*settings\.middle are missing",
        ),
        (lambda r: r.update(settings=None), r"json: settings is null, expected an object"),
        (lambda r: r.update(settings={}), r"json: settings is an empty object"),
        (lambda r: r["settings"].update(end=[]), r"settings\.end is an empty list"),
        (lambda r: r["settings"]["end"][3].update(mean=None), r"end\[3\]\.mean is null"),
        (lambda r: r["settings"]["end"].pop(), r"setting end: .* expected 1 to 10; delete"),
        (lambda r: r.update(counts={}), r"counts is an empty object"),
        (lambda r: r.update(interval={}), r"interval is an empty object"),
        (lambda r: r["interval"].update(level=0.9), r"its interval .*0\.9.* is not "),
        (lambda r: r.update(count=9), r"its count 9 is not 10"),
        (lambda r: r.update(retriever="BERT-base"), "given twice"),
        (lambda r: r.update(retriever="new"), "segments of new, which .* do not name"),
    ],
)
def test_measures_that_do_not_fit_are_named_and_nothing_is_written(
    made, paper, tmp_path, spoil, message
):
    _, files, names = made
    spoilt = record("Qwen3-0.6B", paper["Qwen3-0.6B"])
    spoil(spoilt)
    (tmp_path / "Qwen3-0.6B.json").write_text(json.dumps(spoilt))
    mixed = [path for path in files if path.stem != "Qwen3-0.6B"] + [tmp_path / "Qwen3-0.6B.json"]
    with pytest.raises(DataError, match=message):
        make_segment_cosine.main(
            mixed, **outputs(tmp_path, "f"), provenance=PROVENANCE | {"retrievers": names}
        )
    assert not list(tmp_path.glob("f.*"))


def test_a_pair_that_is_not_measured_is_named(made, tmp_path):
    _, files, _ = made
    with pytest.raises(
        DataError,
        match=r"T5 are measured; .*to retrievers\.selected or .*analyses\.segments\.pair\.",
    ):
        make_segment_cosine_pair.main(
            files, **outputs(tmp_path, "f"), provenance=PROVENANCE, pair=["T5", "BERT-base"]
        )
    with pytest.raises(DataError, match="at least one file"):
        make_segment_cosine.main([], **outputs(tmp_path, "f"), provenance=PROVENANCE)
    assert not list(tmp_path.iterdir())
