"""Half a sign, which JSON can write and no file can hold: the record is named, nothing written."""

import json

import pytest

from benchmark_files import build
from posbias.benchmarks.records import check_ids, check_text
from posbias.errors import DataError
from posbias.keyed import keyed_digest

HALF = "\ud83d"
CONTEXT = "The ship has three masts."


def lines(*records: dict) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def squad(context=CONTEXT, question="what?", query_id="q1") -> dict[str, str]:
    answers = [{"text": "ship", "answer_start": 4}]
    qas = [{"id": query_id, "question": question, "answers": answers}]
    paragraphs = [{"context": context, "qas": qas}]
    return {"a.json": json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}]})}


def fineweb(content=CONTEXT, question="what?") -> dict[str, str]:
    tags = {"span_class": ["end"]}
    return {
        "a.jsonl": lines(
            {"content": "x" * 9, "question": "how?", **tags},
            {"content": content, "question": question, **tags},
        )
    }


def beir(text="sails", title="Ships", doc_id="d2", query="what?", query_id="q2") -> dict[str, str]:
    return {
        "corpus.jsonl": lines(
            {"_id": "d1", "text": "stones"}, {"_id": doc_id, "title": title, "text": text}
        ),
        "queries.jsonl": lines({"_id": "q1", "text": "how?"}, {"_id": query_id, "text": query}),
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td1\t1\n",
    }


def heldout(query="ship", query_id="q", text=CONTEXT) -> dict[str, str]:
    asked = {"doc_id": "d", "query": query, "answer_start": 4, "answer_end": 8}
    return {
        "a-documents.jsonl": lines({"doc_id": "d", "text": text, "split": "heldout"}),
        "b-candidates.jsonl": lines(
            *(
                {**asked, "query_id": f"{query_id}{position}", "position": position}
                for position in ("begin", "middle", "end")
            )
        ),
    }


def build_of(folder, files: dict[str, str], kind: str):
    for name, content in files.items():
        path = folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="ascii")
    if kind == "heldout":
        paths = sorted((folder / "in").iterdir())
        return build(folder / "out", kind, paths, queries_per_position=3)
    return build(folder / "out", kind, [folder / "in"])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (squad(context=CONTEXT + HALF), r"a\.json: the passage of question 'q1' holds U\+D83D"),
        (squad(question=HALF), r"a\.json: query 'q1' holds U\+D83D"),
        (squad(query_id=f"q{HALF}"), r"the id of query 1 holds U\+D83D"),
        (fineweb(content=CONTEXT + HALF), r"a\.jsonl, row 2: its content holds U\+D83D"),
        (fineweb(question=f"é{HALF}?"), r"a\.jsonl, row 2: its question holds U\+D83D"),
        (beir(text=f"sails {HALF}"), r"corpus\.jsonl, row 2: the document holds U\+D83D"),
        (beir(title=HALF), r"corpus\.jsonl, row 2: the document holds U\+D83D"),
        (beir(doc_id=f"d{HALF}"), r"corpus\.jsonl, row 2: _id holds U\+D83D"),
        (beir(query=HALF), r"queries\.jsonl: query 'q2' holds U\+D83D"),
        (beir(query_id=f"q{HALF}"), r"queries\.jsonl, row 2: _id holds U\+D83D"),
        (heldout(query=HALF), r"b-candidates\.jsonl: query 'q.*' holds U\+D83D"),
        (heldout(query_id=HALF), r"b-candidates\.jsonl: the id of query 1 holds U\+D83D"),
        (heldout(text=CONTEXT + HALF), r"a-documents\.jsonl: document 'd' holds U\+D83D"),
    ],
)
def test_the_record_is_named_and_nothing_is_written(tmp_path, files, message):
    kinds = {"a.json": "squad", "a.jsonl": "fineweb", "corpus.jsonl": "beir"}
    kind = next((kinds[name] for name in files if name in kinds), "heldout")
    with pytest.raises(DataError, match=f"{message}, a lone surrogate.*mend or remove the record"):
        build_of(tmp_path, files, kind)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("squad", squad(CONTEXT + "🙂", "🙂?", "🙂")),
        ("fineweb", fineweb(CONTEXT + "🙂", "🙂?")),
        ("beir", beir("🙂", "é", "d🙂", "🙂?")),
        ("heldout", heldout("🙂", "🙂", CONTEXT + "🙂")),
    ],
)
def test_a_pair_of_surrogates_is_a_sign(tmp_path, kind, files):
    """JSON in ASCII writes a sign beyond U+FFFF as two halves, which belong together."""
    assert any("\\ud83d\\ude42" in content for content in files.values())
    benchmark, _ = build_of(tmp_path, files, kind)
    assert any("🙂" in one.text for one in benchmark.documents)
    assert any("🙂" in query.text for query in benchmark.queries)


def test_what_nothing_writes_may_hold_it(tmp_path):
    """Titles that are left out, and queries without a judgement."""
    files = beir(title=HALF)
    files["queries.jsonl"] += lines({"_id": "q3", "text": HALF})
    for name, content in files.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    benchmark, _ = build(tmp_path / "out", "beir", [tmp_path / "in"], title_separator=None)
    assert [one.text for one in benchmark.documents] == ["stones", "sails"]


def test_checks_of_ids_and_texts_name_source_and_record(tmp_path):
    with pytest.raises(DataError, match=r"^x: the id of query 2 holds U\+DC00, a lone surrogate"):
        check_ids(["q", "q\udc00"], "query", "x")
    with pytest.raises(DataError, match=r"^x: query 'q' holds U\+DFFF, a lone surrogate"):
        check_text("a \udfff", "query 'q'", "x")


def test_keyed_hashes_take_any_text_and_keep_it_apart():
    names = ["a", "é", "🙂", HALF, "\ude42", f"{HALF}\ude42"]
    assert len({keyed_digest(1, name) for name in names}) == len(names)
