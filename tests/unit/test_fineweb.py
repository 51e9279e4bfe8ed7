"""FineWeb-PosQ from its own format: corpus-only rows, several tags, spans of unknown unit."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_files import build, write_json_lines, write_parquet
from posbias.benchmarks.fineweb import load_fineweb
from posbias.errors import DataError
from posbias.measures.groups import by_thirds

HARBOUR = "harbour " * 12  # 96 characters, thirds of 32
QUARRY = "quarry " * 9


def row(question, content=HARBOUR, tags=("beginning",), span=(0, 20), **changed) -> dict:
    return {
        "question": question,
        "content": content,
        "content_summary": "about it",
        "answer": "yes",
        "question_level": "easy",
        "span": list(span),
        "span_class": list(tags),
    } | changed


ROWS = [
    row("q0?"),
    row("q1?", tags=("middle", "beginning"), span=(20, 40)),
    row(None, content=QUARRY) | {"span": None, "span_class": None},
    row("q3?", tags=("end",), span=(64, 96)),
    row("", content=QUARRY),
]


def schema():
    import pyarrow as pa

    texts = ("question", "content", "content_summary", "answer", "question_level")
    return pa.schema(
        [(name, pa.string()) for name in texts]
        + [("span", pa.list_(pa.int32())), ("span_class", pa.list_(pa.string()))]
    )


def parquet(folder, rows, name="data/train-00000-of-00001.parquet"):
    return write_parquet(folder / name, rows, schema())


def test_a_row_without_a_question_is_corpus_only(tmp_path):
    parquet(tmp_path / "hub", ROWS)
    benchmark, summary = build(tmp_path / "out", "fineweb", [tmp_path / "hub"])
    assert [one.text for one in benchmark.documents] == [HARBOUR, QUARRY]
    assert [query.text for query in benchmark.queries] == ["q0?", "q1?", "q3?"]
    assert [query.query_id for query in benchmark.queries] == ["row1", "row2", "row4"]
    assert {query.answer_start for query in benchmark.queries} == {None}
    grouping = by_thirds(benchmark.queries)
    assert grouping.groups == {"begin": ["row1", "row2"], "middle": ["row2"], "end": ["row4"]}
    assert grouping.counted_twice == 1
    assert summary["counts"] == {
        "rows": 5,
        "corpus_only_rows": 2,
        "questions_without_tag": 0,
        "questions_with_several_tags": 1,
        "left_out_of_the_sample": 0,
        "repeated_question_texts": 0,
        "question_texts_that_end_at_another_document": 0,
        "spans_as_characters": {"agree_with_the_tags": 3, "of": 3},
    }
    assert summary["positions"] == {"begin": 2, "middle": 1, "end": 1}


def test_json_lines_that_lack_the_question_give_the_same_collection(tmp_path):
    lines = [{k: v for k, v in one.items() if v} for one in ROWS]
    packed = write_json_lines(tmp_path / "a/posq.jsonl.gz", lines)
    parquet(tmp_path / "b", ROWS)
    one, counts = build(tmp_path / "out_a", "fineweb", [packed])
    other, other_counts = build(tmp_path / "out_b", "fineweb", [tmp_path / "b"])
    assert one == other
    assert counts == other_counts


def test_spans_become_offsets_only_where_the_config_says_their_unit(tmp_path):
    rows = [row("q0?"), row("q1?", tags=("end",), span=(60, 200)), row("q2?", tags=("end",))]
    loaded = load_fineweb([parquet(tmp_path, rows)], 1, span_unit="characters")
    assert [(q.answer_start, q.answer_end) for q in loaded.queries] == [
        (0, 20),
        (None, None),
        (0, 20),
    ]
    assert loaded.queries[0].midpoint == 10 / 96
    assert loaded.counts["spans_as_characters"] == {"agree_with_the_tags": 1, "of": 3}


@given(st.lists(st.sampled_from(["before", "beginning", "middle", "end", "after"]), max_size=4))
def test_tags_of_the_data_and_of_the_paper_name_the_same_thirds(tmp_path_factory, tags):
    folder = tmp_path_factory.mktemp("tags")
    loaded = load_fineweb([write_json_lines(folder / "a.jsonl", [row("q?", tags=tags)])], 1)
    expected = {
        third
        for third, names in {
            "begin": ("before", "beginning"),
            "middle": ("middle",),
            "end": ("end", "after"),
        }.items()
        if set(names) & set(tags)
    }
    assert set(loaded.queries[0].positions) == expected
    assert list(loaded.queries[0].positions) == sorted(expected, key="begin middle end".find)
    assert loaded.counts["questions_without_tag"] == (not tags)


def test_the_public_sample_takes_each_third_in_turn_and_each_text_once(tmp_path):
    kinds = [("beginning",), ("middle",), ("end",), ("beginning", "middle")]
    rows = [row(f"q{i % 15}?", tags=kinds[i % 4], content=HARBOUR + str(i)) for i in range(60)]
    path = parquet(tmp_path, rows)
    sample = load_fineweb([path], 7, sample={"by": "public", "per_position": 8}).queries
    # As the public code does it, on pairs of question and tags.
    order = [(one["question"], one["span_class"]) for one in rows]
    random.seed(42)
    random.shuffle(order)
    taken = [
        question
        for tag in ("beginning", "middle", "end")
        for question in [q for q, tags in order if tag in tags][:8]
    ]
    assert len(set(taken)) < len(taken)
    assert [query.text for query in sample] == list(dict.fromkeys(taken))


def test_repeated_questions_are_kept_or_take_the_last_passage(tmp_path):
    path = parquet(tmp_path, [row("same?"), row("same?", content=QUARRY)])
    kept = load_fineweb([path], 1)
    last = load_fineweb([path], 1, duplicate_questions="last")
    ids = [query.doc_id for query in kept.queries]
    assert [list(kept.qrels[q.query_id]) for q in kept.queries] == [[ids[0]], [ids[1]]]
    assert [list(last.qrels[q.query_id]) for q in last.queries] == [[ids[1]], [ids[1]]]
    assert kept.counts["question_texts_that_end_at_another_document"] == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"span_class": ["front"]}, "row 2: the tag 'front' is not one of beginning, before"),
        ({"span_class": "end"}, "row 2: span_class is 'end'"),
        ({"content": " "}, "row 2: its content has no text"),
        ({"content": None}, "row 2: its content has no text"),
        ({"span": [3]}, r"row 2: span is \[3\]"),
        ({"span": ["a", "b"]}, "row 2: span is"),
        ({"span_class": [["beginning"]]}, r"row 2: the tag \['beginning'\] is not one of"),
        ({"span_class": [None]}, "row 2: the tag None is not one of"),
        ({"content": "ab", "span": [0, 1]}, "row 2: its content 'ab' is too short for a span"),
        ({"question": 5}, r"row 2: its question has no text \(5\)"),
        ({"question": []}, r"row 2: its question has no text \(\[\]\)"),
        ({"question": "  "}, "row 2: its question has no text"),
    ],
)
def test_faults_name_file_and_row(tmp_path, changed, message):
    path = write_json_lines(tmp_path / "posq.jsonl", [row("q0?"), row("q1?") | changed])
    with pytest.raises(DataError, match=rf"posq.jsonl, {message}"):
        load_fineweb([path], 1)


@pytest.mark.parametrize("span_unit", [None, "characters"])
def test_a_short_passage_is_a_fault_only_where_a_span_asks_for_its_thirds(tmp_path, span_unit):
    rows = [row("q0?"), row("q1?", content="ab") | {"span": None}]
    path = write_json_lines(tmp_path / "posq.jsonl", rows)
    assert len(load_fineweb([path], 1, span_unit=span_unit).queries) == 2
    path = write_json_lines(path, [row("q0?", content="abc", span=(0, 1))])
    assert load_fineweb([path], 1, span_unit=span_unit).counts["spans_as_characters"]["of"] == 1
    path = write_json_lines(path, [row("q0?", content="ab", span=(0, 1))])
    with pytest.raises(DataError, match=r"posq.jsonl, row 1: its content 'ab' is too short"):
        load_fineweb([path], 1, span_unit=span_unit)


def test_faults_of_files_are_named(tmp_path):
    path = write_parquet(tmp_path / "a.parquet", [{"content": HARBOUR, "query": "q?"}])
    with pytest.raises(
        DataError, match=r"question, span_class are missing; .* found content, quer"
    ):
        load_fineweb([path], 1)
    with pytest.raises(DataError, match=r"posq.jsonl, line 1: the field\(s\) content are missing"):
        load_fineweb([write_json_lines(tmp_path / "posq.jsonl", [{"question": "q?"}])], 1)
    with pytest.raises(DataError, match=r"a\.parquet.*posq\.jsonl: FineWeb-PosQ in two formats"):
        load_fineweb([tmp_path], 1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no Parquet file or JSON lines of FineWeb-PosQ"):
        load_fineweb([tmp_path / "empty"], 1)
    cut = write_json_lines(tmp_path / "cut.jsonl.gz", ROWS * 40)
    cut.write_bytes(cut.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"cut.jsonl.gz: not a whole gzip file"):
        load_fineweb([cut], 1)
