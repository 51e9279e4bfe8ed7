"""The PSI table: its numbers, verdicts, bold marks, LaTeX and faults."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import DataError
from posbias.report.latex import escape, latex_table
from posbias.report.printed import bold_marks, fraction, percent, printed_rows, table_notes
from posbias.report.psi_table import direction_verdict, long_frame, psi_reduction, wide_frame
from posbias.report.records import common_interval, favours_clearly
from report_measures import LABELS, SETTINGS, TABLE_3, made_up, paper_records, record

PAPER_REDUCTIONS = {  # percent, from the printed three decimals of Table 3
    "bert": 74.5,
    "longformer": 56.8,
    "modernbert_base": 79.7,
    "modernbert_large": 76.4,
    "gpt2": 86.5,
    "bloom": 85.1,
    "tinyllama_nope": 76.5,
    "qwen3": 83.4,
}
shares = st.integers(min_value=0, max_value=100_000).map(lambda part: part / 100_000)


def test_reductions_of_the_papers_table() -> None:
    wide = wide_frame(long_frame(paper_records())).set_index("retriever")
    found = {key: round(100 * value, 1) for key, value in wide["reduction"].items()}
    assert found == PAPER_REDUCTIONS
    assert (round(min(found.values())), round(max(found.values()))) == (57, 86)


def test_the_papers_bold_marks() -> None:
    rows = printed_rows(wide_frame(long_frame(paper_records())))
    for row in rows:
        assert [cell.bold for cell in row.psi] == [False, False, False, True]
    best_mean = [row.label for row in rows if row.ndcg[3].bold]
    assert best_mean == ["BERT", "Longformer", "BLOOM", "TinyLlama-NoPE", "Qwen3"]


def test_numbers_are_those_of_the_records() -> None:
    wide = wide_frame(long_frame(paper_records(), list(TABLE_3))).set_index("retriever")
    for key, (ndcg, psi) in TABLE_3.items():
        for setting, mean, value in zip(SETTINGS, ndcg, psi, strict=True):
            assert wide.loc[key, f"ndcg_{setting}"] == mean
            assert wide.loc[key, f"psi_{setting}"] == value


def test_rows_follow_the_given_order_then_references() -> None:
    order = list(reversed(LABELS))
    wide = wide_frame(long_frame(made_up(), order))
    assert wide["retriever"].tolist() == [*order, "bm25", "minilm_l6"]


def test_long_frame_has_one_row_per_retriever_and_setting() -> None:
    long = long_frame(made_up())
    assert len(long) == 8 * 4 + 2
    first = long.iloc[0]
    assert (first["thirds_begin_mean"], first["thirds_begin_n"]) == (0.647, 1700)
    assert first["favoured"] == "begin"


def test_six_buckets_give_their_own_psi_but_the_direction_stays_with_thirds() -> None:
    long = long_frame(made_up(), grouping="characters")
    by_character = made_up()[0]["groupings"]["characters"]["psi"]
    assert long["psi"].iloc[0] == by_character
    assert set(long["favoured"]) <= {"begin", "middle", "end"}


def test_missing_setting_names_retriever_and_setting() -> None:
    records = [r for r in made_up() if (r["retriever"], r["setting"]) != ("bloom", "end")]
    with pytest.raises(DataError, match=r"bloom.*end"):
        wide_frame(long_frame(records))


@pytest.mark.parametrize(
    ("records", "order", "message"),
    [
        (made_up()[:4] + made_up()[:1], None, "bert, setting begin: measured twice"),
        (made_up()[:4], ["gpt2"], "bert"),
        (made_up()[:4], ["bert", "gpt2"], "gpt2"),
        ([], None, "no measures"),
    ],
)
def test_faulty_inputs_are_named(records: list, order: list | None, message: str) -> None:
    with pytest.raises(DataError, match=message):
        long_frame(records, order)


def test_unknown_grouping_is_named() -> None:
    with pytest.raises(DataError, match="bert, setting begin: no grouping 'tenths'"):
        long_frame(made_up(), grouping="tenths")


def test_differing_intervals_are_refused() -> None:
    records = made_up()
    records[5]["interval"] = {"kind": "bootstrap over queries", "resamples": 10, "level": 0.9}
    with pytest.raises(DataError, match="longformer, setting middle"):
        common_interval(records)


def without_psi() -> list:
    records = made_up()
    records[0]["groupings"]["thirds"] |= {
        "psi": None,
        "psi_low": None,
        "psi_high": None,
        "psi_note": "every mean is 0",
        "favoured": None,
    }
    return records


def test_null_psi_becomes_a_dash_with_its_reason() -> None:
    records = without_psi()
    long = long_frame(records)
    row = printed_rows(wide_frame(long))[0]
    assert (row.psi[0].text, row.psi[0].interval, row.reduction) == ("–", "", "–")
    assert row.verdict == ("MB not measurable",)
    assert [cell.bold for cell in row.psi] == [False, False, False, True]
    assert "– in place of a PSI: every mean is 0." in table_notes(long, records[0]["interval"])


def test_a_reference_prints_once_without_bold() -> None:
    row = printed_rows(wide_frame(long_frame(made_up())))[-2]
    assert (row.label, len(row.ndcg), len(row.psi)) == ("BM25", 1, 1)
    assert (row.ndcg[0].text, row.ndcg[0].bold, row.reduction) == (".852", False, "–")


@pytest.mark.parametrize(
    ("begin", "end", "verdict"),
    [
        ("begin", "end", "yes"),
        ("end", "end", "MB favours end"),
        ("begin", "middle", "ME favours middle"),
        ("middle", "begin", "MB favours middle; ME favours begin"),
        (None, "end", "MB not measurable"),
    ],
)
def test_direction_verdict(begin: str | None, end: str, verdict: str) -> None:
    clear = {"begin": True, "end": True}
    assert direction_verdict({"begin": begin, "end": end}, clear) == verdict


def test_a_direction_within_the_intervals_is_called_close() -> None:
    favoured = {"begin": "begin", "end": "end"}
    assert direction_verdict(favoured, {"begin": False, "end": True}) == "yes (MB close)"
    assert direction_verdict(favoured, {"begin": False, "end": False}) == "yes (MB, ME close)"


def test_favouring_clearly_means_intervals_apart() -> None:
    def groups(*bounds: tuple[float, float]) -> dict:
        names = ("begin", "middle", "end")
        return {
            "favoured": "begin",
            "groups": [
                {"name": n, "low": low, "high": high}
                for n, (low, high) in zip(names, bounds, strict=True)
            ],
        }

    assert favours_clearly(groups((0.5, 0.6), (0.1, 0.2), (0.3, 0.49)))
    assert not favours_clearly(groups((0.5, 0.6), (0.1, 0.2), (0.3, 0.5)))
    assert not favours_clearly(groups((0.5, 0.6), (0.1, 0.2), (None, None)))
    assert not favours_clearly({**groups((0.5, 0.6), (0.1, 0.2), (0.3, 0.4)), "favoured": None})


@given(st.lists(shares, min_size=4, max_size=4))
def test_reduction_rebuilds_the_balanced_psi(values: list[float]) -> None:
    psi = dict(zip(SETTINGS, values, strict=True))
    worst = max(values[:3])
    reduction = psi_reduction(psi)
    if worst == 0:
        assert math.isnan(reduction)
    else:
        assert (1 - reduction) * worst == pytest.approx(psi["uniform"], abs=1e-9)
        assert (reduction > 0) == (psi["uniform"] < worst)


@given(st.lists(shares, min_size=1, max_size=6), st.booleans())
def test_bold_marks_the_printed_best(values: list[float], highest: bool) -> None:
    marks = bold_marks(values, highest)
    best = max(values) if highest else min(values)
    bold = {fraction(v) for v, mark in zip(values, marks, strict=True) if mark}
    plain = {fraction(v) for v, mark in zip(values, marks, strict=True) if not mark}
    assert bold == {fraction(best)}
    assert not bold & plain


def test_digits() -> None:
    assert [fraction(v) for v in (0.4381, 1.0, 0.0, -0.0119, -0.0001, None)] == [
        ".438",
        "1.000",
        ".000",
        "−.012",
        ".000",
        "–",
    ]
    assert [percent(v) for v in (0.568, -0.1234, 1.0, float("nan"))] == [
        "56.8",
        "−12.3",
        "100.0",
        "–",
    ]


def tex(records: list) -> str:
    long = long_frame(records)
    notes = table_notes(long, records[0]["interval"])
    return latex_table(printed_rows(wide_frame(long)), "A title", notes)


def test_latex_rows_have_eleven_columns_and_balanced_braces() -> None:
    text = tex(made_up())
    for line in text.splitlines():
        if line.endswith(r"\\"):
            spanned = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d)\}", line))
            assert len(re.findall(r"(?<!\\)&", line)) + spanned == 10, line
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    for rule in ("toprule", "bottomrule"):
        assert text.count(rf"\{rule}") == 1
    assert text.count(r"\begin") == text.count(r"\end")
    assert text.count(r"\midrule") == 2


def test_latex_caption_says_what_a_reader_needs() -> None:
    text = tex(made_up())
    for phrase in ("n = 5,100 queries", r"95 \% bootstrap over queries, 10,000", "Bold:"):
        assert phrase in text
    assert r"Qwen3 & .445 & .491 & .467 & \textbf{.591}" in text
    assert "−" not in text and "–" not in text


def test_latex_escapes_a_hostile_label() -> None:
    records = made_up()[:4]
    for one in records:
        one["label"] = r"a_b & 50% $x$ {y} #1 ~^\z"
    assert (
        r"a\_b \& 50\% \$x\$ \{y\} \#1 \textasciitilde{}\textasciicircum{}\textbackslash{}z &"
    ) in tex(records)


@given(st.text(alphabet="ab \\{}&%$#_~^"))
def test_escaped_text_has_no_live_command_characters(text: str) -> None:
    left = re.sub(r"\\text(backslash|asciitilde|asciicircum)\{\}", "", escape(text))
    assert not re.search(r"[~^]|\\(?![{}&%$#_])|(?<!\\)[{}&%$#_]", left)


def test_ties_in_print_are_both_bold() -> None:
    records = [record("bert", name, [0.5, 0.5, 0.5]) for name in SETTINGS]
    records[0]["groupings"]["thirds"]["macro_mean"] = 0.50004
    row = printed_rows(wide_frame(long_frame(records)))[0]
    assert [cell.bold for cell in row.ndcg] == [True] * 4
