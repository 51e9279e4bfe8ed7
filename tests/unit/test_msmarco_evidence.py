"""MS MARCO's files: the official ones, public copies of them, their faults, and their size."""

import gzip
import json
import tracemalloc

import pytest

from posbias.errors import DataError
from posbias.representation.evidence_pairs import sample_pairs

QUERIES = {
    "1": "found as it stands",
    "2": "found but for blanks",
    "3": "not in its document",
    "4": "its document is the passage",
    "5": "no passage judged",
    "6": "no document judged",
    "7": "the passage is missing",
    "8": "the document is missing",
    "9": "the second passage",
}
DOCUMENTS = {
    "D1": ("Title 1", "Before. Evidence one. After."),
    "D2": ("Title 2", "Before.  Evidence   two.  After."),
    "D3": ("Title 3", "Nothing to see."),
    "D4": ("", " Evidence four. "),
    "D5": ("Title 5", "Evidence five. After."),
    "D9": ("Title 9", "Before. Evidence nine."),
    "D0": ("Title 0", "Never asked for."),
}
PASSAGES = {
    "101": "Evidence one.",
    "102": "Evidence two.",
    "103": "Evidence three.",
    "104": "Evidence four.",
    "109": "Evidence nine.",
    "110": "A passage with a tab\there.",
}
OF_DOCUMENTS = [*((str(n), f"D{n}", 1) for n in (1, 2, 3, 4, 5, 7, 9)), ("8", "D8", 1)]
OF_PASSAGES = [
    *((str(n), f"10{n}", 1) for n in (1, 2, 3, 4, 6)),
    ("5", "105", 0),
    ("7", "107", 1),
    ("8", "101", 1),
    ("9", "110", 1),
    ("9", "109", 1),
    ("77", "101", 1),
]
DROPPED = {
    "no_document_judged": 1,
    "no_passage_judged": 1,
    "passage_missing": 1,
    "document_missing": 1,
    "not_found": 1,
    "whole_document": 1,
}
COPY = {
    "documents": "documents/corpus.jsonl",
    "queries": "documents/queries.jsonl",
    "document_qrels": "documents/qrels/dev.jsonl",
    "passages": "passages/corpus.jsonl.gz",
    "passage_qrels": "qrels/dev.tsv",
}


def official(folder):
    folder.mkdir(exist_ok=True)
    tables = {
        "msmarco-docs.tsv": [(n, "http://a.b/", *text) for n, text in DOCUMENTS.items()],
        "msmarco-docdev-queries.tsv": QUERIES.items(),
        "collection.tsv": PASSAGES.items(),
        "msmarco-docdev-qrels.tsv": [(f"{q} 0 {d} {g}",) for q, d, g in OF_DOCUMENTS],
        "qrels.dev.tsv": [(q, "0", d, str(g)) for q, d, g in OF_PASSAGES],
    }
    for name, rows in tables.items():
        (folder / name).write_text("".join("\t".join(row) + "\n" for row in rows))
    return folder


def beir(text_id, text, title=None):
    return {"_id": text_id, **({} if title is None else {"title": title}), "text": text}


def copy(folder):
    """Documents, queries and judgements as JSON lines, passages packed, judgements below a head."""
    for name in ("documents/qrels", "passages", "qrels"):
        (folder / name).mkdir(parents=True)
    tables = {
        "documents/corpus.jsonl": [beir(n, body, title) for n, (title, body) in DOCUMENTS.items()],
        "documents/queries.jsonl": [beir(*query) for query in QUERIES.items()],
        "documents/qrels/dev.jsonl": [
            {"query-id": q, "corpus-id": d, "score": float(g)} for q, d, g in OF_DOCUMENTS
        ],
    }
    for name, rows in tables.items():
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    with gzip.open(folder / "passages/corpus.jsonl.gz", "wt") as lines:
        lines.writelines(json.dumps(beir(*passage, "")) + "\n" for passage in PASSAGES.items())
    rows = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in OF_PASSAGES)]
    (folder / "qrels/dev.tsv").write_text("\n".join(rows) + "\n")
    return [folder / "documents", folder / "passages", folder / "qrels"]


def sample(files, **options):
    return sample_pairs("msmarco", files, options, None, 1)


def test_the_official_files(tmp_path):
    found = sample([official(tmp_path / "msmarco")])
    assert found.dropped == DROPPED and (found.read, found.found) == (9, 3)
    parts = {pair.query_id: (pair.doc_id, pair.rest, pair.passage) for pair in found.pairs}
    assert parts == {
        "1": ("D1", "Before. After.", "Evidence one. "),
        "2": ("D2", "Before. After.", "Evidence two. "),
        "9": ("D9", "Before.", " Evidence nine."),
    }
    assert {pair.query_id: pair.query for pair in found.pairs} == {q: QUERIES[q] for q in parts}


def test_copies_in_other_formats_give_the_same_pairs(tmp_path):
    plain = sample([official(tmp_path / "msmarco")])
    assert sample(copy(tmp_path / "copy"), **COPY) == plain
    packed = tmp_path / "packed"
    packed.mkdir()
    for file in (tmp_path / "msmarco").iterdir():
        (packed / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    assert sample([packed]) == plain


def test_parquet_shards_of_documents(tmp_path):
    import pyarrow
    import pyarrow.parquet

    folder = official(tmp_path / "msmarco")
    (folder / "msmarco-docs.tsv").unlink()
    (folder / "data").mkdir()
    rows = [{"doc_id": n, "url": "", "title": t, "body": b} for n, (t, b) in DOCUMENTS.items()]
    for number, some in enumerate((rows[:3], rows[3:])):
        path = folder / "data" / f"docs-0000{number}-of-00002.parquet"
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(some), path)
    found = sample([folder], documents="data/docs-*.parquet")
    assert found == sample([official(tmp_path / "again")])


def test_titles_are_left_out_unless_wanted(tmp_path):
    found = sample([official(tmp_path)], title_separator="\n")
    assert {pair.query_id: pair.rest for pair in found.pairs} == {
        "1": "Title 1\nBefore. After.",
        "2": "Title 2 Before. After.",
        "9": "Title 9\nBefore.",
    }


def damaged(folder, name, content):
    (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("msmarco-docs.tsv", b"D1\turl\ttitle\n", r"docs\.tsv, line 1: 3 columns, expected 4"),
        ("collection.tsv", b"1\tone\n2\t\xff\n", r"collection\.tsv, line 2: not UTF-8"),
        ("qrels.dev.tsv", b"1\t0\t101\n", r"qrels\.dev\.tsv, line 1: 3 columns; a judgement"),
        ("qrels.dev.tsv", b"1 0 101 yes\n", r"qrels\.dev\.tsv, line 1: the grade 'yes'"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, name, content, message):
    damaged(official(tmp_path), name, content)
    with pytest.raises(DataError, match=message):
        sample([tmp_path])


def test_a_cut_archive_a_missing_file_and_a_format_not_read(tmp_path):
    folder = official(tmp_path)
    packed = gzip.compress((folder / "msmarco-docs.tsv").read_bytes())
    (folder / "msmarco-docs.tsv").unlink()
    with pytest.raises(DataError, match=r"no file matches documents: 'msmarco-docs\.tsv\*'"):
        sample([folder])
    damaged(folder, "msmarco-docs.tsv.gz", packed[:-9])
    with pytest.raises(DataError, match=r"msmarco-docs\.tsv\.gz: not a whole gzip file"):
        sample([folder])
    damaged(folder, "collection.tar.gz", b"")
    with pytest.raises(DataError, match=r"collection\.tar\.gz: chosen by passages: .* unpack it"):
        sample([folder], passages="collection.tar.gz")


def test_a_table_of_other_columns_is_named(tmp_path):
    files = copy(tmp_path)
    (tmp_path / "documents/qrels/dev.jsonl").write_text('{"query": "1", "document": "D1"}\n')
    with pytest.raises(DataError, match=r"dev\.jsonl, row 1: found query, document; a judgement"):
        sample(files, **COPY)
    (tmp_path / "documents/queries.jsonl").write_text('{"_id": "1", "query": "one"}\n')
    with pytest.raises(DataError, match=r"queries\.jsonl, row 1: expected a text in text or body"):
        sample(files, **COPY)


@pytest.mark.parametrize("packed", [False, True])
def test_documents_go_past_as_a_stream(tmp_path, packed):
    folder = official(tmp_path)
    path = folder / ("msmarco-docs.tsv.gz" if packed else "msmarco-docs.tsv")
    filling = "filling " * 250
    old = (folder / "msmarco-docs.tsv").read_text()
    (folder / "msmarco-docs.tsv").unlink()
    with gzip.open(path, "wt", compresslevel=1) if packed else path.open("w") as lines:
        lines.writelines(f"D1{n:05d}\turl\ttitle\t{n} {filling}\n" for n in range(5000))
        lines.write(old)
    tracemalloc.start()
    found = sample([folder])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.found == 3
    assert peak < 2e6  # bytes, of 10 MB
