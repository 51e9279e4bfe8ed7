"""Tables of articles: Parquet and JSON lines are read alike, and faults name file and row."""

import gzip
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.corpus import tables
from posbias.corpus.article_sources import make_article_source
from posbias.corpus.tables import read_table, text_batch
from posbias.errors import DataError
from posbias.files import write_jsonl

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

COLUMNS = {"id": "id", "title": "title", "text": "text"}
ALL = ("id", "title", "text")
UTF8 = st.text(st.characters(exclude_categories=["Cs"]))
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"id": UTF8.filter(bool), "title": st.none() | UTF8, "text": st.none() | UTF8}
    ),
    max_size=12,
)


def write_parquet(path: Path, records: list[dict], kind=None, **options) -> Path:
    """Write records as Parquet with text columns of the kind, plain strings by default."""
    schema = pa.schema([(name, kind or pa.string()) for name in ALL])
    columns = {name: pa.array([r[name] for r in records], pa.string()) for name in ALL}
    pq.write_table(pa.table(columns).cast(schema), path, **options)
    return path


def records_in(path: Path, fields=ALL, columns=COLUMNS) -> list[dict]:
    """All rows of a table as records; the numbers of its batches must join without a gap."""
    found = []
    for rows in read_table(path, columns, fields):
        assert rows.path == path
        assert rows.first == len(found) + 1
        assert rows.batch.schema.names == list(fields)
        assert set(rows.batch.schema.types) == {pa.large_string()}
        found += rows.batch.to_pylist()
    return found


def article(number: int) -> dict:
    return {"id": f"{number}", "title": f"Title {number}", "text": f"Text {number}"}


@given(RECORDS, st.integers(1, 5), st.integers(1, 5))
def test_every_kind_of_file_holds_the_same_rows(tmp_path_factory, records, group, batch):
    folder = tmp_path_factory.mktemp("tables")
    parquet = write_parquet(folder / "a.parquet", records, row_group_size=group)
    lines, packed = folder / "a.jsonl", folder / "a.jsonl.gz"
    write_jsonl(lines, records)
    packed.write_bytes(gzip.compress(lines.read_bytes()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BATCH_ROWS", batch)
        for path in (parquet, lines, packed):
            assert records_in(path) == records
            assert records_in(path, ("text",)) == [{"text": r["text"]} for r in records]


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_text_columns_of_any_layout_are_read(tmp_path, kind):
    records = [article(n) for n in (1, 2, 2, 1)] + [{"id": "x", "title": None, "text": None}]
    assert records_in(write_parquet(tmp_path / "a.parquet", records, kind)) == records


def test_a_column_without_any_value_is_read(tmp_path):
    pq.write_table(
        pa.table({"id": ["1"], "title": pa.nulls(1), "text": ["a"]}), tmp_path / "a.parquet"
    )
    assert records_in(tmp_path / "a.parquet") == [{"id": "1", "title": None, "text": "a"}]


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_ids_that_are_numbers_become_their_digits(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    ids = [0, -7, 2**62]
    if suffix == "parquet":
        pq.write_table(pa.table({"id": ids}), path)
    else:
        write_jsonl(path, [{"id": number} for number in ids])
    assert records_in(path, ("id",)) == [{"id": str(number)} for number in ids]


def test_columns_may_be_called_anything_and_serve_twice(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"_id": ["a b"], "body": ["text"], "junk": [None]}), path)
    columns = {"id": "_id", "title": "_id", "text": "body"}
    assert records_in(path, columns=columns) == [{"id": "a b", "title": "a b", "text": "text"}]


def test_only_the_columns_that_are_asked_for_are_looked_at(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["1"], "text": ["a"], "title": [3.5]}), path)
    assert records_in(path, ("id", "text")) == [{"id": "1", "text": "a"}]
    with pytest.raises(DataError, match="title of the articles, holds double"):
        records_in(path)


def test_a_row_group_of_any_size_is_read_in_small_batches(tmp_path):
    """A shard may be one row group; its text must not come into memory at once."""
    text = "".join(chr(97 + byte % 26) for byte in os.urandom(4000))
    records = [{"id": f"{n}", "title": "t", "text": text[n % 99 :]} for n in range(8000)]
    path = write_parquet(
        tmp_path / "a.parquet",
        records,
        row_group_size=8000,
        compression="none",
        use_dictionary=False,
    )
    del records
    before, most, rows = pa.total_allocated_bytes(), 0, 0
    for found in read_table(path, COLUMNS, ("id", "text")):
        rows += found.batch.num_rows
        most = max(most, pa.total_allocated_bytes() - before)
    assert rows == 8000
    assert path.stat().st_size > 30e6
    assert most < 20e6


def faults_of(path: Path, columns=COLUMNS) -> str:
    with pytest.raises(DataError) as caught:
        records_in(path, columns=columns)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_missing_column_is_named_with_those_there_are(tmp_path):
    record = {"_id": "1", "title": "t", "body": "x"}
    pq.write_table(pa.Table.from_pylist([record]), tmp_path / "a.parquet")
    fault = faults_of(tmp_path / "a.parquet")
    assert "the column(s) id, text are missing; found _id, title, body" in fault
    write_jsonl(tmp_path / "a.jsonl", [article(1), record])
    fault = faults_of(tmp_path / "a.jsonl")
    assert "line 2: the field(s) id, text are missing; found _id, title, body" in fault


def test_a_column_that_stands_twice_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    names = ["id", "title", "text", "id", "junk", "junk"]
    pq.write_table(pa.table([pa.array(["a"])] * 6, names=names), path)
    assert "the column(s) id stand twice" in faults_of(path)
    assert records_in(path, ("title", "text")) == [{"title": "a", "text": "a"}]


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: b"version https://git-lfs.example/spec/v1\noid sha256:0\nsize 9\n",
        lambda whole: whole[:-100],
        lambda whole: whole[:4] + bytes(2000) + whole[2004:],
    ],
    ids=["empty", "pointer", "cut short", "overwritten"],
)
def test_what_is_no_parquet_is_named_with_a_remedy(tmp_path, damage):
    path = write_parquet(tmp_path / "a.parquet", [article(n) for n in range(500)])
    path.write_bytes(damage(path.read_bytes()))
    assert "cannot be read as Parquet" in faults_of(path)
    assert "fetch or write the file again" in faults_of(path)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("column", [[1.5], [["a"]], [{"a": "b"}], [b"a"], [True]], ids=repr)
def test_a_column_that_is_no_text_is_named(tmp_path, name, column):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({n: column if n == name else ["a"] for n in ALL}), path)
    assert f"the column {name}, {name} of the articles, holds" in faults_of(path)
    if column != [b"a"]:
        write_jsonl(tmp_path / "a.jsonl", [article(1), {**article(2), name: column[0]}])
        assert f"line 2: {name} must be text, is a value of type" in faults_of(tmp_path / "a.jsonl")


def test_numbers_are_no_text(tmp_path):
    write_jsonl(tmp_path / "a.jsonl", [{**article(1), "text": 3}])
    assert "line 1: text must be text, is a value of type int" in faults_of(tmp_path / "a.jsonl")
    pq.write_table(pa.table({"id": [1], "title": ["a"], "text": [3]}), tmp_path / "a.parquet")
    assert "the column text, text of the articles, holds int64" in faults_of(tmp_path / "a.parquet")


def test_text_that_is_no_unicode_is_named_by_row(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BATCH_ROWS", 4)
    raw = [b"good"] * 5 + [b"\xff\xfe"] + [b"good"]
    text = pa.array(raw, pa.binary()).view(pa.string())
    ids = [str(n) for n in range(7)]
    pq.write_table(pa.table({"id": ids, "title": ids, "text": text}), tmp_path / "a.parquet")
    assert "a.parquet, row 6: text is not UTF-8" in faults_of(tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text(
        '{"id": "1", "title": "t", "text": "x"}\n{"id": "2", "title": "t", "text": "\\ud800"}\n'
    )
    assert "a.jsonl, line 2: text is no text" in faults_of(tmp_path / "a.jsonl")


@pytest.mark.parametrize("empty", ["", None])
@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_an_empty_id_is_named_by_row(tmp_path, monkeypatch, suffix, empty):
    monkeypatch.setattr(tables, "BATCH_ROWS", 2)
    records = [article(n) for n in range(5)] + [{**article(5), "id": empty}]
    path = tmp_path / f"a.{suffix}"
    write_jsonl(path, records) if suffix == "jsonl" else write_parquet(path, records)
    assert "row 6: id is empty; give each article an id" in faults_of(path)


def test_a_batch_may_exceed_what_offsets_of_32_bits_hold():
    assert set(text_batch({"id": ["a"], "text": [None]}).schema.types) == {pa.large_string()}


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_files_without_a_row_are_named(tmp_path, suffix):
    def write(name, records):
        path = tmp_path / f"{name}.{suffix}"
        write_jsonl(path, records) if suffix == "jsonl" else write_parquet(path, records)
        return path

    empty = [write("a", []), write("b", [])]
    entry = {"kind": "table", "files": [f"*.{suffix}"], "columns": COLUMNS}
    for read in (lambda s: s.rows(ALL, Counter()), lambda s: s.articles(Counter())):
        with pytest.raises(DataError) as caught:
            list(read(make_article_source(entry, None, [tmp_path], 1)))
        assert str(caught.value).startswith(f"{empty[0]}, {empty[1]}: no row was read; give")
    # One empty file among others, as a shard may be, is no fault.
    write("b", [article(1)])
    (rows,) = make_article_source(entry, None, [tmp_path], 1).rows(ALL, Counter())
    assert rows.batch.to_pylist() == [article(1)]
