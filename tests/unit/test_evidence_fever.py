"""Evidence of FEVER and Climate-FEVER, on small made-up files in their publishers' formats."""

from pathlib import Path

import pytest

from benchmark_files import write_json_lines, write_parquet
from evidence_files import QUERIES, locate, write_beir

FEVER_CORPUS = [
    {"_id": "Ada_Wren", "title": "Ada Wren", "text": "Ada Wren is a sailor . She was born -LRB- "
     "in 1950 -RRB- in Hull . Her boat is called Heron ."},
    {"_id": "Ada_Wren_-LRB-film-RRB-", "title": "Ada Wren (film)", "text": "A film of 1994 . It "
     "was shot in Hull ."},
]  # fmt: skip
FEVER_QRELS = [("q1", "Ada_Wren"), ("q1", "Ada_Wren_-LRB-film-RRB-"), ("q2", "Ada_Wren")]


@pytest.fixture
def fever(tmp_path) -> list[Path]:
    return write_beir(tmp_path / "fever", corpus=FEVER_CORPUS, qrels=FEVER_QRELS)


def fever_start(index: int, sentence: str) -> float:
    text = FEVER_CORPUS[index]["text"]
    return text.index(sentence) / len(text)


def test_fever_takes_pages_and_sentences_of_the_sets_of_evidence(tmp_path, fever):
    born, shot = "She was born -LRB- in 1950 -RRB- in Hull .", "It was shot in Hull ."
    rows = [
        # Several sets of one claim, one a row; ids are numbers of rows.
        {"id": "1", "original_id": "q1", "label": "SUPPORTS", "evidence": [
            ["Ada_Wren", "1", born], ["Ada_Wren_-LRB-film-RRB-", "1", shot]]},
        {"id": "2", "original_id": "q1", "label": "SUPPORTS", "evidence": [
            ["Ada_Wren", "1", "She was born (in 1950) in Hull."]]},
        {"id": "3", "original_id": "q2", "label": "REFUTES", "evidence": [
            ["Ada Wren (film)", "1", shot]]},
        {"id": "4", "original_id": 99, "label": "NOT ENOUGH INFO", "evidence": []},
    ]  # fmt: skip
    source = write_json_lines(tmp_path / "gold" / "test.jsonl", rows)
    places = locate(tmp_path, "fever", fever, [source.parent])
    # The second spelling of a sentence has the same place, which counts once.
    assert places["starts"] == [fever_start(0, "She was"), fever_start(1, "It was")]
    assert places["counts"]["dropped"] == {"no_relevant_document_of_that_title": 1}
    assert places["counts"]["told"]["repeated"] == 1


CLAIM = [
    ("Ada Wren", "Her boat is called \"Heron\".", "SUPPORTS"),
    ("Ada Wren", "Her boat was once called Heron.", "REFUTES"),
    ("Ada Wren (film)", "It was shot in Hull.", "NOT_ENOUGH_INFO"),
    ("Ada Wren (film)", "A sentence that only a later article has.", "SUPPORTS"),
    ("Hull", "Hull is a port.", "SUPPORTS"),
]  # fmt: skip


@pytest.mark.parametrize("name", ["climate-fever.jsonl", "test-00000-of-00001.parquet"])
@pytest.mark.parametrize("labels", [["SUPPORTS", "REFUTES"], "all", ["REFUTES"]])
def test_climate_fever_takes_articles_and_sentences_by_label(tmp_path, fever, name, labels):
    numbers = {"SUPPORTS": 0, "REFUTES": 1, "NOT_ENOUGH_INFO": 2}
    packed = name.endswith("parquet")
    evidences = [
        {
            "evidence_id": f"{article}:{number}",
            "evidence_label": numbers[label] if packed else label,
            "article": article,
            "evidence": text,
        }
        for number, (article, text, label) in enumerate(CLAIM)
    ]
    row = {"claim_id": "q1", "claim": QUERIES["q1"], "evidences": evidences}
    write = write_parquet if packed else write_json_lines
    source = write(tmp_path / "claims" / name, [row])
    places = locate(tmp_path, "climate_fever", fever, [source], labels=labels, least_overlap=0.5)
    boat, shot = fever_start(0, "Her boat"), fever_start(1, "It was")
    # Both spellings of the first sentence have one place.
    assert places["starts"] == ([boat, shot] if labels == "all" else [boat])
    lost = {"no_relevant_document_of_that_title": 1, "not_found_in_its_document": 1}
    assert places["counts"]["dropped"] == ({} if labels == ["REFUTES"] else lost)
