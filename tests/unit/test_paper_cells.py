"""Published cells: each number of the file once, none lost, and the notes on them true."""

from collections import Counter
from typing import Any

import pytest

from paper_csvs import NOTES, published
from posbias.errors import DataError
from posbias.files import read_json
from posbias.report.comparison_cells import ITEMS, Cell, by_key, number_text
from posbias.report.inconsistencies import letters_of, read_notes
from posbias.report.paper_cells import paper_cells

SECTION_ITEMS = {
    "table1_8_retained_pool": "Tables 1, 8",
    "table6_filter": "Table 6",
    "table7_audit_pct": "Table 7",
    "table3": "Table 3",
    "table11_PosIR": "Table 11",
    "table12_reversal": "Table 12",
    "table14_BEIR_ndcg10": "Table 14",
    "table4_BEIR_avg": "Table 4",
    "table13_evidence_moving": "Tables 5, 13",
    "figure7_doc_segment_cosine": "Figs. 3, 7",
    "text_points": "Fig. 1",
    "figure9_counts": "Fig. 9",
}


def leaves(value: Any) -> list[float]:
    """Return all numbers in a nest of objects and lists, text left out."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [] if isinstance(value, str) else [value]


@pytest.fixture(scope="module")
def cells() -> list[Cell]:
    return paper_cells(published())


@pytest.mark.parametrize("section", SECTION_ITEMS)
def test_every_number_of_a_section_is_a_cell_and_no_other(section: str, cells) -> None:
    item = SECTION_ITEMS[section]
    # The shares of Table 6 follow from its counts: the file holds the counts alone.
    found = [c.value for c in cells if c.item == item and not (item == "Table 6" and c.digits == 2)]
    assert Counter(found) == Counter(leaves(published()[section]))


def test_items_and_numbers_as_printed(cells) -> None:
    counts = Counter(cell.item for cell in cells)
    assert set(counts) == set(ITEMS)
    assert (counts["Table 3"], counts["Tables 5, 13"], counts["Figs. 3, 7"]) == (88, 352, 400)
    shares = {c.key[4:]: c.value for c in cells if c.item == "Table 6" and c.kind == "share"}
    printed = {  # as Table 6 prints them
        ("% of generated", "failed"): 32.08,
        ("% of generated", "margin ≥ 0.3"): 16.32,
        ("begin %", "margin ≥ 0"): 46.20,
        ("middle %", "margin ≥ 0.2"): 17.15,
        ("end %", "margin ≥ 0.3"): 17.18,
    }
    assert {name: round(shares[name], 2) for name in printed} == printed


def test_a_section_that_is_missing_or_new_is_named() -> None:
    data = published()
    del data["table3"]
    with pytest.raises(DataError, match="lack table3"):
        paper_cells(data)
    with pytest.raises(DataError, match="unknown section table99"):
        paper_cells({**published(), "table99": {}})
    with pytest.raises(DataError, match="lack table1_8"):
        paper_cells([])


def test_one_cell_twice_is_a_fault(cells) -> None:
    with pytest.raises(DataError, match="two numbers of one cell"):
        by_key([*cells, cells[0]])


@pytest.mark.parametrize(
    ("value", "kind", "digits", "signed", "text"),
    [
        (0.438, "ndcg", 3, False, ".438"),
        (1.0, "ndcg", 3, False, "1.000"),
        (-0.0001, "ndcg", 3, True, ".000"),
        (-0.126, "ndcg", 3, True, "−.126"),
        (0.0605, "ndcg", 3, True, "+.060"),
        (11.9, "range", 1, False, "11.9"),
        (0.4, "range", 1, False, "0.4"),
        (335650, "count", 0, False, "335,650"),
        (None, "count", 0, True, "–"),
    ],
)  # fmt: skip
def test_numbers_look_as_in_the_paper(value, kind, digits, signed, text) -> None:
    assert number_text(value, kind, digits, signed) == text


def test_the_shipped_notes_are_about_cells_and_true_of_the_numbers(cells) -> None:
    notes = {note.letter: note for note in read_notes(read_json(NOTES), cells)}
    data = published()
    moving, segments = data["table13_evidence_moving"], data["figure7_doc_segment_cosine"]

    def peak(values: list[float]) -> int:
        return 1 + values.index(max(values))

    bert = moving["BERT-base"]
    assert "a" in notes and [peak(bert[s]["p1_p10"]) for s in ("MM", "MB")] == [5, 1]
    flat = [
        m for m, rows in segments.items() if max(rows["Base"][:9]) - min(rows["Base"][:9]) < 0.0155
    ]
    assert "b" in notes and len(flat) == 4
    for model in ("ModernBERT-base", "ModernBERT-large"):
        assert "c" in notes and {peak(row) for row in segments[model].values()} == {1}
    unlike = {
        model
        for model, rows in moving.items()
        if min((rows[s]["range_x1e3"] for s in rows), default=0) != rows["MU"]["range_x1e3"]
    }
    assert unlike == set(notes["f"].narrowed["model"])
    trailing = {
        model
        for model, values in data["table3"]["SQuAD-PosQ"].items()
        if values["ndcg10"]["MU"] < max(values["ndcg10"].values())
    }
    assert trailing == set(notes["g"].narrowed["model"])
    apart, beside = set(), set()
    for model in ("GPT-2-medium", "BLOOM-560M", "TinyLlama-NoPE", "Qwen3-0.6B"):
        base = segments[model]["Base"]
        (apart if base[9] - max(base[:9]) > 0.5 * (max(base[:9]) - min(base[:9])) else beside).add(
            model
        )
    assert apart == set(notes["d"].narrowed["model"]) and beside == {"GPT-2-medium"}
    assert min(segments["GPT-2-medium"]["Base"]) == segments["GPT-2-medium"]["Base"][9]
    tuned = [row for m in apart for name, row in segments[m].items() if name != "Base"]
    assert all(row[9] > row[8] for row in tuned)
    assert data["table6_filter"]["all_generated"] % 3 and "n" in notes
    assert data["table4_BEIR_avg"]["Climate-FEVER"]["MU"] > 0.153 and "s" in notes
    tables = {**data["table3"], "PosIR": data["table11_PosIR"]}
    for name, ends in (
        ("SQuAD-PosQ", (56.8, 86.5)),
        ("FineWeb-PosQ", (67.7, 77.3)),
        ("PosIR", (55.8, 75.4)),
    ):
        falls = [1 - v["psi"]["MU"] / max(v["psi"].values()) for v in tables[name].values()]
        assert (round(100 * min(falls), 1), round(100 * max(falls), 1)) == ends
        assert f"{ends[0]} to {ends[1]} %" in notes["h"].text


def test_published_tables_agree_with_each_other() -> None:
    data = published()
    table14, table4 = data["table14_BEIR_ndcg10"], data["table4_BEIR_avg"]
    for name in ("SciFact", "HotpotQA", "FEVER", "Climate-FEVER"):
        for setting in ("MB", "MM", "ME", "MU"):
            mean = sum(table[name][setting] for table in table14.values()) / len(table14)
            assert mean == pytest.approx(table4[name][setting], abs=0.001)
    for settings in data["table13_evidence_moving"].values():
        for row in settings.values():
            spread = 1000 * (max(row["p1_p10"]) - min(row["p1_p10"]))
            assert spread == pytest.approx(row["range_x1e3"], abs=0.11)
    for counts in data["table6_filter"]["thresholds"].values():
        assert counts["begin"] + counts["middle"] + counts["end"] == counts["n"]


def test_the_notes_on_rounding_name_the_largest_difference(cells) -> None:
    notes = {note.letter: note.text for note in read_notes(read_json(NOTES), cells)}
    data = published()
    deltas = [
        abs(row[3] - row[1] - row[4])
        for model, rows in data["table12_reversal"].items() if model != "columns"
        for row in rows.values()
    ]  # fmt: skip
    ranges = [
        abs(1000 * (max(row["p1_p10"]) - min(row["p1_p10"])) - row["range_x1e3"])
        for rows in data["table13_evidence_moving"].values()
        for row in rows.values()
    ]
    table14, table4 = data["table14_BEIR_ndcg10"], data["table4_BEIR_avg"]
    means = [
        abs(sum(table[name][setting] for table in table14.values()) / len(table14) - printed)
        for name in next(iter(table14.values()))
        for setting, printed in table4[name].items()
    ]
    for letter, found, bound in (("t", deltas, 0.001), ("u", ranges, 0.1), ("v", means, 0.001)):
        assert 0 < max(found) <= bound + 1e-9
        assert f"{bound:g}".lstrip("0") + "." in notes[letter]


def test_a_note_of_another_form_is_named(cells) -> None:
    good = {"id": "z", "kind": "slip", "items": ["Table 3"], "text": "t"}
    assert letters_of(read_notes({"notes": [good]}, cells), cells[0]) == "z"
    for change, message in (
        ({"items": ["Table 99"]}, "unknown Table 99"),
        ({"kind": "rumour"}, "unknown rumour"),
        ({"models": ["GPT-9"]}, "about none of them"),
        ({"colour": "red"}, "unknown colour"),
        ({"text": ""}, "lacks text"),
    ):
        with pytest.raises(DataError, match=message):
            read_notes({"notes": [good | change]}, cells)
    with pytest.raises(DataError, match="two notes"):
        read_notes({"notes": [good, good]}, cells)
    with pytest.raises(DataError, match="list of notes"):
        read_notes([], cells)
