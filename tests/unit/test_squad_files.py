"""SQuAD's files: all that are named are read, a mixture is refused, and null answers are none."""

import json

import pytest

from benchmark_files import build, write_parquet
from posbias.benchmarks.squad import load_squad
from posbias.errors import DataError

SHIP, STONE = "The ship has three masts.", "The stone lies in the field."


def asked(query_id: str, answer: str, context: str) -> dict:
    answers = [{"text": answer, "answer_start": context.index(answer)}]
    return {"id": query_id, "question": f"where is {answer}?", "answers": answers}


def write(path, query_id, answer, context, before=b""):
    paragraphs = [{"context": context, "qas": [asked(query_id, answer, context)]}]
    value = {"data": [{"title": "t", "paragraphs": paragraphs}]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before + json.dumps(value).encode())
    return path


def row(query_id: str, answer: str, context: str, **changed) -> dict:
    start = context.index(answer)
    return {
        "id": query_id,
        "context": context,
        "question": f"where is {answer}?",
        "answers": {"text": [answer], "answer_start": [start]},
    } | changed


def ids(files) -> list[str]:
    return [query.query_id for query in load_squad(files, 1).queries]


def test_a_folder_and_a_file_are_both_read_in_their_order(tmp_path):
    folder = write(tmp_path / "folder/a.json", "q1", "ship", SHIP).parent
    file = write(tmp_path / "b.json", "q2", "stone", STONE)
    assert ids([folder, file]) == ["q1", "q2"]
    assert ids([file, folder]) == ["q2", "q1"]
    benchmark, _ = build(tmp_path / "out", "squad", [folder, file])
    assert {one.text for one in benchmark.documents} == {SHIP, STONE}


def test_a_folder_and_a_file_of_parquet_are_both_read(tmp_path):
    folder = write_parquet(tmp_path / "folder/a.parquet", [row("q1", "ship", SHIP)]).parent
    file = write_parquet(tmp_path / "b.parquet", [row("q2", "stone", STONE)])
    assert ids([folder, file]) == ["q1", "q2"]


def test_two_formats_side_by_side_are_refused(tmp_path):
    folder = tmp_path / "in"
    json_file = write(folder / "b.json", "q2", "stone", STONE)
    parquet = write_parquet(folder / "a.parquet", [row("q1", "ship", SHIP)])
    apart = write_parquet(tmp_path / "apart/a.parquet", [row("q1", "ship", SHIP)]).parent
    for files in ([folder], [json_file, parquet], [apart, json_file], [json_file, apart]):
        with pytest.raises(DataError, match=r"in two formats; name those files that are to be"):
            load_squad(files, 1)
    (folder / "manifest.json").write_text("{}")  # of a download, no data
    json_file.unlink()
    assert ids([folder]) == ["q1"]


def test_a_byte_order_mark_does_not_matter(tmp_path):
    marked = write(tmp_path / "a.json", "q1", "ship", SHIP, before=b"\xef\xbb\xbf")
    plain = write(tmp_path / "b.json", "q1", "ship", SHIP)
    assert load_squad([marked], 1) == load_squad([plain], 1)


def test_a_users_broken_file_is_to_be_mended_first(tmp_path):
    (tmp_path / "mine.json").write_text('{"data": [')
    with pytest.raises(DataError, match=r"mine\.json: not valid JSON .*\); mend it, or, if a run"):
        load_squad([tmp_path], 1)


NOTHING = {"text": None, "answer_start": None}
EMPTY = {"text": [], "answer_start": []}


@pytest.mark.parametrize("answers", [NOTHING, EMPTY, {**NOTHING, "text": []}], ids=str)
def test_lists_of_answers_that_are_null_are_empty(tmp_path, answers):
    rows = [row("q1", "ship", SHIP, answers=answers), row("q2", "stone", STONE)]
    loaded = load_squad([write_parquet(tmp_path / "a.parquet", rows)], 1)
    assert [query.query_id for query in loaded.queries] == ["q2"]
    assert (loaded.counts["questions"], loaded.counts["unanswerable"]) == (2, 1)
    assert {one.text for one in loaded.documents} == {SHIP, STONE}


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"text": "ship", "answer_start": 4}, "row 1: answers is .*expected lists of text"),
        ({"text": "ship", "answer_start": [4]}, "row 1: answers is .*expected lists of text"),
        ({"text": ["ship"]}, "row 1: answers is .*expected lists of text"),
        (None, "row 1: answers is None; expected lists"),
        ("ship", "row 1: answers is 'ship'; expected lists"),
        (["ship"], "row 1: answers is .*expected lists"),
        ({"text": ["ship"], "answer_start": None}, "question 'q1': 1 answers at 0 starts"),
    ],
)
def test_answers_of_another_form_are_named(tmp_path, answers, message):
    path = write_parquet(tmp_path / "a.parquet", [row("q1", "ship", SHIP, answers=answers)])
    with pytest.raises(DataError, match=rf"a\.parquet(, |: ){message}"):
        load_squad([path], 1)


def test_a_column_that_stands_twice_is_named(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.Table.from_pylist([row("q1", "ship", SHIP)])
    doubled = table.append_column("context", pa.array([STONE]))
    pa.parquet.write_table(doubled, tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet: the column\(s\) context stand twice"):
        load_squad([tmp_path], 1)
    # One that nothing reads may.
    extra = table.append_column("x", pa.array([1])).append_column("x", pa.array([2]))
    pa.parquet.write_table(extra, tmp_path / "a.parquet")
    assert ids([tmp_path]) == ["q1"]


def test_text_of_a_parquet_that_is_not_utf8_is_named_by_row(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    rows = [row(f"q{n}", "ship", SHIP) for n in range(1500)]
    questions = pa.array([b"caf\xe9" if n == 1300 else b"what?" for n in range(1500)], pa.binary())
    table = pa.Table.from_pylist(rows).set_column(2, "question", questions.view(pa.string()))
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet, row 1301: cannot be read .*utf-8"):
        load_squad([tmp_path], 1)
