"""Documents: whole sentences, in length bins, no sentence twice, no article in both splits."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import build_corpus
from config_changes import asset_of
from posbias.corpus import article_sources
from posbias.corpus.bins import LengthBin, bin_of, length_bins
from posbias.corpus.documents import (
    Document,
    cap_per_bin,
    check_bins_filled,
    cut_article,
    pack_sentences,
    split_articles,
    unique_sentences,
)
from posbias.corpus.segments import segments_of
from posbias.corpus.sentences import split_sentences
from posbias.corpus.wikipedia import Article
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, read_jsonl, sha256_file

EDGES = [20, 40, 60, 100]
# Sentences of a few to many characters; the first word makes most of them different.
SENTENCES = st.builds(
    lambda number, length: f"S{number} {'x' * length}.", st.integers(0, 40), st.integers(0, 110)
)
ARTICLES = st.lists(
    st.lists(st.lists(SENTENCES, min_size=1, max_size=6).map(" ".join), max_size=3),
    max_size=5,
).map(lambda all_: [Article(f"Title {n}", tuple(p)) for n, p in enumerate(all_)])


def document(number: int, split: str = "train", bin_name: str = "20-40") -> Document:
    return Document(f"w-{number}", f"T{number}", "x" * 30, 30, bin_name, split, "w")


def cut_all(articles: list[Article], seed: int, dropped: Counter) -> list[Document]:
    seen: set[str] = set()
    return [
        d
        for article in articles
        for d in cut_article(article, EDGES, "train", "w", seed, seen, dropped)
    ]


@given(ARTICLES, st.integers(0, 5))
def test_documents_lie_in_their_bins(articles, seed):
    documents = cut_all(articles, seed, Counter())
    for d in documents:
        assert d.n_chars == len(d.text)
        low, high = map(int, d.bin.split("-"))
        assert low <= d.n_chars < high
        assert LengthBin(low, high) in length_bins(EDGES)
    assert len({d.doc_id for d in documents}) == len(documents)
    assert not any(re.search(r"\s", d.doc_id) for d in documents)  # ids stand in TREC files


@given(ARTICLES, st.integers(0, 5))
def test_no_sentence_stands_in_two_documents_and_none_is_lost(articles, seed):
    dropped = Counter()
    documents = cut_all(articles, seed, dropped)
    placed = [s for d in documents for s in split_sentences(d.text)]
    assert len(set(placed)) == len(placed)
    given_ = [s for a in articles for p in a.paragraphs for s in split_sentences(p)]
    assert set(placed) <= set(given_)
    left_out = dropped["sentence: repeated"] + dropped["sentence: fits into no bin"]
    assert len(placed) + left_out == len(given_)


@given(ARTICLES, st.integers(0, 5))
def test_sentences_stay_in_order_and_next_to_each_other(articles, seed):
    for article in articles:
        sentences = unique_sentences(article, set(), Counter())
        texts = cut_article(article, EDGES, "train", "w", seed, set(), Counter())
        at = 0
        for d in texts:
            run = split_sentences(d.text)
            at = sentences.index(run[0], at)
            assert sentences[at : at + len(run)] == run
            at += len(run)


@given(st.lists(SENTENCES, min_size=1, max_size=8), st.integers(0, 2))
def test_packing_takes_the_best_run_from_the_front(sentences, which):
    wanted = length_bins(EDGES)[which]
    runs = [(n, " ".join(sentences[:n])) for n in range(1, len(sentences) + 1)]
    fitting = [(n, text) for n, text in runs if bin_of(len(text), EDGES)]
    inside = [run for run in fitting if wanted.low <= len(run[1]) < wanted.high]
    below = [run for run in fitting if len(run[1]) < wanted.low]
    best = (inside[:1] or below[-1:] or fitting[:1] or [(1, None)])[0]
    assert pack_sentences(sentences, wanted, EDGES) == best


@pytest.mark.parametrize(
    ("lengths", "which", "taken"),
    [
        ([25, 20, 60], 2, 2),  # 25, 46, 107: nothing in 60-100, the longest below it
        ([45, 20, 60], 0, 1),  # 45, 66, 127: nothing in 20-40, the shortest above it
        ([30, 20, 20], 1, 2),  # 30, 51, 72: hits 40-60
        ([10, 95, 20], 0, 1),  # 10, 106: no bin at all, one sentence is given up
    ],
)
def test_packing_examples(lengths, which, taken):
    sentences = ["x" * (length - 1) + "." for length in lengths]
    count, text = pack_sentences(sentences, length_bins(EDGES)[which], EDGES)
    assert count == taken
    assert text == (None if lengths[0] == 10 else " ".join(sentences[:taken]))


def test_the_wanted_bins_vary():
    article = Article("Long", tuple(f"Word {n} and so on it goes." for n in range(300)))
    counts = Counter(d.bin for d in cut_article(article, EDGES, "train", "w", 1, set(), Counter()))
    assert set(counts) == {"20-40", "40-60", "60-100"}
    assert min(counts.values()) > 15


def test_repeats_are_found_in_any_case_and_spacing():
    dropped = Counter()
    article = Article("A", ("It is so.  It  is SO. It is not.",))
    assert unique_sentences(article, set(), dropped) == ["It is so.", "It is not."]
    assert dropped == {"sentence: repeated": 1}


@given(
    st.lists(st.text(min_size=1, max_size=3), min_size=2, max_size=40, unique=True),
    st.floats(0.01, 0.99),
    st.integers(0, 5),
    st.randoms(),
)
def test_each_article_belongs_to_one_split(titles, share, seed, random):
    splits = split_articles(titles, share, seed)
    assert set(splits) == set(titles)
    assert set(splits.values()) == {"train", "heldout"}
    n_heldout = sum(split == "heldout" for split in splits.values())
    assert n_heldout == min(len(titles) - 1, max(1, round(share * len(titles))))
    random.shuffle(titles)
    assert split_articles(titles, share, seed) == splits


@pytest.mark.parametrize("titles", [[], ["only"]])
def test_too_few_articles_cannot_be_split(titles):
    with pytest.raises(DataError, match=f"{len(titles)} article"):
        split_articles(titles, 0.3, 1)


CELLS = st.tuples(st.sampled_from(["train", "heldout"]), st.sampled_from(["20-40", "40-60"]))
LIMITS = {"train": 4, "heldout": 2}


@given(st.lists(CELLS, max_size=30), st.lists(CELLS, max_size=10), st.integers(0, 5))
def test_the_cap_keeps_its_choice_when_rows_are_added(cells, more, seed):
    documents = [document(n, *cell) for n, cell in enumerate(cells)]
    added = [document(100 + n, *cell) for n, cell in enumerate(more)]
    dropped = Counter()
    before = cap_per_bin(documents, LIMITS, seed, dropped)
    after = cap_per_bin(added + documents, LIMITS, seed, Counter())
    assert len(before) + sum(dropped.values()) == len(documents)
    # No old document comes in, and one goes only where a new one of its cell came in.
    gone = Counter((d.split, d.bin) for d in before if d not in after)
    come = Counter((d.split, d.bin) for d in after if d not in before)
    assert [d for d in after if d not in added] == [d for d in before if d in after]
    assert all(gone[cell] <= come[cell] for cell in gone)
    counts = Counter((d.split, d.bin) for d in after)
    assert all(n <= LIMITS[split] for (split, _), n in counts.items())


def test_the_cap_draws_by_the_seed():
    documents = [document(n) for n in range(50)]
    first = cap_per_bin(documents, LIMITS, 1, Counter())
    assert len(first) == 4
    assert first == cap_per_bin(documents[::-1], LIMITS, 1, Counter())[::-1]
    assert first != cap_per_bin(documents, LIMITS, 2, Counter())


def test_an_empty_bin_is_named_by_split_and_bin():
    everything = [
        document(n, split, b.name)
        for n, (split, b) in enumerate(
            (split, b) for split in ("train", "heldout") for b in length_bins(EDGES)
        )
    ]
    assert set(check_bins_filled(everything, EDGES).values()) == {1}
    for missing in everything:
        rest = [d for d in everything if d is not missing]
        with pytest.raises(DataError) as caught:
            check_bins_filled(rest, EDGES)
        assert f"no {missing.split} document" in str(caught.value)
        assert f"bin {missing.bin} is empty" in str(caught.value)
        assert "documents.bin_edges" in str(caught.value)


OPTIONS = {
    "cut": "sentences",
    "source": "w",
    "min_paragraph_chars": 10,
    "bin_edges": EDGES,
    "heldout_share": 0.3,
    "max_per_bin": {"train": 6, "heldout": 3},
}


def run_build(folder, monkeypatch, articles, options=OPTIONS):
    monkeypatch.setattr(article_sources, "find_asset", lambda **asset: asset["file"])
    monkeypatch.setattr(article_sources, "read_dump", lambda *arguments: iter(articles))
    paths = [folder / name for name in ("documents.jsonl", "segments.jsonl", "summary.json")]
    source = {"kind": "mediawiki_dump", "asset": "wikipedia"}
    build_corpus.main(*paths, [], source, {"file": "dump"}, options, seed=42)
    return read_jsonl(paths[0]), read_jsonl(paths[1]), read_json(paths[2])


def made_up_articles(n: int = 12) -> list[Article]:
    return [
        Article(
            f"Title {n}",
            tuple(f"Article {n} says {k * 31} and {'very ' * (k % 4)}more." for k in range(60)),
        )
        for n in range(n)
    ]


def test_the_script_writes_what_its_summary_says(tmp_path, monkeypatch):
    documents, segments, summary = run_build(tmp_path, monkeypatch, made_up_articles())
    assert summary["documents"] == len(documents) == sum(summary["documents_per_cell"].values())
    assert summary["documents_per_cell"] == {
        f"{split} {b.name}": n
        for split, n in (("train", 6), ("heldout", 3))
        for b in length_bins(EDGES)
    }
    assert summary["characters"] == sum(len(d["text"]) for d in documents)
    assert summary["articles"] == {"train": 8, "heldout": 4}
    titles = {split: {d["title"] for d in documents if d["split"] == split}
              for split in ("train", "heldout")}  # fmt: skip
    assert not titles["train"] & titles["heldout"]
    assert segments == [
        segment._asdict() for d in documents for segment in segments_of(d["doc_id"], d["text"])
    ]


def test_the_script_writes_the_same_bytes_twice(tmp_path, monkeypatch):
    for name in ("first", "second"):
        run_build(tmp_path / name, monkeypatch, made_up_articles())
    for path in (tmp_path / "first").iterdir():
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes()


def test_the_script_writes_nothing_where_a_bin_is_empty(tmp_path, monkeypatch):
    options = {**OPTIONS, "bin_edges": [20, 40, 60, 100, 101]}
    with pytest.raises(DataError, match="bin 100-101 is empty"):
        run_build(tmp_path, monkeypatch, made_up_articles(), options)
    assert list(tmp_path.iterdir()) == []


def test_sentences_need_held_out_articles(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match=r"heldout_share: 0 needs documents\.cut: whole"):
        run_build(tmp_path, monkeypatch, made_up_articles(), {**OPTIONS, "heldout_share": 0})


def test_an_unknown_cut_is_named_with_the_known_ones(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="'halves' does not exist; known: sentences, whole"):
        run_build(tmp_path, monkeypatch, made_up_articles(), {**OPTIONS, "cut": "halves"})


def test_the_packaged_dump_gives_the_documents_it_always_gave(tmp_path, config):
    """Every result of the mini scale rests on these bytes."""
    options = {
        "cut": "sentences",
        "source": "enwiki",
        "min_paragraph_chars": 60,
        "bin_edges": [192, 240, 288, 336, 384, 448],
        "heldout_share": 0.3,
        "max_per_bin": {"train": 500, "heldout": 200},
    }
    paths = [tmp_path / name for name in ("documents.jsonl", "segments.jsonl", "summary.json")]
    source = {"kind": "mediawiki_dump", "asset": "wikipedia"}
    build_corpus.main(*paths, [], source, asset_of(config, "wikipedia"), options, seed=42)
    assert [sha256_file(path)[:16] for path in paths] == [
        "1a770139f0e3289f", "6ea37599c27888b4", "cc20e0f6188ffbb0"
    ]  # fmt: skip
