"""Whole articles: lengths in code points, samples no order of rows can change, exact counts."""

import json
import random
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import build_corpus
from posbias.corpus import article_sources, tables
from posbias.corpus.bins import bin_of
from posbias.corpus.documents import Document, cap_per_bin
from posbias.corpus.segments import segments_of
from posbias.corpus.whole_articles import Scan, WholeCut, choose
from posbias.corpus.wikipedia import Article
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, read_jsonl, write_jsonl
from posbias.logs import Heartbeat

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

EDGES = [8, 16, 32, 64]
OPTIONS = {
    "cut": "whole",
    "source": "w",
    "min_paragraph_chars": 1,
    "bin_edges": EDGES,
    "heldout_share": 0.3,
    "max_per_bin": {"train": 5, "heldout": 3},
}
SOURCE = {
    "kind": "table",
    "files": ["*.*"],
    "columns": {"id": "id", "title": "title", "text": "text"},
}
NAMES = ("documents.jsonl", "segments.jsonl", "summary.json")
# One code point each, of 1, 2, 3 and 4 bytes, an accent of its own, a joiner, a no-break space.
SIGNS = ["a", "é", "北", "🙂", "\u0301", "\u200d", "\xa0", "\u2028"]


def record(number: int, text: str) -> dict:
    return {"id": f"{number}", "url": "x", "title": f"Title {number}", "text": text}


def made_up(n: int, seed: int = 0) -> list[dict]:
    """Articles in and around the bins: some texts repeat, some are blank or missing."""
    chance = random.Random(seed)
    texts = ["".join(chance.choices(SIGNS, k=chance.randint(0, 75))) for _ in range(n)]
    texts = [chance.choice(texts) if chance.random() < 0.1 else text for text in texts]
    return [record(i, None if chance.random() < 0.05 else text) for i, text in enumerate(texts)]


def write_shards(folder: Path, records: list[dict], cuts: list[int] = (), suffix="parquet") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for start, end in zip([0, *cuts], [*cuts, len(records)], strict=True):
        path = folder / f"{start:05d}-{end:05d}.{suffix}"
        if suffix == "jsonl":
            write_jsonl(path, records[start:end])
        else:
            schema = pa.schema([(name, pa.string()) for name in ("id", "url", "title", "text")])
            table = pa.Table.from_pylist(records[start:end], schema=schema)
            pq.write_table(table, path, row_group_size=7)
    return folder


def run_build(out: Path, folder: Path, source=SOURCE, seed=42, **options) -> tuple:
    paths = [out / name for name in NAMES]
    build_corpus.main(*paths, [folder], source, None, {**OPTIONS, **options}, seed)
    return read_jsonl(paths[0]), read_jsonl(paths[1]), read_json(paths[2])


@pytest.fixture(scope="module")
def articles() -> list[dict]:
    return made_up(600)


@pytest.fixture(scope="module")
def built(articles, tmp_path_factory) -> tuple:
    folder = tmp_path_factory.mktemp("built")
    return run_build(folder, write_shards(folder / "shards", articles, [200, 201, 450]))


def plain_choice(articles: list[dict], seed: int, share: float, limits: dict) -> list[dict]:
    """The corpus by plain lists: every article a document, repeats out, the rest capped."""
    cut = WholeCut("w", tuple(EDGES), share, seed)
    documents, of_text = [], {}
    for article in articles:
        text = article["text"]
        if text is None or not text.strip() or not bin_of(len(text), EDGES):
            continue
        doc_id = f"w-{article['id']}"
        split = ("train", "heldout")[cut.split(doc_id)]
        document = Document(
            doc_id, article["title"], text, len(text), bin_of(len(text), EDGES), split, "w"
        )
        documents.append(document)
        before = of_text.get(text)
        if before is None or cut.rank(doc_id) < cut.rank(before):
            of_text[text] = doc_id
    single = [document for document in documents if of_text[document.text] == document.doc_id]
    return [document.record() for document in cap_per_bin(single, limits, seed, Counter())]


@pytest.mark.parametrize("seed", [1, 42])
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_the_documents_are_those_of_plain_lists(articles, tmp_path, seed, share):
    limits = {"train": 7, "heldout": 4}
    shards = write_shards(tmp_path / "shards", articles, [100])
    found = run_build(tmp_path, shards, seed=seed, heldout_share=share, max_per_bin=limits)[0]
    assert found == plain_choice(articles, seed, share, limits)
    assert {(d["split"], d["bin"]) for d in found} == {
        (split, name) for split in limits for name in ("8-16", "16-32", "32-64")
    }


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from(SIGNS[:6]), st.sampled_from(EDGES), st.integers(-1, 1)),
        min_size=1, max_size=20, unique=True,
    )
)  # fmt: skip
def test_lengths_are_counted_in_code_points_up_to_the_edges(tmp_path_factory, wanted):
    folder = tmp_path_factory.mktemp("edges")
    # A stretch of one sign, and one more article to fill each bin.
    texts = {sign * (edge + by) for sign, edge, by in wanted} | {"b" * n for n in (8, 16, 32)}
    records = [record(n, text) for n, text in enumerate(sorted(texts))]
    limits = {"train": 999, "heldout": 1}
    found, segments, summary = run_build(
        folder, write_shards(folder / "in", records), heldout_share=0, max_per_bin=limits
    )
    assert {d["text"]: d["bin"] for d in found} == {
        text: f"{low}-{high}"
        for text in texts
        for low, high in ((8, 16), (16, 32), (32, 64))
        if low <= len(text) < high
    }
    assert all(d["n_chars"] == len(d["text"]) for d in found)
    ends = [s["end"] for s in segments if s["position"] == "end"]
    assert ends == [len(d["text"]) for d in found]
    assert summary["dropped"].get("article: shorter than 8 characters", 0) == sum(
        len(text) < 8 for text in texts
    )
    assert summary["dropped"].get("article: 64 characters or longer", 0) == sum(
        len(text) >= 64 for text in texts
    )


def test_composed_and_decomposed_text_lie_in_the_bins_of_their_own_lengths(tmp_path):
    composed = "é" * 20
    apart = unicodedata.normalize("NFD", composed)
    records = [record(0, composed), record(1, apart), record(2, "a" * 8)]
    found = run_build(tmp_path, write_shards(tmp_path / "in", records), heldout_share=0)[0]
    assert [(d["bin"], d["text"]) for d in found] == [
        ("16-32", composed), ("32-64", apart), ("8-16", "a" * 8)
    ]  # fmt: skip


def lines(folder: Path, name: str) -> list[str]:
    return sorted((folder / name).read_text("utf-8").splitlines())


@settings(max_examples=15)
@given(
    st.lists(st.integers(0, 300), max_size=4).map(sorted), st.randoms(use_true_random=False),
    st.sampled_from(["parquet", "jsonl"]), st.integers(1, 400),
)  # fmt: skip
def test_neither_order_nor_shards_nor_kind_of_file_change_the_corpus(
    tmp_path_factory, cuts, chance, suffix, batch
):
    folder = tmp_path_factory.mktemp("order")
    records = made_up(300)
    first = run_build(folder / "a", write_shards(folder / "in_a", records))
    chance.shuffle(records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BATCH_ROWS", batch)
        second = run_build(folder / "b", write_shards(folder / "in_b", records, cuts, suffix))
    # The documents stand in the order of the rows; sorted, the files hold the same bytes.
    for name in NAMES[:2]:
        assert lines(folder / "a", name) == lines(folder / "b", name)
    at = {f"w-{r['id']}": place for place, r in enumerate(records)}
    places = [at[d["doc_id"]] for d in second[0]]
    assert places == sorted(places)
    assert sum(entry["rows"] for entry in second[2]["files"]) == 300
    assert {**first[2], "files": 0} == {**second[2], "files": 0}


def test_parquet_and_json_lines_give_the_same_bytes(tmp_path, articles):
    for suffix in ("parquet", "jsonl"):
        shards = write_shards(tmp_path / f"in_{suffix}", articles, [300], suffix)
        run_build(tmp_path / suffix, shards)
    for name in NAMES[:2]:
        assert (tmp_path / "parquet" / name).read_bytes() == (
            tmp_path / "jsonl" / name
        ).read_bytes()


def test_added_articles_push_out_and_never_reshuffle(tmp_path, articles):
    few, many = articles[:300], articles
    limits = {"train": 20, "heldout": 10}
    before = run_build(tmp_path / "a", write_shards(tmp_path / "few", few), max_per_bin=limits)[0]
    after = run_build(tmp_path / "b", write_shards(tmp_path / "many", many), max_per_bin=limits)[0]
    old = {f"w-{article['id']}" for article in few}
    stayed = [d for d in after if d["doc_id"] in old]
    # An old article comes in only in the place of its own text's repeat, and none changes split.
    texts = {d["text"] for d in before}
    assert all(d in before for d in stayed if d["text"] in texts)
    assert {d["text"] for d in stayed} <= texts
    assert 0 < len(stayed) < len(before)


def test_every_row_is_a_document_or_counted(built, articles):
    documents, segments, summary = built
    assert summary["documents"] == len(documents)
    assert len(documents) + sum(summary["dropped"].values()) == len(articles)
    assert [entry["rows"] for entry in summary["files"]] == [200, 1, 249, 150]
    assert [Path(entry["file"]).name for entry in summary["files"]][1] == "00200-00201.parquet"
    assert summary["dropped"]["article: no text"] == sum(
        not (article["text"] or "").strip() for article in articles
    )
    in_range = [a for a in articles if (a["text"] or "").strip() and bin_of(len(a["text"]), EDGES)]
    assert sum(summary["articles"].values()) == len(in_range)
    repeats = len(in_range) - len({article["text"] for article in in_range})
    assert summary["dropped"]["article: text of another article"] == repeats > 0
    assert summary["characters"] == sum(len(d["text"]) for d in documents)
    assert summary["documents_per_cell"] == {
        f"{split} {name}": n
        for split, n in (("train", 5), ("heldout", 3))
        for name in ("8-16", "16-32", "32-64")
    }
    assert segments == [
        segment._asdict() for d in documents for segment in segments_of(d["doc_id"], d["text"])
    ]


def test_the_split_of_an_article_depends_on_its_id_alone():
    cut = WholeCut("w", tuple(EDGES), 0.3, 1)
    splits = [cut.split(f"w-{n}") for n in range(20_000)]
    assert abs(np.mean(splits) - 0.3) < 4 * (0.3 * 0.7 / 20_000) ** 0.5
    # A larger share holds out more articles and keeps those.
    larger = WholeCut("w", tuple(EDGES), 0.4, 1)
    assert all(larger.split(f"w-{n}") for n in range(2000) if splits[n])
    other = WholeCut("w", tuple(EDGES), 0.3, 2)
    assert [other.split(f"w-{n}") for n in range(200)] != splits[:200]


def test_without_a_held_out_share_everything_trains(tmp_path, articles):
    shards = write_shards(tmp_path / "in", articles)
    documents, _, summary = run_build(tmp_path, shards, heldout_share=0)
    assert {d["split"] for d in documents} == {"train"}
    assert summary["articles"]["heldout"] == 0
    assert set(summary["documents_per_cell"]) == {"train 16-32", "train 32-64", "train 8-16"}


def test_an_empty_bin_is_named_and_nothing_is_written(tmp_path):
    records = [record(n, "a" * n) for n in range(8, 32)]
    with pytest.raises(DataError, match=r"no train document of 32-64 characters.*bin_edges"):
        run_build(tmp_path / "out", write_shards(tmp_path / "in", records), heldout_share=0)
    records = [record(n, "a" * length) for n, length in enumerate((8, 16, 32))]
    with pytest.raises(DataError, match=r"no (train|heldout) document of"):
        run_build(tmp_path / "out", write_shards(tmp_path / "in", records))
    with pytest.raises(DataError, match=r"00000-00000\.parquet: no row was read"):
        run_build(tmp_path / "out", write_shards(tmp_path / "none", []))
    assert not (tmp_path / "out").exists()


def test_an_id_that_stands_twice_is_named_with_both_places(tmp_path, articles):
    twice = [*articles[:50], {**articles[7], "text": "another text"}]
    folder = write_shards(tmp_path / "in", twice, [30])
    with pytest.raises(DataError) as caught:
        run_build(tmp_path / "out", folder)
    assert str(caught.value).startswith(f"{folder}/00030-00051.parquet, row 21: the id '7' stands")
    assert f"{folder}/00000-00030.parquet, row 8;" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_an_id_counts_as_twice_even_where_the_articles_are_not_used(tmp_path, articles):
    outside = [record(9999, "short"), record(9999, None)]
    with pytest.raises(DataError, match="the id '9999' stands already"):
        run_build(tmp_path / "out", write_shards(tmp_path / "in", articles + outside))


def test_ids_whose_hashes_agree_are_still_two_ids(tmp_path, articles, monkeypatch):
    monkeypatch.setattr(WholeCut, "rank", lambda self, doc_id: int(doc_id[2:]) % 3)
    documents = run_build(tmp_path, write_shards(tmp_path / "in", articles))[0]
    assert len({d["doc_id"] for d in documents}) == 24


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True))
def test_document_ids_suit_trec_files_and_stay_apart(ids):
    cut = WholeCut("w", tuple(EDGES), 0.3, 1)
    found = [cut.doc_id(article_id) for article_id in ids]
    assert len(set(found)) == len(ids)
    assert all(re.fullmatch(r"w-[A-Za-z0-9_.~%-]+", doc_id) for doc_id in found)


def test_document_ids_keep_plain_ids_as_they_are():
    cut = WholeCut("enwiki", tuple(EDGES), 0.3, 1)
    assert cut.doc_id("12345") == "enwiki-12345"
    assert cut.doc_id("a b\tc/é%20|") == "enwiki-a%20b%09c%2F%C3%A9%2520%7C"


def test_ids_with_white_space_reach_the_files_in_one_word(tmp_path):
    ids = ["a b", "a\tb", "a\nb", "北 京"]
    texts = ["x" * 8, "x" * 16, "x" * 32, "y" * 33]
    records = [{**record(0, t), "id": i} for i, t in zip(ids, texts, strict=True)]
    folder = write_shards(tmp_path / "in", records)
    documents, segments, _ = run_build(tmp_path, folder, heldout_share=0)
    assert [d["doc_id"] for d in documents] == [
        "w-a%20b", "w-a%09b", "w-a%0Ab", "w-%E5%8C%97%20%E4%BA%AC"
    ]  # fmt: skip
    assert [s["doc_id"] for s in segments[::3]] == [d["doc_id"] for d in documents]


def test_a_missing_title_is_empty(tmp_path):
    records = [{**record(n, "a" * 2**n), "title": None} for n in (3, 4, 5)]
    found = run_build(tmp_path, write_shards(tmp_path / "in", records), heldout_share=0)[0]
    assert [d["title"] for d in found] == ["", "", ""]


@given(
    st.lists(
        st.tuples(st.integers(-1, 3), st.integers(0, 8)), max_size=40
    ), st.integers(1, 4), st.randoms(use_true_random=False)
)  # fmt: skip
def test_the_choice_keeps_one_of_each_text_and_no_more_than_the_limit(rows, limit, chance):
    cut = WholeCut("w", (8, 16, 32), 0.5, 1)
    ranks = list(range(len(rows)))
    chance.shuffle(ranks)
    scan = Scan(
        np.array(ranks, np.uint64),
        np.array([cell for cell, _ in rows], np.int16),
        np.array([text for _, text in rows], np.uint64),
    )
    dropped = Counter()
    limits = {"train": limit, "heldout": limit + 1}
    kept = choose(scan, limits, cut, dropped)
    # One after the other in keyed order, as a reader would do it by hand.
    seen, filled, expected = set(), Counter(), set()
    for at in np.argsort(ranks):
        cell, text = rows[at]
        if cell < 0 or text in seen:
            continue
        seen.add(text)
        if filled[cell] < limits[cut.cells[cell][0]]:
            expected.add(int(at))
        filled[cell] += 1
    assert set(np.flatnonzero(kept).tolist()) == expected
    assert len(expected) + sum(dropped.values()) == sum(cell >= 0 for cell, _ in rows)


def test_a_file_that_changes_between_the_passes_is_named(tmp_path, monkeypatch):
    records = [record(n, "a" * (8 + n % 50)) for n in range(100)]
    folder = write_shards(tmp_path / "in", records)
    choose_first = build_corpus.choose

    def meanwhile(*arguments):
        write_shards(folder, [record(n, "b" * 40) for n in range(100)])
        return choose_first(*arguments)

    monkeypatch.setattr(build_corpus, "choose", meanwhile)
    with pytest.raises(DataError, match="changed while it was read"):
        run_build(tmp_path / "out", folder, heldout_share=0)
    assert list((tmp_path / "out").iterdir()) == []


def test_documents_are_written_while_they_are_read(tmp_path, articles, monkeypatch):
    """Neither documents nor segments pile up: a batch is read only when the last is written."""
    monkeypatch.setattr(tables, "BATCH_ROWS", 10)
    folder = write_shards(tmp_path / "in", articles)
    source = article_sources.make_article_source(SOURCE, None, [folder], 1)
    options = {**OPTIONS, "max_per_bin": {"train": 999, "heldout": 999}}
    corpus = build_corpus.whole(source, options, 42)
    read = []
    unwatched = article_sources.read_table

    def watched(*arguments):
        for rows in unwatched(*arguments):
            read.append(rows.first)
            yield rows

    monkeypatch.setattr(article_sources, "read_table", watched)
    documents = iter(corpus.documents)
    next(documents)
    assert len(read) <= 2
    assert sum(1 for _ in documents) + 1 == sum(corpus.per_cell.values())
    assert len(read) == len(articles) // 10


def test_a_dump_gives_whole_articles_named_by_their_titles(tmp_path, monkeypatch):
    dump = [Article(f"Title {n}", ("a" * 7, "é" * n)) for n in range(40)]
    monkeypatch.setattr(article_sources, "find_asset", lambda **asset: asset["file"])
    monkeypatch.setattr(article_sources, "read_dump", lambda *arguments: iter(dump))
    monkeypatch.setattr(article_sources, "BATCH_ROWS", 9)
    paths = [tmp_path / name for name in NAMES]
    source = {"kind": "mediawiki_dump", "asset": "wikipedia"}
    options = {**OPTIONS, "heldout_share": 0, "max_per_bin": {"train": 99, "heldout": 1}}
    build_corpus.main(*paths, [], source, {"file": "dump"}, options, seed=42)
    documents = read_jsonl(paths[0])
    assert [d["doc_id"] for d in documents] == [f"w-Title%20{n}" for n in range(40)]
    assert documents[3]["text"] == "aaaaaaa\n\néé" + "é"
    assert read_json(paths[2])["files"] == [{"file": "dump", "rows": 40}]


def test_a_table_gives_documents_of_sentences_too(tmp_path):
    texts = ["\n".join(f"Article {n} says {k} and {'so ' * (k % 9)}more." for k in range(40))
             for n in range(9)]  # fmt: skip
    records = [record(n, f"Heading\n\n{text}") for n, text in enumerate(texts)]
    folder = write_shards(tmp_path / "in", records, [4])
    documents, _, summary = run_build(tmp_path, folder, cut="sentences", bin_edges=[20, 60, 99])
    assert set(summary) == {"articles", "documents", "characters", "documents_per_cell", "dropped"}
    assert summary["dropped"]["paragraph: no sentence end"] == 9
    assert all(d["text"].startswith(f"Article {d['title'][6:]} says") for d in documents)
    assert {d["doc_id"][:9] for d in documents} <= {f"w-Title_{n}" for n in range(9)}
    for title in ("Title 0", " Title  0", "Title_0", None, " "):
        folder = write_shards(tmp_path / "twice", [*records, {**records[0], "title": title}])
        with pytest.raises(DataError, match=r"row 10: the title '.*' is empty or stands twice"):
            run_build(tmp_path, folder, cut="sentences", bin_edges=[20, 60, 99])


def test_columns_may_be_called_anything(tmp_path, articles):
    folder = tmp_path / "in"
    folder.mkdir()
    rows = [{"_id": a["id"], "name": a["title"], "body": a["text"]} for a in articles]
    pq.write_table(pa.Table.from_pylist(rows), folder / "a.parquet")
    columns = {"id": "_id", "title": "name", "text": "body"}
    renamed = run_build(tmp_path / "a", folder, {**SOURCE, "columns": columns})
    plain = run_build(tmp_path / "b", write_shards(tmp_path / "plain", articles))
    assert renamed[:2] == plain[:2]


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ({"kind": "tables"}, "kind 'tables' does not exist; known: mediawiki_dump, table"),
        ({"kind": "mediawiki_dump", "asset": "dumps"}, "no asset is called 'dumps'"),
        ({**SOURCE, "files": ["no*.parquet"]}, r"no file matches 'no\*\.parquet'"),
    ],
)
def test_a_source_that_does_not_exist_is_named(tmp_path, source, fault):
    with pytest.raises(ConfigError, match=fault):
        run_build(tmp_path, tmp_path, source)


def test_progress_is_told(tmp_path, articles, monkeypatch, caplog):
    monkeypatch.setattr(build_corpus, "Heartbeat", partial(Heartbeat, every=0))
    with caplog.at_level("INFO"):
        run_build(tmp_path, write_shards(tmp_path / "in", articles, [300]))
    assert "articles looked at, files 1/2 600 articles" in caplog.text
    assert "documents written 24/24" in caplog.text


MEASURE = """
import json, sys
from pathlib import Path
import build_corpus
out, folder, options, source = Path(sys.argv[1]), Path(sys.argv[2]), *map(json.loads, sys.argv[3:])
paths = [out / name for name in ("documents.jsonl", "segments.jsonl", "summary.json")]
build_corpus.main(*paths, [folder], source, None, options, 42)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(status["VmHWM"].split()[0])  # kB
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the peak there")
@pytest.mark.parametrize("group", [1000, 10**6], ids=["row groups", "one row group"])
def test_memory_does_not_grow_with_the_articles(tmp_path, scripts, group):
    """All of 60 and of 240 MB of text are kept: both within 25 MB of each other."""
    chance = random.Random(0)
    base = "".join(chance.choices([*"abcdefgh ", "é", "北", "🙂"], k=200_000))
    limits = {"train": 10**6, "heldout": 10**6}
    options = {**OPTIONS, "bin_edges": [256, 2048, 8192], "max_per_bin": limits, "heldout_share": 0}
    peak = {}
    for n in (12_000, 48_000):
        folder = tmp_path / f"{n}"
        folder.mkdir()
        texts = [base[at : at + 1500 + at % 4000] for at in chance.choices(range(190_000), k=n)]
        ids = [str(i) for i in range(n)]
        table = pa.table({"id": ids, "title": ids, "text": texts})
        pq.write_table(table, folder / "a.parquet", row_group_size=group, use_dictionary=False)
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, folder / "out", folder, json.dumps(options),
             json.dumps(SOURCE)],
            cwd=scripts, capture_output=True, text=True, check=True,
        )  # fmt: skip
        peak[n] = int(done.stdout) / 1024
        assert read_json(folder / "out" / "summary.json")["characters"] > 3000 * n
    assert peak[48_000] - peak[12_000] < 25
