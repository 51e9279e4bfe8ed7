"""Lead sections as a standard benchmark: its documents, its queries, and what is left out."""

import json
from collections import Counter

import pytest

from benchmark_files import build, text_of, write_json_lines
from posbias.benchmarks.loaders import load
from posbias.corpus.leads import read_leads
from posbias.errors import ConfigError, DataError

OPTIONS = {"min_chars": 10, "max_chars": 60, "documents": 100, "queries": 100}


def lead(title: str, extract: str = "", description: str = "a thing") -> dict:
    return {
        "title": title,
        "extract": extract or f"{title} is told of in a few words.",
        "description": description,
    }


def sections() -> dict[str, dict]:
    return {
        "a": lead("Old  Town", description="  a town\nin the north "),
        "b": lead("No Words", description=" "),
        "c": lead("Known"),
        "d": lead("Short", "Short."),
        "e": lead("Long", "Long " * 40),
        "f": lead("100% true"),
        **{str(i): lead(f"Thing {i:02d}") for i in range(20)},
    }


@pytest.fixture
def files(tmp_path):
    return written(tmp_path, sections())


def written(folder, content):
    leads = folder / "leads.json"
    leads.write_text(json.dumps(content), encoding="utf-8")
    trained = [{"doc_id": "x-1", "title": "Known", "text": "x"}]
    return [leads, write_json_lines(folder / "documents.jsonl", trained * 2)]


def test_title_and_description_ask_for_the_section(tmp_path, files):
    found, summary = build(tmp_path / "out", "leads", files, **OPTIONS)
    asked = {query.query_id: query for query in found.queries}
    one = asked["lead-Old_Town-described"]
    assert one.text == "Old Town: a town in the north"
    assert text_of(found, one.doc_id) == "Old Town is told of in a few words."
    assert found.qrels[one.query_id] == {one.doc_id: 1}
    assert {(q.positions, q.answer_start, q.midpoint) for q in found.queries} == {((), None, None)}
    assert text_of(found, "lead-No_Words")
    assert {query.doc_id for query in found.queries} == {
        document.doc_id for document in found.documents
    } - {"lead-No_Words"}
    assert summary["counts"] == {
        "documents_dropped": {
            "above the limit": 0,
            "article of another corpus": 1,
            "length outside 10-60 characters": 2,
        },
        "documents_without_description": 1,
        "left_out_of_the_sample": 0,
    }
    assert (summary["documents"], summary["queries"], summary["positions"]) == (23, 22, {})


def test_a_title_with_a_percent_sign_gets_an_id_that_trec_can_hold(tmp_path, files):
    found, _ = build(tmp_path / "out", "leads", files, **OPTIONS)
    assert "lead-100%25_true" in {document.doc_id for document in found.documents}


def test_both_limits_take_samples_that_grow(tmp_path, files):
    few, summary = build(tmp_path / "a", "leads", files, **OPTIONS | {"documents": 9, "queries": 4})
    more, _ = build(tmp_path / "b", "leads", files, **OPTIONS | {"documents": 10, "queries": 4})
    all_queries, _ = build(tmp_path / "c", "leads", files, **OPTIONS | {"documents": 9})
    assert len(few.documents) == 9
    assert {one.doc_id for one in few.documents} < {one.doc_id for one in more.documents}
    assert few.queries == all_queries.queries[:4]
    # One document more pushes one query out at most, wherever it stands among the others.
    assert len({one.query_id for one in few.queries} - {one.query_id for one in more.queries}) <= 1
    dropped = summary["counts"]["documents_dropped"]
    assert dropped["above the limit"] == 14
    without = summary["counts"]["documents_without_description"]
    assert summary["counts"]["left_out_of_the_sample"] == 9 - without - 4
    other, _ = build(tmp_path / "d", "leads", files, seed=2, **OPTIONS | {"documents": 9})
    assert {one.doc_id for one in other.documents} != {one.doc_id for one in few.documents}


def test_every_section_is_a_document_or_counted(tmp_path, files):
    found, summary = build(tmp_path / "out", "leads", files, **OPTIONS | {"documents": 7})
    dropped = sum(summary["counts"]["documents_dropped"].values())
    assert len(found.documents) + dropped == len(sections())


def test_its_documents_are_those_of_the_listwise_study(tmp_path, files):
    found, _ = build(tmp_path / "out", "leads", files, **OPTIONS | {"documents": 9})
    passages = read_leads(files[0], 10, 60, 9, 1, Counter(), {"Known"})
    assert [(one.doc_id, one.text) for one in found.documents] == [
        (passage.doc_id.replace("%", "%25"), passage.text) for passage in passages
    ]
    assert all(set(passage.record()) == {"doc_id", "title", "text"} for passage in passages)


def test_files_that_cannot_be_are_named(tmp_path, files):
    with pytest.raises(DataError, match=r"lead sections is made of these .* found 1 files"):
        load("leads", files[:1], OPTIONS, 1)
    with pytest.raises(DataError, match=r"documents.jsonl, line 1: .*title"):
        nameless = write_json_lines(tmp_path / "documents.jsonl", [{"doc_id": "x"}])
        load("leads", [files[0], nameless], OPTIONS, 1)
    with pytest.raises(ConfigError, match="no lead section of 61 to 60 characters"):
        load("leads", written(tmp_path, sections()), OPTIONS | {"min_chars": 61}, 1)


def test_sections_without_any_description_are_named(tmp_path):
    files = written(tmp_path, {"a": lead("One", description="")})
    with pytest.raises(DataError, match="none of 1 lead sections has a description"):
        load("leads", files, OPTIONS, 1)
