"""The comparison as a whole: classes, one changed cell, tolerances, the page in HTML."""

from dataclasses import replace
from html.parser import HTMLParser
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_csvs import COMPARISON, NOTES, published
from posbias.errors import ConfigError
from posbias.files import read_json
from posbias.report.comparison_cells import ITEMS, Cell
from posbias.report.comparison_html import comparison_html
from posbias.report.comparison_pages import scatter_points, summary_heads, summary_values
from posbias.report.direction_pages import direction_groups, direction_texts
from posbias.report.inconsistencies import read_notes
from posbias.report.name_map import name_map
from posbias.report.paired_grid import marks_of, tables_of
from posbias.report.paper_cells import paper_cells
from posbias.report.paper_vs_ours import (
    Comparison,
    cell_frame,
    compare,
    direction_frame,
    summary,
)
from posbias.report.tolerances import DEFAULTS, cell_class, tolerance_lines, tolerances

PAPER = paper_cells(published())
SHIPPED = read_notes(read_json(NOTES), PAPER)
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "circle", "line", "rect"}


def compared(ours, **change) -> Comparison:
    comparison = COMPARISON | change
    return compare(PAPER, ours, name_map(comparison, PAPER), SHIPPED, comparison)


@pytest.fixture(scope="module")
def own() -> Comparison:
    return compared(PAPER)


def test_the_papers_numbers_as_ours_are_all_equal_and_all_agree(own) -> None:
    assert set(cell_frame(own)["class"]) == {"equal"}
    assert set(direction_frame(own)["verdict"]) == {"agrees"}
    total = summary(own)[-1]
    assert total["classes"]["equal"] == total["cells"] == len(PAPER)
    assert total["verdicts"]["agrees"] == total["claims"]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, len(PAPER) - 1), st.sampled_from(["near", "differs", "not run"]))
def test_one_changed_cell_changes_the_class_of_that_cell_only(at: int, wanted: str) -> None:
    cell, bound = PAPER[at], DEFAULTS[PAPER[at].kind]
    unit = abs(cell.value) if cell.kind == "count" else 1.0
    step = {"near": bound.near * unit, "differs": bound.near * unit * 1.01 + 1e-6, "not run": 0}
    other = [replace(cell, value=cell.value + step[wanted])] if wanted != "not run" else []
    found = compared([*PAPER[:at], *other, *PAPER[at + 1 :]])
    changed = [c for c in found.cells if c.verdict != "equal"]
    assert [(c.paper.key, c.verdict) for c in changed] == [(cell.key, wanted)]


def test_at_another_scale_numbers_have_no_class_but_directions_are_judged() -> None:
    half = [replace(cell, value=cell.value / 2) for cell in PAPER[: len(PAPER) // 2]]
    found = compared(half, compare="directions")
    assert {cell.verdict for cell in found.cells} == {"other scale", "not run"}
    verdicts = {row["verdict"] for row in found.directions}
    assert {"agrees", "not run"} <= verdicts
    frame = cell_frame(found)
    assert frame["ours"].notna().sum() == len(half)  # shown all the same


def test_counts_add_up_and_every_cell_is_printed_once(own) -> None:
    rows = summary(own)
    for row in rows:
        assert sum(row["classes"].values()) == row["cells"]
        assert sum(row["verdicts"].values()) == row["claims"]
    printed = [
        cell.paper.key
        for item in ITEMS
        for table in tables_of(own, item)
        for cell in table.cells.values()
    ]
    assert sorted(printed) == sorted(cell.key for cell in PAPER)


def test_each_note_is_marked_on_all_its_cells_and_no_other(own) -> None:
    for table in chain.from_iterable(tables_of(own, item) for item in ITEMS):
        marks = marks_of(table, SHIPPED)
        for (row, column), cell in table.cells.items():
            letters = marks.table + marks.rows.get(row, "") + marks.columns.get(column, "")
            letters += marks.cells.get((row, column), "")
            assert sorted(letters) == sorted(cell.letters)


@pytest.mark.parametrize("kind", list(DEFAULTS))
def test_a_difference_on_a_bound_is_within_it(kind: str) -> None:
    bounds = tolerances({kind: {"equal": 0.01, "near": 0.02}})
    cell = Cell("Table 3", "", "", "", "", "", kind, 3, 0.7 if kind != "count" else 1.0)
    for step, expected in ((0.01, "equal"), (-0.01, "equal"), (0.02, "near"), (0.0201, "differs")):
        ours = replace(cell, value=cell.value + step)
        assert cell_class(cell, ours, bounds, True) == expected
    assert bounds[kind].reason == "as the config has it"
    assert len(tolerance_lines(bounds)) == len(DEFAULTS)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"mrr": {"equal": 0, "near": 1}}, "no such kind"),
        ({"ndcg": {"equal": 0.1}}, "lacks near"),
        ({"ndcg": {"equal": 0.1, "near": 0.2, "far": 1}}, "unknown far"),
        ({"ndcg": {"equal": 0.2, "near": 0.1}}, "must rise"),
        ({"ndcg": {"equal": -1, "near": 0.1}}, "must rise"),
    ],
)
def test_tolerances_that_cannot_be_are_config_errors(given_, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        tolerances(given_)


def test_a_mean_tolerance_that_is_no_number_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="mean_tolerance"):
        compared([], mean_tolerance="much")


class Reader(HTMLParser):
    """Collects what a browser would have to fetch, and tags that do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.rows = 0

    def handle_starttag(self, tag, attrs) -> None:
        self.fetched += [v for k, v in attrs if k in ("src", "href", "action", "data", "srcset")]
        self.rows += tag == "tr"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        """Pass over a tag that closes itself."""

    def handle_endtag(self, tag) -> None:
        if tag in VOID:
            return
        if tag not in ("li", "dt", "dd"):
            assert self.open.pop() == tag
        elif self.open[-1] == tag:
            self.open.pop()


def test_the_html_is_whole_needs_nothing_and_repeats(own) -> None:
    page = comparison_html(own, "a footer <of> two & more")
    reader = Reader()
    reader.feed(page)
    assert reader.fetched == [] and reader.open == []
    assert "http" not in page and "@import" not in page and "url(" not in page
    assert "a footer &lt;of&gt; two &amp; more" in page
    # The benchmarks, the counts (with sum), the claims of each text, the cells, with headings.
    texts = len({(row["item"], row["claim"]) for row in own.directions})
    names = len(COMPARISON["benchmarks"]) + 1
    assert reader.rows == names + len(ITEMS) + 2 + len(own.directions) + texts + len(PAPER) + 1
    assert page == comparison_html(compared(PAPER), "a footer <of> two & more")


def test_what_users_files_hold_is_text_in_the_html() -> None:
    ours = [replace(PAPER[0], note='over <script>alert("x")</script>')]
    assert tables_of(compared(ours), PAPER[0].item)[0].title.endswith("</script>)")
    page = comparison_html(compared(ours), "f")
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_nothing_run_is_a_page_all_the_same() -> None:
    found = compared([])
    assert {cell.verdict for cell in found.cells} == {"not run"}
    page = comparison_html(found, "f")
    assert "Our numbers (upwards)" not in page and page.count("v-not run") >= len(PAPER)


def test_our_names_stand_beside_the_papers_and_what_was_not_run_says_so() -> None:
    change = {
        "compare": "directions",
        "benchmarks": {"SQuAD-PosQ": "wiki", "FEVER": "leads"},
        "labels": {"wiki": "held-out pages", "leads": "lead sections"},
    }
    ours = [
        replace(cell, note="over thirds" if cell.item == "Table 3" else "", our_place=place)
        for cell in PAPER
        if cell.benchmark in ("", "SQuAD-PosQ", "FEVER")
        for place in ["192-240" if cell.place == "256-512" else ""]
    ]
    found = compared(ours, **change)
    titles = {table.title for item in ITEMS for table in tables_of(found, item)}
    for title in (
        "Table 3: nDCG@10 and PSI, SQuAD-PosQ (ours: held-out pages, over thirds)",
        "Table 3: nDCG@10 and PSI, FineWeb-PosQ (not run)",
        "Table 14: standard benchmarks (ours: FEVER is lead sections; others not run)",
    ):
        assert title in titles
    pool = tables_of(found, "Tables 1, 8")[0]
    assert pool.printed[("256-512",)] == ("256-512 (ours 192-240)",)
    rows = dict(zip(direction_frame(found)["id"], direction_frame(found)["with_ours"], strict=True))
    assert rows["table3.psi.SQuAD-PosQ.BERT-base"] == "SQuAD-PosQ (ours: held-out pages), BERT-base"
    assert rows["table14.mb_me.HotpotQA.BERT-base"] == "HotpotQA (not run), BERT-base"
    assert rows["table1.begin.256-512"] == "256-512 (ours 192-240)"
    page = comparison_html(found, "f")
    for part in (*rows.values(), "six buckets of characters", "256-512: ours 192-240"):
        assert part.replace(">", "&gt;") in page
    assert "PSI on SQuAD-PosQ is over six buckets of characters, ours over thirds" in page


@pytest.mark.parametrize(
    ("judge", "panel", "said"),
    [("words", ["bm25", "cosine"], True), ("openai", ["bm25"], False), ("words", ["cosine"], False),
     (None, None, False)],
)  # fmt: skip
def test_the_judge_and_the_panel_are_said_to_share_words_only_if_they_do(judge, panel, said):
    found = compared(PAPER, judge=judge, panel=panel)
    assert any("both look at words" in text for text in found.remarks) is said


def test_what_holds_in_ours_and_what_has_no_interval_are_counted() -> None:
    ours = [
        replace(cell, low=cell.value - 1e-4, high=cell.value + 1e-4)
        if cell.item == "Table 12"
        else cell
        for cell in PAPER
    ]
    found = compared(ours)
    rows = {row["item"]: row for row in summary(found)}
    assert rows["Table 12"]["bare"] == 0 and rows["Fig. 1"]["bare"] == 8
    for row in rows.values():
        assert row["ours_hold"] == row["holds"] and row["tested"] == row["claims"]
    assert rows["all"]["holds"] < rows["all"]["claims"]
    for same in (True, False):
        assert len(summary_heads(same)) == len(summary_values(rows["all"], same))
    for row in found.directions:
        theirs, mine = direction_texts(row)
        # Said of either side, wherever it is so; and where there is no interval.
        assert any("does not hold" in line for line in theirs) is not row["paper_holds"]
        assert any("does not hold" in line for line in mine) is not row["our_holds"]
        assert any("no interval" in line for line in mine) is not row["our_interval"]
    heads = " ".join(direction_groups(found))
    assert "Fig. 1: MB is better at the first group than at the last (holds in the paper's" in heads


def test_differences_are_not_scattered_with_levels(own) -> None:
    points = scatter_points(own)
    assert min(x for x, _, _ in points["Table 12: nDCG@10"]) > 0
    assert len(points["Table 12: Δ of nDCG@10"]) == 12
    assert "Tables 5, 13: thousandths of cosine" in points
