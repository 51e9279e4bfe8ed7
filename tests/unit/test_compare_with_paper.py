"""The script that sets the paper's numbers beside ours, and its printed pages."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.text import Text
from pypdf import PdfReader

import compare_with_paper
from paper_csvs import BENCHMARKS, COMPARISON, MAKERS, NOTES, PUBLISHED, published, write_csvs
from posbias.errors import ConfigError
from posbias.files import read_json, sha256_file
from posbias.report import style
from posbias.report.comparison_pages import draw_comparison
from posbias.report.direction_pages import draw_directions
from posbias.report.inconsistencies import read_notes
from posbias.report.name_map import name_map
from posbias.report.paged import Book, save_pages
from posbias.report.paper_cells import paper_cells
from posbias.report.paper_vs_ours import compare
from report_measures import PROVENANCE

OUTPUTS = ("pdf", "html", "csv", "directions", "meta")


def run(folder: Path, files: dict[str, list[Path]], **change) -> dict[str, Path]:
    outputs = {name: folder / f"out.{name}" for name in OUTPUTS}
    arguments = {"provenance": PROVENANCE, "comparison": COMPARISON} | change
    compare_with_paper.main(
        published=PUBLISHED, inconsistencies=NOTES, **files, **outputs, **arguments
    )
    return outputs


def test_a_book_turns_its_pages_and_its_bytes_repeat(tmp_path) -> None:
    def draw(path: Path) -> list:
        with style.print_style():
            book = Book("A title", "a footer")
            for number in range(9):
                book.heading(f"heading {number}")
                book.lines("a sentence " * 12, 0.1)
                book.space(2.0)
            save_pages(book.figures, path, "A title")
        return book.figures

    figures = draw(tmp_path / "a.pdf")
    draw(tmp_path / "b.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
    pages = PdfReader(tmp_path / "a.pdf").pages
    assert len(pages) == len(figures) > 2
    text = "".join(page.extract_text() for page in pages)
    assert all(f"heading {number}" in text for number in range(9))
    assert all("a footer" in page.extract_text() for page in pages)


def test_provenance_is_checked_before_anything_is_written(tmp_path) -> None:
    with pytest.raises(ConfigError, match="provenance lacks commit"):
        run(tmp_path, {name: [] for name in MAKERS}, provenance=PROVENANCE | {"commit": ""})
    assert list(tmp_path.iterdir()) == []


def test_groups_that_break_over_pages_repeat_their_heading() -> None:
    paper = paper_cells(published())
    result = compare(paper, [], name_map({"compare": "directions"}, paper), [], {})
    result = replace(result, directions=result.directions_of("Table 14"))
    with style.print_style():
        book = Book("A title", "a footer")
        draw_directions(book, result)
    pages = [[text.get_text() for text in figure.axes[0].texts] for figure in book.figures]
    assert len(pages) > 1
    broken = 0
    for before, page in pairwise(pages):
        assert page[1:4] == ["paper", "ours (interval)", "verdict"]
        head = page[4]
        whole = [text for text in before if text and text in head and ": " in text]
        assert ("(continued)" in " ".join(page[4:6])) is bool(whole)
        broken += bool(whole)
    assert broken


def test_a_heading_too_long_for_its_line_takes_two() -> None:
    with style.print_style():
        book = Book("A title", "a footer")
        start = book.y
        book.heading("word " * 30)
        texts = [text for text in book.page.texts if "word" in text.get_text()]
        figure = book.figures[-1]
        figure.set_dpi(288)
        boxes = [text.get_window_extent(figure.canvas.get_renderer()) for text in texts]
    assert len(texts) == 2 and book.y > start + 0.3
    assert all(box.x1 <= figure.bbox.x1 for box in boxes)


@pytest.mark.slow
def test_paper_as_ours_through_the_script(tmp_path) -> None:
    files = write_csvs(tmp_path / "in", published())
    (tmp_path / "again").mkdir()
    first, again = run(tmp_path, files), run(tmp_path / "again", files)
    for name in OUTPUTS:
        assert first[name].read_bytes() == again[name].read_bytes()
    cells = pd.read_csv(first["csv"])
    assert set(cells["class"]) == {"equal"}
    claims = pd.read_csv(first["directions"])
    assert set(claims["verdict"]) == {"agrees", "unclear"}
    # The CSVs have intervals: what they blur are means within the tolerance, nothing else.
    assert set(claims[claims.verdict == "unclear"].id.str.split(".").str[1]) == {"mean"}
    meta = json.loads(first["meta"].read_text())
    assert {"path": PUBLISHED.as_posix(), "sha256": sha256_file(PUBLISHED)} in meta["inputs"]
    assert len(meta["inputs"]) == 2 + len(files)
    text = "".join(page.extract_text() for page in PdfReader(first["pdf"]).pages)
    for part in ("Table 3", "Figs. 3, 7", "481,236", "Tolerances", "0f3a9c5d1e2b"):
        assert part in text
    assert "/CreationDate" not in PdfReader(first["pdf"]).metadata


@pytest.mark.slow
def test_a_run_of_nothing_is_no_error(tmp_path) -> None:
    out = run(tmp_path, {name: [] for name in MAKERS if name != "places"},
              comparison={"compare": "directions"})  # fmt: skip
    assert set(pd.read_csv(out["csv"])["class"]) == {"not run"}
    assert set(pd.read_csv(out["directions"])["verdict"]) == {"not run"}


@pytest.mark.slow
def test_every_text_lies_on_its_page_and_can_be_read() -> None:
    paper = paper_cells(published())
    notes = read_notes(read_json(NOTES), paper)
    # The widest rows: intervals on all numbers that can have one, and long names of ours.
    ours = [
        replace(cell, low=cell.value - 0.1, high=cell.value + 0.1, note="over characters")
        for cell in paper
    ]
    labels = {key: f"a collection like {name}" for name, key in BENCHMARKS.items()}
    names = name_map(COMPARISON | {"labels": labels}, paper)
    result = compare(paper, ours, names, notes, COMPARISON)
    with style.print_style():
        figures = draw_comparison(result, "a footer")
        for number, figure in enumerate(figures, start=1):
            figure.set_dpi(288)  # so that the screen's hinting does not widen the letters
            renderer = figure.canvas.get_renderer()
            figure.draw(renderer)
            assert all(text.get_fontsize() >= 6.5 for text in figure.findobj(Text))
            for text in (*figure.texts, *figure.axes[0].texts):
                if text.get_text():
                    box = text.get_window_extent(renderer)
                    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
                    assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
            assert_apart(figure.axes[0].texts, renderer)
            lowest = (
                min(axes.get_tightbbox(renderer).y0 for axes in figure.axes[1:]) / 288
                if figure.axes[1:]
                else 9.6
            )
            lowest = min(lowest, *(9.6 - text.get_position()[1] for text in figure.axes[0].texts))
            assert lowest < 2.6 or number == len(figures)  # inches that are left blank


def assert_apart(texts: list[Text], renderer) -> None:
    """Check that no two texts on one line overlap."""
    lines: dict[float, list] = {}
    for text in texts:
        if text.get_text().strip():
            box = text.get_window_extent(renderer)
            lines.setdefault(round(text.get_position()[1], 3), []).append((box.x0, box.x1, text))
    for line in lines.values():
        line.sort(key=lambda entry: entry[0])
        for (_, right, first), (left, _, second) in pairwise(line):
            assert left > right - 1, (first.get_text(), second.get_text())
