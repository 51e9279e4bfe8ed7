"""The script that sets the paper's numbers beside ours, and its printed pages."""

import json
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.text import Text
from pypdf import PdfReader

import compare_with_paper
from paper_csvs import COMPARISON, MAKERS, NOTES, PUBLISHED, published, write_csvs
from posbias.errors import ConfigError
from posbias.files import read_json, sha256_file
from posbias.report import style
from posbias.report.comparison_pages import draw_comparison
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
    result = compare(paper, paper, name_map(COMPARISON, paper), notes, COMPARISON)
    with style.print_style():
        for figure in draw_comparison(result, "a footer"):
            figure.set_dpi(288)  # so that the screen's hinting does not widen the letters
            renderer = figure.canvas.get_renderer()
            figure.draw(renderer)
            assert all(text.get_fontsize() >= 6.5 for text in figure.findobj(Text))
            for text in (*figure.texts, *figure.axes[0].texts):
                if text.get_text():
                    box = text.get_window_extent(renderer)
                    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
                    assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
