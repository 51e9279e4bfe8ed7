"""Searching a corpus in shards: equal to the uncut search, each document encoded once."""

import json
import tracemalloc

import numpy as np
import pytest

import search_corpus
from posbias.benchmarks import corpus_search
from posbias.benchmarks.corpus_blocks import corpus_blocks, count_lines
from posbias.benchmarks.corpus_search import count_cut, search_lines, start_searches
from posbias.benchmarks.joined_corpora import find_union, joined_documents
from posbias.benchmarks.records import BenchmarkQuery
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, write_json, write_jsonl
from posbias.retrieval.products import HostProducts
from posbias.retrieval.running_top_k import NO_DOCUMENT
from posbias.retrieval.sharded import read_hits
from search_toy import (
    NAME,
    ONE,
    N,
    WordRetriever,
    assert_same,
    install,
    merged,
    search,
    toy_models,
    write_collection,
)


@pytest.fixture
def models(toy_retrievers):
    return toy_retrievers


@pytest.fixture
def files(toy_collection):
    return toy_collection


@pytest.mark.parametrize("model", ["front", "whole", "constant"])
def test_any_number_of_shards_and_any_block_find_the_same(models, files, tmp_path, model):
    """Each toy vector depends on its own text alone, so the blocks do not matter either."""
    chosen = {"models": (model,), "settings": ("begin",)}
    uncut = merged(search(files, tmp_path / "uncut", **chosen, block_documents=64))
    for shards, block in [(1, 8), (2, 8), (3, 8), (7, 8), (7, 1), (3, 20)]:
        found = search(
            files, tmp_path / f"{shards}-{block}", shards=shards, block_documents=block, **chosen
        )
        assert_same(merged(found), uncut)
    if model == "constant":
        assert uncut.indices.tolist() == [list(range(20))] * 3 * N


def test_more_shards_than_blocks_leave_some_without_documents(models, files, tmp_path):
    found = search(files, tmp_path / "many", shards=9, block_documents=20, **ONE)
    documents = [read_json(path)["documents"][NAME] for path in found["infos"]]
    assert sorted(documents) == [0] * 6 + [5, 20, 20]
    empty = read_hits(found["hits"][documents.index(0)], NAME, 3 * N)
    assert (empty.indices == NO_DOCUMENT).all()
    assert_same(merged(found), merged(search(files, tmp_path / "uncut", **ONE)))


def test_a_depth_above_shards_and_corpus_keeps_every_document(models, files, tmp_path):
    found = search(files, tmp_path, shards=4, depth=60, **ONE)
    hits = merged(found, depth=60)
    assert np.array_equal(np.sort(hits.indices[:, :N]), np.tile(np.arange(N), (3 * N, 1)))
    assert (hits.indices[:, N:] == NO_DOCUMENT).all()


@pytest.fixture(scope="module")
def tiny_retriever(tiny_encoder):
    import torch

    from posbias.models.encoder import load_encoder
    from posbias.models.retriever import Retriever

    torch.set_num_threads(1)
    return Retriever(load_encoder(tiny_encoder), batch_size=4)


@pytest.fixture
def uneven(tmp_path):
    """A collection whose documents differ in length, so that a batch's padding matters."""
    files = write_collection(tmp_path, range(N))
    records = [json.loads(line) for line in files["corpus"].read_text().splitlines()]
    for number, record in enumerate(records):
        record["text"] += " word" * (number * 7 % 13)
    write_jsonl(files["corpus"], records)
    return files


def test_a_real_model_finds_the_same_bits_whatever_the_shards(
    monkeypatch, tiny_retriever, uneven, tmp_path
):
    install(monkeypatch, {"tiny": tiny_retriever})
    tiny = {"models": ("tiny",), "settings": ("begin",)}
    uncut = merged(search(uneven, tmp_path / "uncut", **tiny))
    for shards in (2, 3, 7):
        assert_same(merged(search(uneven, tmp_path / str(shards), shards=shards, **tiny)), uncut)
    # Other blocks are other batches, whose padding moves the last bits: the same but for those.
    other = merged(search(uneven, tmp_path / "other", block_documents=5, **tiny))
    np.testing.assert_allclose(other.scores, uncut.scores, rtol=0, atol=1e-5)
    swapped = other.indices != uncut.indices
    assert swapped.mean() < 0.01


@pytest.fixture
def sharing(tmp_path):
    """Two benchmarks that share documents 20 to 29, the second in another order, and their union.

    The second one's corpus starts with documents that the union has last.
    """
    numbers = {"fever": list(range(30)), "climate": [*range(44, 19, -1)]}
    both = [write_collection(tmp_path / name, of_name) for name, of_name in numbers.items()]
    corpora = [files["corpus"] for files in both]
    joined = tmp_path / "joined.jsonl"
    write_jsonl(joined, (one.record() for one in joined_documents(corpora, find_union(corpora))))
    return numbers, both, joined


@pytest.mark.parametrize("model", ["whole", "constant"])
@pytest.mark.parametrize("shards", [1, 3])
def test_benchmarks_that_share_a_corpus_find_what_each_finds_alone(
    models, sharing, tmp_path, model, shards
):
    numbers, both, joined = sharing
    chosen = {"models": (model,), "settings": ("begin",)}
    together = search(
        both, tmp_path / "both", names=tuple(numbers), corpus=joined, shards=shards, **chosen
    )
    assert len(models[model].encoded) == N  # each document once for both
    # Queries benchmark by benchmark, so that a query's batch is the same as alone.
    assert models[model].asked == [90, 75] * shards
    for (name, own), files in zip(numbers.items(), both, strict=True):
        alone = search(files, tmp_path / name, names=(name,), **chosen)
        # Indices count the lines of the benchmark's own corpus, none outside it; ties go by them.
        assert_same(*(merged(found, "begin", name, 3 * len(own)) for found in (together, alone)))
        told = [read_json(path)["documents"][name] for path in together["infos"]]
        assert sum(told) == len(own)


def test_cut_evidence_adds_up_over_shards(models, files, tmp_path):
    for shards in (1, 4):
        found = search(files, tmp_path / str(shards), shards=shards)
        infos = [read_json(path)["evidence_truncated"][NAME] for path in found["infos"]]
        for setting, wanted in (("begin", 2 * N), ("uniform", 0)):
            assert sum(info[setting]["n"] for info in infos) == wanted
            assert sum(info[setting]["of"] for info in infos) == 3 * N


def test_cut_evidence_is_counted_with_its_multiplicity(monkeypatch):
    monkeypatch.setattr(corpus_search, "TOKENISED_AT_ONCE", 2)
    evidence = [("a", [5, 25, 25]), ("b", [20]), ("c", [21, 3]), ("d", [40])]
    assert count_cut(WordRetriever(20), evidence) == 4
    assert count_cut(WordRetriever(20), []) == 0


def test_excluded_documents_deepen_the_search(models, files, tmp_path):
    write_json(files["excluded"], {"d3-end": ["d3"], "d4-end": ["d4", "d5"]})
    found = search(files, tmp_path, **ONE)
    assert read_hits(found["hits"][0], NAME, 3 * N).indices.shape == (3 * N, 22)


class WideRetriever:
    """Random vectors, wide enough to see whether they are kept."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def encode_queries(self, texts):
        return self.rng.random((len(texts), 256), np.float32)

    encode_documents = encode_queries

    def truncated(self, texts, ends):
        return np.zeros(len(texts), bool)


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    n, block = 20_000, 250
    corpus = tmp_path / "corpus.jsonl"
    write_jsonl(corpus, ({"doc_id": str(i), "text": "word " * 40} for i in range(n)))
    queries = [BenchmarkQuery(f"q{i}", "word", None, (), None, None) for i in range(20)]
    model = WideRetriever()
    searches = start_searches(model, [queries], [10], HostProducts())
    tracemalloc.start()
    try:
        search_lines(model, corpus, range(n), block, searches, "test")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert searches[0].documents == n
    of_a_block = block * 256 * 4
    assert peak < 20 * of_a_block < n * 256 * 4 / 3
    assert peak < corpus.stat().st_size


def test_blocks_are_read_from_any_line(files):
    lines = [json.loads(line) for line in files["corpus"].read_text().splitlines()]
    blocks = list(corpus_blocks(files["corpus"], range(16, 45), 8))
    assert [len(block) for block in blocks] == [8, 8, 8, 5]
    read = [document for block in blocks for document in block]
    assert [(one.line, one.doc_id, one.text) for one in read] == [
        (line, lines[line]["doc_id"], lines[line]["text"]) for line in range(16, 45)
    ]
    assert count_lines(files["corpus"]) == N


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"corpus\.jsonl, line 42: not a document \(JSONDecodeError"),
        ('{"doc_id": "x"}', r"line 42: not a document \(KeyError: 'text'\)"),
        ('{"doc_id": 5, "text": "x"}', "line 42: doc_id and text must be texts"),
        ("[]", r"line 42: not a document"),
        (
            '{"doc_id": "x", "text": "x", "members": [0, 1], "rows": [3]}',
            r"line 42: not a document \(ValueError",
        ),
    ],
)
def test_a_damaged_document_is_named(models, files, tmp_path, line, message):
    lines = files["corpus"].read_text().splitlines()
    lines[41] = line
    files["corpus"].write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=message):
        search(files, tmp_path, shards=3, **ONE)
    assert not (tmp_path / "search/2/begin.npz").exists()


def test_a_corpus_that_shrinks_meanwhile_is_noticed(files):
    with pytest.raises(DataError, match="ends after 45 lines, expected 50"):
        list(corpus_blocks(files["corpus"], range(40, 50), 8))


def test_an_empty_or_absent_corpus_is_refused(models, files, tmp_path):
    files["corpus"].write_text("")
    with pytest.raises(DataError, match="the corpus is empty"):
        search(files, tmp_path, **ONE)
    files["corpus"].unlink()
    with pytest.raises(DataError, match="no such file"):
        search(files, tmp_path, **ONE)


def test_a_vector_without_length_is_named_by_its_line_in_the_whole_corpus(models, files, tmp_path):
    whole = models["whole"].encode_documents

    def broken(texts):
        vectors = whole(texts)
        vectors[["begin030" in text for text in texts]] = np.nan
        return vectors

    models["whole"].encode_documents = broken
    with pytest.raises(DataError, match=r"document 30 \(counted from 0\) has a vector of length"):
        search(files, tmp_path, shards=3, **ONE)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"depth": 0}, "depth must be a whole number of at least 1, is 0"),
        ({"block_documents": 2.5}, r"block_documents must be a whole number .* is 2\.5"),
        ({"blocks": 4}, "blocks is unknown"),
    ],
)
def test_settings_of_a_search_are_checked(models, files, tmp_path, changed, message):
    with pytest.raises(ConfigError, match=message):
        search(files, tmp_path, **ONE, **changed)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"query_id": "d1-end"', '"query_id": "d1-begin"', "query 'd1-begin' occurs twice"),
        ('"text": "end001"', '"text": " "', "query 'd1-end' has no text"),
    ],
)
def test_queries_are_checked_before_anything_is_encoded(models, files, tmp_path, old, new, message):
    files["queries"].write_text(files["queries"].read_text().replace(old, new))
    with pytest.raises(DataError, match=message):
        search(files, tmp_path, **ONE)
    assert models["whole"].encoded == []


def test_a_checkpoint_of_another_training_is_refused(files, tmp_path, monkeypatch):
    from posbias.models.checkpoints import checked_settings

    install(monkeypatch, toy_models())
    monkeypatch.setattr(search_corpus, "checked_settings", checked_settings)
    (tmp_path / "whole").mkdir()
    write_json(tmp_path / "whole/posbias.json", {"retriever": "bert", "setting": "end"})
    with pytest.raises(DataError, match="holds retriever bert, setting end, not"):
        search(files, tmp_path, **ONE)
