"""The HTML report and the page of comparison, in a real browser: nothing is missing, none fails."""

import base64
import re
import shutil
import time
from pathlib import Path

import pytest
from browser import Browser, find_or_install
from PIL import Image
from runs import namespace, snakemake, succeed

ROOT = Path(__file__).parents[2]
CATEGORIES = ("Claims", "Listwise study", "Retriever study")
REPORT = re.compile(
    r'report\(\s*"(?P<file>[^"]+)",\s*caption="\.\./workflow/report/(?P<caption>[^"]+)",'
    r'\s*category="(?P<category>[^"]+)",'
    r'\s*labels=\{"item": "(?P<item>[^"]+)", "content": "(?P<content>[^"]+)"\},\s*\)'
)
# The same table of further benchmarks, and a text that no browser shows as a figure.
NOT_IN_REPORT = {"figures/{positioned}/psi_table.pdf", "figures/checklist.md"}
UNMEASURED = {"listwise_causal_graph.rst"}  # a drawing
ROWS = (
    "[...document.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))"
)
LOCAL = ("file:", "data:", "blob:", "chrome-extension:")


def rules_text() -> str:
    """Return all rules."""
    return "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "rules").glob("*.smk")))


def results() -> list[dict[str, str]]:
    """Return file, caption, category and labels of every result that the rules report."""
    return [match.groupdict() for match in REPORT.finditer(rules_text())]


def words_of(caption: str) -> str:
    """Return what a reader sees of a caption, as far as it does not depend on the run."""
    text = (ROOT / "workflow/report" / caption).read_text("utf-8").split("{{")[0]
    return " ".join(re.sub(r"\\(?=@)|(?<!\w)\*|\*(?!\w)", "", text).split())


def flat(text: str) -> str:
    """Return a text with single spaces."""
    return " ".join(text.split())


def test_every_result_has_caption_category_and_labels():
    found = results()
    assert len(found) == len(re.findall(r"\breport\(", rules_text())) > 30
    assert {one["category"] for one in found} == set(CATEGORIES)
    captions = {path.name for path in (ROOT / "workflow/report").glob("*.rst")}
    assert {one["caption"] for one in found} | {"workflow.rst"} == captions
    labels = [(one["category"], one["item"], one["content"]) for one in found]
    assert len(set(labels)) == len(labels), "two results that a reader cannot tell apart"


def test_every_figure_is_in_the_report():
    made = set(re.findall(r'"(figures/[^"]+\.(?:pdf|html|md))"', rules_text()))
    patterns = {"figures/{figure}.pdf", "figures/listwise_{item}.pdf"}  # of lists of figures
    assert made - {one["file"] for one in results()} == NOT_IN_REPORT | patterns


def test_captions_are_plain_text():
    for path in sorted((ROOT / "workflow/report").glob("*.rst")):
        # docutils takes a bare nDCG@10 for the address of a letter
        assert not re.search(r"(?<!\\)@", path.read_text("utf-8")), path.name


@pytest.fixture(scope="module")
def page():
    """A browser without a network, where the system allows that."""
    program = find_or_install()
    if program is None:
        pytest.skip("no Chromium, and it cannot be installed (needs apt-get, root and a network)")
    with Browser(program, namespace("--net")) as browser:
        yield browser


@pytest.fixture(scope="module")
def report(reference) -> Path:
    """The report of the reference run, made without a network."""
    succeed(reference, *snakemake("--report", "report.html"))
    return reference / "report.html"


def go(page: Browser, place: str) -> None:
    """Go to a place that the report's first page names, from anywhere."""
    page.run("document.querySelector('nav ol a').click()")
    page.until(f"[...document.querySelectorAll('a')].some(a => a.innerText.trim() === {place!r})")
    page.click(place, "a")


def begin(page: Browser, category: str) -> list[list[str]]:
    """Go to a category from anywhere in the report, and return what its table lists."""
    go(page, category)
    return rows(page, category)


def rows(page: Browser, category: str) -> list[list[str]]:
    """Go back to a category, whose name stands above, and return what its table lists."""
    page.click(category, "a")
    expected = [one for one in results() if one["category"] == category]
    page.until(f"document.querySelectorAll('tbody tr').length === {len(expected)}")
    return page.run(ROWS)


def press(page: Browser, row: int, icon: str) -> None:
    """Press a button of a row: the eye shows the result, the other one tells of it."""
    page.run(f"""document.querySelectorAll('tbody tr')[{row}]
                 .querySelector('a[iconname="{icon}"]').click()""")


def nothing_amiss(page: Browser) -> None:
    """Fail if the page has thrown or logged an error, or asked for anything from elsewhere."""
    assert page.problems == []
    assert [url for url in page.requests if not url.startswith(LOCAL)] == []


def paper_in(picture: Path) -> bool:
    """Say whether white paper with something on it stands beside the report's menu."""
    with Image.open(picture) as image:
        grey = image.convert("L").crop((500, 60, *image.size))
    histogram = grey.histogram()
    return histogram[255] > 0.05 * sum(histogram) and sum(histogram[60:250]) > 500


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_report_opens_and_shows_every_result(page, report, tmp_path):
    page.open(report)
    page.until(f"document.body.innerText.includes({CATEGORIES[0]!r})")
    text = flat(page.text())
    assert words_of("workflow.rst") in text and "Its scale is named shrunken" in text
    assert "are trained on four balanced settings" in text, "the end of the description"
    assert page.picture(tmp_path / "report.png").stat().st_size > 20_000
    go(page, "About")  # the graph of all jobs is drawn anew at each step, and slowly
    for category in CATEGORIES:
        expected = [one for one in results() if one["category"] == category]
        shown = begin(page, category)
        assert sorted(row[:2] for row in shown) == sorted(
            [one["item"], one["content"]] for one in expected
        )
        for number, row in enumerate(shown):
            (result,) = [one for one in expected if [one["item"], one["content"]] == row[:2]]
            press(page, number, "information-circle")
            page.until("document.body.innerText.toUpperCase().includes('SNAKEMAKE RULE')")
            told = flat(page.text())
            if result["caption"] not in UNMEASURED:
                assert words_of(result["caption"]) in told, result
            assert page.run("document.querySelectorAll('a[href^=\"mailto:\"]').length") == 0, result
            rows(page, category)
    nothing_amiss(page)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_figures_open_in_the_report(page, report, tmp_path):
    page.open(report)
    page.until(f"document.body.innerText.includes({CATEGORIES[0]!r})")
    for category in CATEGORIES:
        shown = begin(page, category)
        for number, row in enumerate(shown):
            (result,) = [
                one
                for one in results()
                if [one["category"], one["item"], one["content"]] == [category, *row[:2]]
            ]
            file = report.parent / result["file"].replace("<results>", "results/shrunken")
            press(page, number, "eye")
            link = page.until(
                f"""[...document.querySelectorAll('iframe')].map(f => f.src)
                    .find(s => s.includes('filename={file.name};'))"""
            )
            assert base64.b64decode(link.split("base64,", 1)[1]) == file.read_bytes(), file
        press(page, 0, "eye")
    limit = time.monotonic() + 60
    while not paper_in(page.picture(tmp_path / "figure.png")):
        assert time.monotonic() < limit, "the browser shows no page of the PDF"
        time.sleep(0.2)
    go(page, "Statistics")
    page.until("document.querySelectorAll('canvas, svg.marks').length > 0")
    nothing_amiss(page)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_page_of_comparison_filters_and_sorts(page, reference, tmp_path):
    copy = shutil.copy(reference / "figures/paper_vs_ours.html", tmp_path / "alone.html")
    page.open(Path(copy))
    total = page.run("document.querySelectorAll('#cells tbody tr').length")
    visible = "[...document.querySelectorAll('#cells tbody tr')].filter(r => !r.hidden)"
    told = "document.getElementById('shown').textContent"
    assert total > 500 and page.run(told) == f"{total} of {total}"

    def choose(field: str, value: str) -> list[list[str]]:
        page.run(f"""(() => {{ const field = document.getElementById({field!r});
                     field.value = {value!r}; field.dispatchEvent(new Event('input')); }})()""")
        found = page.run(f"{visible}.map(r => [...r.cells].map(c => c.textContent.trim()))")
        assert page.run(told) == f"{len(found)} of {total}"
        return found

    items = page.run("[...document.getElementById('item').options].map(o => o.value)")
    by_item = [choose("item", item) for item in items if item]
    assert sum(map(len, by_item)) == total
    assert all(
        {row[0] for row in found} == {item} for item, found in zip(items[1:], by_item, strict=True)
    )
    assert len(choose("item", "")) == total
    some = choose("words", "bert PSI")
    assert 0 < len(some) < total
    assert all("bert" in " ".join(row).lower() for row in some)
    assert choose("words", "no such words") == []
    choose("words", "")

    heads = page.run(
        "[...document.querySelectorAll('#cells th')].map(h => [h.cellIndex, 'sort' in h.dataset])"
    )
    for column in [index for index, sorts in heads if sorts]:
        values = f"""[...document.querySelectorAll('#cells tbody tr')].map(r => {{
                     const c = r.cells[{column}];
                     return 'v' in c.dataset ? parseFloat(c.dataset.v) : c.textContent; }})"""
        before = page.run(values)
        press_head = f"document.querySelectorAll('#cells th')[{column}].click()"
        page.run(press_head)
        up = page.run(values)
        page.run(press_head)
        down = page.run(values)
        assert sorted(map(str, up)) == sorted(map(str, before)) == sorted(map(str, down))
        numbers = [value for value in up if isinstance(value, float | int)]
        if numbers:  # a cell without a number comes as null, and last either way
            assert numbers == sorted(numbers) and up[: len(numbers)] == numbers
            assert down[: len(numbers)] == sorted(numbers, reverse=True)
        elif len(set(up)) > 1:
            assert up != down
    assert page.picture(tmp_path / "comparison.png").stat().st_size > 20_000
    nothing_amiss(page)
    assert [url for url in page.requests if not url.startswith("file:")] == []
