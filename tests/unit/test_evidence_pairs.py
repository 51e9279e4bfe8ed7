"""Where evidence pairs come from: test collections and tables, their faults, and the sample."""

import json

import pytest

import make_evidence_pairs
from posbias.errors import ConfigError, DataError
from posbias.files import write_jsonl
from posbias.representation.evidence_pairs import check_kind, read_pairs, sample_pairs
from search_toy import document, write_collection


def table(folder, rows, name="pairs.jsonl"):
    path = folder / name
    if path.suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        write_jsonl(path, rows)
    return path


def row(number, **changed):
    return {
        "query": f"what is {number}?",
        "document": f"Before {number}. The evidence\nof {number}. After.",
        "passage": f"The evidence of {number}.",
        **changed,
    }


def rebuilt(pair):
    return sorted(pair.rest.split() + pair.passage.split())


# A test collection.


def test_each_query_of_a_collection_with_known_evidence_is_a_pair(tmp_path):
    files = write_collection(tmp_path, range(4))
    sample = sample_pairs("benchmark", [files["corpus"], files["queries"]], {}, None, 1)
    assert (sample.found, sample.read) == (12, 12)
    assert sample.dropped == {"no_span": 0, "whole_document": 0}
    of_query = {pair.query_id: pair for pair in sample.pairs}
    for number in range(4):
        text, queries = document(number)
        for query in queries:
            pair = of_query[query["query_id"]]
            assert pair.passage.strip() == query["text"] == pair.query
            assert query["text"] not in pair.rest
            assert rebuilt(pair) == sorted(text["text"].split())
    assert sample_pairs("benchmark", [tmp_path], {}, None, 1) == sample


def test_queries_without_evidence_are_counted(tmp_path):
    files = write_collection(tmp_path, range(2))
    queries = [json.loads(line) for line in files["queries"].read_text().splitlines()]
    queries[0] |= {"answer_start": None, "answer_end": None}
    queries[1] |= {"doc_id": None}
    queries[2] |= {"answer_start": 0, "answer_end": len(document(0)[0]["text"])}
    write_jsonl(files["queries"], queries)
    sample = sample_pairs("benchmark", [tmp_path], {}, None, 1)
    assert sample.dropped == {"no_span": 2, "whole_document": 1}
    assert (sample.read, sample.found) == (6, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"doc_id": "gone"}, r"corpus\.jsonl: lacks 1 documents .* such as gone"),
        ({"answer_end": 999}, r"queries\.jsonl: query 'd0-begin': its evidence \[0, 999\)"),
    ],
)
def test_a_collection_that_is_damaged_is_named(tmp_path, change, message):
    files = write_collection(tmp_path, range(2))
    queries = [json.loads(line) for line in files["queries"].read_text().splitlines()]
    queries[0] |= change
    write_jsonl(files["queries"], queries)
    with pytest.raises(DataError, match=message):
        sample_pairs("benchmark", [tmp_path], {}, None, 1)
    with pytest.raises(DataError, match=r"expected one queries\.jsonl .* found 0"):
        sample_pairs("benchmark", [files["corpus"]], {}, None, 1)


# A table.


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.parquet"])
def test_a_table_in_either_format(tmp_path, name):
    rows = [
        row(1, query_id="a", doc_id="x"),
        row(1, query_id="a", doc_id="x"),
        row(2, query_id="b", doc_id="y", passage="Not there."),
        row(3, query_id="c", doc_id="z", document="The  evidence of 3.\n"),
        row(4, query_id="d", doc_id="z", document="X  The evidence of 4.\nY"),
    ]
    sample = sample_pairs("table", [table(tmp_path, rows, name)], {}, None, 1)
    assert sample.dropped == {"repeated": 1, "not_found": 1, "whole_document": 1}
    assert (sample.read, sample.found) == (5, 2)
    kept = {pair.query_id: pair for pair in sample.pairs}
    assert (kept["a"].rest, kept["a"].passage) == ("Before 1. After.", "The evidence of 1. ")
    # Found as it stands, so that its blanks stay.
    assert (kept["d"].rest, kept["d"].passage) == ("X  Y", "The evidence of 4.\n")


def test_ids_of_a_table_without_any_depend_on_the_texts_alone(tmp_path):
    pairs = sample_pairs("table", [table(tmp_path, [row(1), row(2)])], {}, None, 1).pairs
    again = sample_pairs("table", [table(tmp_path, [row(2), row(1)])], {}, None, 1).pairs
    assert pairs == again and len({pair.query_id for pair in pairs}) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"passage": None}, r"pairs\.jsonl: row 2: passage has no text \(None\)"),
        ({"query": " "}, r"pairs\.jsonl: row 2: query has no text"),
        ({"document": "half \ud83d"}, r"row 2: document holds U\+D83D, a lone surrogate"),
    ],
)
def test_a_damaged_row_is_named(tmp_path, change, message):
    lines = [json.dumps(row(1)), json.dumps(row(2) | change)]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=message):
        sample_pairs("table", [tmp_path], {}, None, 1)


def test_a_table_without_a_column_and_a_table_without_a_pair(tmp_path):
    path = table(tmp_path, [{"query": "q", "document": "d"}])
    with pytest.raises(DataError, match=r"line 1: the field\(s\) passage are missing"):
        sample_pairs("table", [path], {}, None, 1)
    path = table(tmp_path, [row(1, passage="Elsewhere.")])
    with pytest.raises(DataError, match=r"of 1 read, 0 repeated, 1 not_found, 0 whole_document"):
        sample_pairs("table", [path], {}, None, 1)


def test_pairs_read_again_must_say_where_the_evidence_stood(tmp_path):
    made = sample_pairs("table", [table(tmp_path, [row(1), row(2)])], {}, None, 1).pairs
    path = tmp_path / "made.jsonl"
    write_jsonl(path, [pair.record() for pair in made])
    assert read_pairs(path) == made
    for home in (-1, len(made[1].rest) + 1, None, True, 2.0):
        write_jsonl(path, [made[0].record(), made[1].record() | {"home": home}])
        with pytest.raises(DataError, match=rf"made\.jsonl: query .* home {home} is no place of"):
            read_pairs(path)
    lacking = {name: value for name, value in made[0].record().items() if name != "home"}
    write_jsonl(path, [lacking])
    with pytest.raises(DataError, match=r"made\.jsonl.* home "):
        read_pairs(path)


# The sample.


def test_a_sample_keeps_its_members_when_others_come(tmp_path):
    few = table(tmp_path, [row(number) for number in range(30)], "few.jsonl")
    many = table(tmp_path, [row(number) for number in range(60)], "many.jsonl")

    def kept(path, limit, seed=1):
        return [pair.query for pair in sample_pairs("table", [path], {}, limit, seed).pairs]

    every = kept(few, None)
    assert len(every) == 30 and kept(few, 10) == every[:10]
    assert kept(few, 10, seed=2) != every[:10]
    old = set(every)
    grown = [query for query in kept(many, 10) if query in old]
    assert grown == every[: len(grown)] and 0 < len(grown) < 10


def test_wrong_kinds_and_options_are_named_by_their_place():
    place = "config, analyses.evidence_moving.known.mine"
    with pytest.raises(ConfigError, match=f"{place}: kind 'web' is not one of benchmark, msmarco"):
        check_kind(place, "web", {})
    with pytest.raises(ConfigError, match=rf"{place}\.options: .*'split'.*; its options: none"):
        check_kind(place, "table", {"split": "dev"})
    with pytest.raises(ConfigError, match=rf"{place}\.options: passages must be a text, is 3"):
        check_kind(place, "msmarco", {"passages": 3})
    check_kind(place, "msmarco", {"title_separator": None, "documents": "docs.tsv"})
    for limit in (0, True, 1.5):
        with pytest.raises(ConfigError, match="limit must be null or at least 1"):
            sample_pairs("table", [], {}, limit, 1)


def test_the_script_writes_pairs_and_what_was_dropped(tmp_path):
    rows = [row(number) for number in range(9)] + [row(9, passage="Elsewhere.")]
    pairs, summary = tmp_path / "out" / "pairs.jsonl", tmp_path / "out" / "pairs.json"
    make_evidence_pairs.main(
        files=[table(tmp_path, rows)], pairs=pairs, summary=summary, kind="table", options={},
        limit=4, seed=7,
    )  # fmt: skip
    told = json.loads(summary.read_text())
    assert (told["read"], told["found"], told["pairs"], told["left_out_by_limit"]) == (10, 9, 4, 5)
    assert told["dropped"]["not_found"] == 1
    found = read_pairs(pairs)
    assert found == sample_pairs("table", [tmp_path / "pairs.jsonl"], {}, 4, 7).pairs
    assert told["mean_characters"]["rest"] == sum(len(pair.rest) for pair in found) / 4
