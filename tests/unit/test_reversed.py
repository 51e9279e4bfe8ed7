"""The mirrored copy of a collection: what moves where, what is lost, what stays as it is."""

import json
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_files import build, text_of, write_json_lines
from posbias.benchmarks.loaders import load
from posbias.benchmarks.records import BenchmarkQuery, span_midpoint, third_of
from posbias.benchmarks.reversed import (
    mirrored_point,
    mirrored_query,
    mirrored_span,
    mirrored_text,
)
from posbias.corpus.segments import equal_ranges
from posbias.errors import DataError
from posbias.measures.groups import by_zones

TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)
OPPOSITE = {"front": "back", "mid": "mid", "back": "front"}


def query(start=None, end=None, doc_id="d", **more) -> BenchmarkQuery:
    fields = {"positions": (), "answer_start": start, "answer_end": end} | more
    return BenchmarkQuery(query_id="q", text="words", doc_id=doc_id, **fields)


def mirror(one: BenchmarkQuery, length: int | None, segments: int = 5):
    counts: Counter = Counter()
    return mirrored_query(one, length, segments, counts), counts


def test_the_order_of_the_segments_is_turned_and_that_of_their_signs_is_not():
    assert mirrored_text("aabbccddee", 5) == "eeddccbbaa"
    assert mirrored_text("The 1st. 𝄞 2nd. ", 4) == "nd.  𝄞 21st.The "
    assert mirrored_text("abcd", 5) == "abcd"


@given(TEXTS, st.integers(2, 7))
def test_nothing_is_added_or_lost_and_each_segment_stays_whole(text, segments):
    found = mirrored_text(text, segments)
    assert Counter(found) == Counter(text)
    if len(text) >= segments:
        at = len(text)
        for start, end in equal_ranges(len(text), segments):
            assert found[at - (end - start) : at] == text[start:end]
            at -= end - start
        assert at == 0


@given(st.integers(2, 7), st.data())
def test_twice_is_the_text_where_the_length_divides(segments, data):
    text = data.draw(TEXTS.map(lambda drawn: drawn[: len(drawn) // segments * segments]))
    assert mirrored_text(mirrored_text(text, segments), segments) == text


def test_twice_is_another_text_where_it_does_not():
    # Lengths 2, 2, 2, 2, 3 become 3, 2, 2, 2, 2, and are cut as 2, 2, 2, 2, 3 again.
    assert mirrored_text("aabbccddeee", 5) == "eeeddccbbaa"
    assert mirrored_text("eeeddccbbaa", 5) == "baacbdcedee"


@given(TEXTS.filter(lambda text: len(text) >= 5), st.data())
def test_a_span_within_a_segment_holds_the_same_signs_afterwards(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    cuts = equal_ranges(len(text), 5)
    moved = mirrored_span(start, end, cuts)
    inner = {last for _, last in cuts[:-1]}
    assert (moved is None) == bool(inner & set(range(start + 1, end)))
    if moved is not None:
        assert mirrored_text(text, 5)[slice(*moved)] == text[start:end]
        assert mirrored_point((start + end) / 2, cuts) == sum(moved) / 2


@given(st.integers(5, 80))
def test_each_sign_has_a_place_of_its_own(length):
    text = "".join(chr(0x4E00 + at) for at in range(length))
    found = mirrored_text(text, 5)
    cuts = equal_ranges(length, 5)
    assert [found[int(mirrored_point(at + 0.5, cuts))] for at in range(length)] == list(text)


def test_a_place_on_a_cut_belongs_to_the_segment_that_ends_there():
    cuts = equal_ranges(50, 5)
    assert [mirrored_point(at, cuts) for at in (0, 10, 10.5, 20, 25, 40, 50)] == [
        40,
        50,
        30.5,
        40,
        25,
        20,
        10,
    ]


@given(st.integers(1, 30), st.data())
def test_front_and_back_change_places_where_the_length_divides(part, data):
    # Also on the edges, and where a cut goes through the evidence.
    length = 5 * part
    start = data.draw(st.integers(0, length - 1))
    end = data.draw(st.integers(start + 1, length))
    before = query(start, end, midpoint=span_midpoint(start, end, length))
    after, _ = mirror(before, length)
    zones = [
        next(name for name, ids in by_zones([one], 5, 2).groups.items() if ids)
        for one in (before, after)
    ]
    assert zones[1] == OPPOSITE[zones[0]]


def test_whole_evidence_keeps_its_offsets_and_gets_a_new_middle_and_third():
    found, counts = mirror(query(2, 8, positions=("begin",), midpoint=0.1), 50)
    assert (found.answer_start, found.answer_end) == (42, 48)
    assert (found.midpoint, found.positions) == (0.9, ("end",))
    assert not counts.total()


def test_evidence_that_is_cut_loses_its_offsets_and_moves_with_its_middle():
    found, counts = mirror(query(6, 18, positions=("begin", "middle"), midpoint=0.24), 50)
    assert (found.answer_start, found.answer_end) == (None, None)
    assert (found.midpoint, found.positions) == (0.64, ("middle",))
    assert third_of(0.64) == "middle"
    assert counts == {"queries_whose_evidence_is_cut": 1}


def test_a_middle_without_offsets_moves_too_also_without_a_document():
    of_document, _ = mirror(query(midpoint=0.05, document_tokens=9), 50)
    assert of_document.midpoint == pytest.approx(0.85)
    assert of_document.document_tokens == 9
    of_none, counts = mirror(query(doc_id=None, midpoint=0.35), None)
    assert of_none.midpoint == pytest.approx(0.75)
    assert of_none.positions == ("end",)
    assert not counts.total()


def test_a_third_alone_is_no_place_that_can_be_mirrored():
    found, counts = mirror(query(positions=("end",)), 50)
    assert (found.positions, found.midpoint) == ((), None)
    assert counts == {"queries_without_a_known_place": 1}


def test_a_document_shorter_than_its_segments_stays_with_its_evidence():
    found, _ = mirror(query(0, 1, positions=("begin",), midpoint=0.125), 4)
    assert (found.answer_start, found.answer_end, found.midpoint) == (0, 1, 0.125)


DOCUMENTS = [
    {"doc_id": "one", "text": "alpha beta gammadeltaother"[:25]},
    {"doc_id": "two", "text": "xyz"},
    {"doc_id": "three", "text": "the third of these, of which no query asks"},
]
QUERIES = [
    query(0, 5, "one", positions=("begin",), midpoint=0.1).record() | {"query_id": "q1"},
    query(3, 9, "one", positions=("begin",), midpoint=0.24).record() | {"query_id": "q2"},
    query(doc_id=None).record() | {"query_id": "q3"},
]
QRELS = "q1 0 one 1\nq1 0 two 2\nq2 0 one 1\nq3 0 three 1\n"


@pytest.fixture
def files(tmp_path):
    """The files of a built collection of three documents and three queries."""
    folder = tmp_path / "built"
    found = [
        write_json_lines(folder / "corpus.jsonl", DOCUMENTS),
        write_json_lines(folder / "queries.jsonl", QUERIES),
        folder / "qrels.txt",
        folder / "excluded.json",
    ]
    found[2].write_text(QRELS)
    found[3].write_text(json.dumps({"q2": ["two"]}))
    return found


def test_the_mirrored_collection_has_the_same_queries_and_judgements(tmp_path, files):
    folder = tmp_path / "mirrored"
    found, summary = build(folder, "reversed", files, segments=5)
    assert [one.doc_id for one in found.documents] == ["one", "two", "three"]
    assert text_of(found, "one") == mirrored_text(DOCUMENTS[0]["text"], 5)
    assert text_of(found, "two") == "xyz"
    assert [(q.query_id, q.text, q.doc_id) for q in found.queries] == [
        ("q1", "words", "one"),
        ("q2", "words", "one"),
        ("q3", "words", None),
    ]
    assert (folder / "qrels.txt").read_text() == QRELS
    assert found.excluded == {"q2": ["two"]}
    moved = found.queries[0]
    text = text_of(found, "one")
    assert text[moved.answer_start : moved.answer_end] == "alpha"
    assert summary["counts"] == {
        "documents_with_fewer_characters_than_segments": 1,
        "queries_whose_evidence_is_cut": 1,
        "queries_without_a_known_place": 1,
    }
    assert (summary["documents"], summary["queries"]) == (3, 3)
    assert "5 equal segments" in summary["corpus_note"]


def test_the_mirrored_copy_of_the_mirrored_copy(tmp_path, files):
    build(tmp_path / "once", "reversed", files, segments=5)
    once = [tmp_path / "once" / file.name for file in files]
    twice, _ = build(tmp_path / "twice", "reversed", once, segments=5)
    assert text_of(twice, "one") == DOCUMENTS[0]["text"]  # 25 code points
    first = twice.queries[0]
    assert (first.answer_start, first.answer_end, first.midpoint) == (0, 5, 0.1)
    assert twice.queries[1].midpoint == pytest.approx(0.24)
    third = text_of(twice, "three")  # 42 code points
    assert third != DOCUMENTS[2]["text"] and sorted(third) == sorted(DOCUMENTS[2]["text"])


def test_documents_come_as_a_stream(files):
    loaded = load("reversed", files, {"segments": 5}, 1)
    assert isinstance(loaded.documents, Iterator)
    write_json_lines(files[0], [{"doc_id": "late", "text": "eeddccbbaa"}])
    assert [(one.doc_id, one.text) for one in loaded.documents] == [("late", "aabbccddee")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"doc_id": "gone"}, "query 'q1' belongs to document 'gone', which the corpus lacks"),
        ({"answer_end": 26}, r"query 'q1': \[0, 26\) is not a range of its document of 25 code"),
        ({"answer_end": None}, r"query 'q1': \[0, None\) is not a range"),
        ({"answer_start": 5}, r"query 'q1': \[5, 5\) is not a range"),
        ({"doc_id": None}, r"query 'q1': \[0, 5\) is not a range of its document of None"),
        ({"midpoint": 1.5}, "query 'q1': the middle of its evidence lies at 1.5"),
        ({"query_id": "q2"}, "query 'q2' occurs twice"),
    ],
)
def test_a_collection_that_does_not_fit_together_is_named(files, change, message):
    write_json_lines(files[1], [QUERIES[0] | change, *QUERIES[1:]])
    with pytest.raises(DataError, match=f"queries.jsonl: .*{message}"):
        load("reversed", files, {"segments": 5}, 1)


def test_missing_files_and_empty_documents_are_named(files):
    with pytest.raises(DataError, match="judgements and exclusions of another, found 3 files"):
        load("reversed", files[:3], {"segments": 5}, 1)
    write_json_lines(files[0], [*DOCUMENTS[:2], {"doc_id": "three", "text": " "}])
    with pytest.raises(DataError, match=r"corpus.jsonl, line 3: the document has no text"):
        load("reversed", files, {"segments": 5}, 1)
