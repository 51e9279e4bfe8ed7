"""Corpora that share documents: every document once, and every row of every corpus found again."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import join_corpora
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, read_jsonl, write_jsonl


def write(folder: Path, *corpora: list[tuple[str, str]]) -> list[Path]:
    paths = []
    for number, corpus in enumerate(corpora):
        paths.append(folder / f"corpus{number}.jsonl")
        write_jsonl(paths[-1], ({"doc_id": doc_id, "text": text} for doc_id, text in corpus))
    return paths


def join(folder: Path, *corpora, **options) -> list[dict]:
    join_corpora.main(
        corpora=write(folder, *corpora),
        joined=folder / "joined.jsonl",
        summary=folder / "summary.json",
        **options,
    )
    return read_jsonl(folder / "joined.jsonl")


def test_a_shared_document_stands_once_with_its_rows(tmp_path):
    joined = join(
        tmp_path,
        [("a", "ships"), ("b", "stones")],
        [("c", "sails"), ("b", "stones"), ("a", "ships")],
    )
    assert joined == [
        {"doc_id": "a", "text": "ships", "members": [0, 1], "rows": [0, 2]},
        {"doc_id": "b", "text": "stones", "members": [0, 1], "rows": [1, 1]},
        {"doc_id": "c", "text": "sails", "members": [1], "rows": [0]},
    ]
    assert read_json(tmp_path / "summary.json") == {
        "corpora": {str(tmp_path / f"corpus{i}.jsonl"): size for i, size in enumerate((2, 3))},
        "documents": 3,
        "shared": 2,
        "conflicts": 0,
    }


corpora_of_ids = st.lists(
    st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10).map(
        lambda ids: [(one, one * 3) for one in ids]
    ),
    min_size=1,
    max_size=4,
).filter(any)


@given(corpora_of_ids, st.sampled_from(["error", "apart"]))
def test_every_row_of_every_corpus_is_in_one_document(tmp_path_factory, corpora, conflicts):
    joined = join(tmp_path_factory.mktemp("joined"), *corpora, conflicts=conflicts)
    assert len({one["doc_id"] for one in joined}) == len(joined)
    found = {
        (member, row): (one["doc_id"], one["text"])
        for one in joined
        for member, row in zip(one["members"], one["rows"], strict=True)
    }
    assert found == {
        (member, row): pair
        for member, corpus in enumerate(corpora)
        for row, pair in enumerate(corpus)
    }
    assert sum(len(one["rows"]) for one in joined) == len(found)
    assert all(one["members"] == sorted(one["members"]) for one in joined)
    order = list(dict.fromkeys(doc_id for corpus in corpora for doc_id, _ in corpus))
    assert [one["doc_id"] for one in joined] == order


ONE, OTHER = [("a", "ships"), ("b", "stones")], [("b", "other stones"), ("a", "ships")]


def test_an_id_with_two_texts_is_an_error_or_two_documents(tmp_path):
    with pytest.raises(
        DataError, match=r"corpus0.jsonl and .*corpus1.jsonl: document 'b' has two texts"
    ):
        join(tmp_path, ONE, OTHER)
    assert not (tmp_path / "joined.jsonl").exists()
    joined = join(tmp_path, ONE, OTHER, ONE, conflicts="apart")
    assert [(one["doc_id"], one["members"], one["rows"]) for one in joined] == [
        ("a", [0, 1, 2], [0, 1, 0]),
        ("b", [0, 2], [1, 1]),
        ("b", [1], [0]),
    ]
    assert read_json(tmp_path / "summary.json")["conflicts"] == 1


@pytest.mark.parametrize("conflicts", ["error", "apart"])
def test_an_id_twice_in_one_corpus_is_named(tmp_path, conflicts):
    with pytest.raises(DataError, match=r"corpus1.jsonl: document 'b' occurs twice"):
        join(tmp_path, ONE, [*OTHER, ("b", "yet other stones")], conflicts=conflicts)


def test_other_faults_are_named(tmp_path):
    with pytest.raises(ConfigError, match="conflicts 'first' is not one of error, apart"):
        join(tmp_path, ONE, conflicts="first")
    paths = write(tmp_path, ONE, OTHER)
    paths[1].write_text(json.dumps({"doc_id": "a"}) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"corpus1.jsonl, line 1: the field\(s\) text are missing"):
        join_corpora.main(corpora=paths, joined=tmp_path / "joined.jsonl")
