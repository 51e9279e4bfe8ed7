"""Figure 9: counts add up, marks stand where they should, nothing leaves or covers anything."""

import json
from pathlib import Path

import matplotlib.text
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

import make_evidence_places
from posbias.errors import ConfigError, DataError
from posbias.report import style
from posbias.report.evidence_places import (
    BAR,
    BINS,
    MEAN,
    MOST,
    THIRDS,
    draw_places,
    places_frame,
    places_notes,
    read_places,
    thirds_text,
)

PROVENANCE = {
    "scale": "mini",
    "note": "mini scale: made-up numbers",
    "config_hash": "0123456789ab",
    "seed": 42,
    "commit": "abc1234",
}


def record(number: int, starts: list[float] | None = None, label: str | None = None) -> dict:
    if starts is None:
        starts = (np.arange(40 + number) / (41 + number)).tolist()
    counts = {
        "considered": len(starts) + 1_234,
        "located": len(starts),
        "dropped": {"not_found_in_its_document": 1_234},
        "told": {"found_verbatim": len(starts), "repeated": 0},
    }
    return {
        "benchmark": f"set{number}",
        "label": label or f"Benchmark {number}",
        "unit": "evidence sentence",
        "starts": starts,
        "counts": counts,
    }


def write(folder: Path, records: list[dict]) -> list[Path]:
    paths = [folder / f"{number}.json" for number in range(len(records))]
    for path, one in zip(paths, records, strict=True):
        path.write_text(json.dumps(one))
    return paths


def make(folder: Path, paths: list[Path], name: str = "places", **changes) -> dict[str, Path]:
    outputs = {kind: folder / f"{name}.{kind}" for kind in ("pdf", "csv", "meta")}
    make_evidence_places.main(paths, **outputs, provenance=PROVENANCE | changes)
    return outputs


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_every_start_lies_in_one_bin_and_the_bins_cover_the_document(starts):
    frame = places_frame([record(1, starts)])
    assert frame["count"].sum() == len(starts) == frame["n"].iloc[0]
    assert (frame["bin_low"].iloc[0], frame["bin_high"].iloc[-1]) == (0.0, 1.0)
    assert np.allclose(frame["bin_high"] - frame["bin_low"], 1 / BINS)
    assert min(starts) <= frame["mean"].iloc[0] + 1e-9 <= max(starts) + 2e-9


def test_borders_belong_to_the_bin_above_and_the_end_to_the_last():
    counts = places_frame([record(1, [0.0, 0.05, 0.5, 1.0])]).set_index("bin_low")["count"]
    assert counts[counts > 0].round(6).to_dict() == {0.0: 1, 0.05: 1, 0.5: 1, 0.95: 1}


@pytest.mark.parametrize("count", [1, 3, MOST])
def test_a_panel_a_benchmark_with_its_mean_and_thirds(tmp_path, count):
    records = read_places(write(tmp_path, [record(number) for number in range(count)]))
    frame = places_frame(records)
    with style.print_style():
        panels = [p for p in draw_places(records, frame, "T", "f").axes if p.get_visible()]
    assert [panel.get_title().split(" (")[0] for panel in panels] == [r["label"] for r in records]
    for panel, one in zip(panels, records, strict=True):
        at = sorted(line.get_xdata()[0] for line in panel.lines)
        assert at == pytest.approx(sorted([1 / 3, 2 / 3, np.mean(one["starts"])]))
        assert sum(bar.get_height() for bar in panel.patches) == len(one["starts"])
        assert f"(n = {len(one['starts']):,}, mean ." in panel.get_title()
        assert (panel.get_xlim(), panel.get_ylim()[0]) == ((0.0, 1.0), 0.0)
        assert panel.get_xlabel() == "Relative start position" and panel.get_ylabel() == "Count"


def grey(colour: str) -> float:
    return float(np.dot(to_rgb(colour), (0.2126, 0.7152, 0.0722)))


def test_mean_thirds_and_bars_differ_without_colour():
    assert MEAN["linestyle"] != THIRDS["linestyle"]
    assert MEAN["linewidth"] > THIRDS["linewidth"]
    assert grey(BAR) - max(grey(MEAN["color"]), grey(THIRDS["color"])) > 0.3


@pytest.mark.parametrize("count", [1, 5])
def test_all_text_lies_on_the_page_is_legible_and_covers_no_other(tmp_path, count):
    starts = [0.01] * 12_345 + [0.9]
    label = "A benchmark with a rather long name"
    records = read_places(
        write(tmp_path, [record(number, starts, f"{label} {number}") for number in range(count)])
    )
    with style.print_style():
        figure = draw_places(records, places_frame(records), "Title", "footer " * 20)
        figure.dpi = 360
        figure.draw_without_rendering()
        found = figure.findobj(matplotlib.text.Text)
        texts = [
            text
            for text in found
            if text.get_text().strip()
            and text.get_visible()
            and (text.axes is None or text.axes.get_visible())
        ]
        boxes = [(t.get_text(), t.get_window_extent().shrunk(0.98, 0.7)) for t in texts]
    for text, box in boxes:
        assert box.x0 >= 0 and box.y0 >= 0, text
        assert box.x1 <= figure.bbox.width and box.y1 <= figure.bbox.height, text
    assert min(text.get_fontsize() for text in texts) >= 6.5
    for index, (one, box) in enumerate(boxes):
        for other, beside in boxes[index + 1 :]:
            assert not box.overlaps(beside), (one, other)


def test_the_notes_tell_what_was_left_out_and_no_zeros(tmp_path):
    paths = write(tmp_path, [record(1)])
    records = read_places(paths)
    with style.print_style():
        figure = draw_places(records, places_frame(records), "Title", "footer")
    lines = sorted(figure.texts, key=lambda text: -text.get_position()[1])
    notes = " ".join(text.get_text() for text in lines)
    assert "41 of 1,275 placed" in notes
    assert "left out: not found in its document (1,234)" in notes
    assert "repeated" not in notes


@given(st.lists(st.integers(0, 300), min_size=1, max_size=60))
def test_the_notes_count_every_start_in_its_third(hundreds):
    starts = [number / 300 for number in hundreds]
    counts = [sum(low <= n < high for n in hundreds) for low, high in
              ((0, 100), (100, 200), (200, 301))]  # fmt: skip
    text = thirds_text(starts)
    assert text.startswith(
        f"{counts[0]} ({100 * counts[0] / len(starts):.1f} %) begin in the first"
    )
    assert text.endswith(f"third, {counts[1]} in the second, {counts[2]} in the last")


def test_few_starts_outside_the_first_bin_are_told():
    starts = [0.0] * 12_000 + [0.5] * 18 + [1.0] * 2
    notes = " ".join(places_notes([record(1, starts)]))
    assert "12,000 (99.8 %) begin in the first third, 18 in the second, 2 in the last" in notes


def test_what_favours_the_beginning_is_said_of_evidence_by_words_alone(tmp_path):
    marked = places_notes([record(1) | {"kind": "scifact", "options": {}}, record(2)])
    by_words = record(1) | {"kind": "words"}
    first, chosen, skipped = (
        " ".join(places_notes([by_words | options]))
        for options in (
            {"options": {}},
            {"options": {"count_ties": "first"}},
            {"options": {"count_ties": "skip"}},
        )
    )
    assert first == chosen
    assert "A tie goes to the earliest sentence, which favours the beginning." in first
    assert "carries its document's title" in first and "carries its document's title" in skipped
    assert "best sentences tie are left out" in skipped and "earliest" not in skipped
    assert not any("title" in note or "tie " in note for note in marked)
    with pytest.raises(DataError, match=r"0\.json: options\.count_ties is not one of first, skip"):
        read_places(write(tmp_path, [by_words | {"options": {"count_ties": "last"}}]))


def test_files_repeat_byte_for_byte_and_name_their_sources(tmp_path):
    paths = write(tmp_path, [record(1)])
    first, second = make(tmp_path, paths), make(tmp_path, paths, "again")
    for kind, path in first.items():
        assert path.read_bytes() == second[kind].read_bytes(), kind
    frame = pd.read_csv(first["csv"])
    assert list(frame) == ["benchmark", "label", "n", "mean", "bin_low", "bin_high", "count"]
    assert frame["benchmark"].unique().tolist() == ["set1"]
    meta = json.loads(first["meta"].read_text())
    assert [one["path"] for one in meta["inputs"]] == [path.as_posix() for path in paths]
    assert meta["interval"] is None


WRONG = [
    ({"starts": []}, "starts must be one number or more"),
    ({"starts": [0.5, 1.5]}, r"starts must be .* in \[0, 1\]"),
    ({"starts": [float("nan")]}, "starts must be"),
    ({"starts": [True]}, "starts must be"),
    ({"starts": "0.5"}, "starts must be"),
    ({"counts": {"located": 1}}, "counts lack one of considered"),
    ({"counts": []}, "counts lack one of"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_a_record_that_is_no_record_is_named_and_nothing_is_written(tmp_path, change, message):
    paths = write(tmp_path, [record(1), record(2) | change])
    with pytest.raises(DataError, match=rf"1\.json: {message}"):
        make(tmp_path, paths)
    assert not list(tmp_path.glob("places.*"))


def test_a_benchmark_twice_none_and_too_many_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"1\.json: benchmark 'set1' is given twice"):
        read_places(write(tmp_path, [record(1), record(1)]))
    for count in (0, MOST + 1):
        with pytest.raises(DataError, match=f"{count} benchmarks; the figure shows 1 to {MOST}"):
            read_places(write(tmp_path, [record(number) for number in range(count)]))
    (tmp_path / "none.json").write_text("[]")
    with pytest.raises(DataError, match=r"none\.json: expected an object of benchmark"):
        read_places([tmp_path / "none.json"])


def test_provenance_without_commit_leaves_no_file(tmp_path):
    with pytest.raises(ConfigError, match="commit"):
        make(tmp_path, write(tmp_path, [record(1)]), commit="")
    assert not list(tmp_path.glob("places.*"))
