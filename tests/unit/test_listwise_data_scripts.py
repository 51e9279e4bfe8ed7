"""From texts to runs: the scripts that make passages, vectors, queries and first stages."""

import json
from collections import Counter

import ir_measures
import numpy as np
import pytest
from safetensors.numpy import load_file

import embed_passages
import make_listwise_queries
import search_first_stages
import select_passages
from listwise_settings import BM25, CLOZE, COLLECTIONS, DEPTH, ENCODERS, SEED, STAGES, WordEncoder
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, read_jsonl, write_jsonl
from posbias.models.encoder import load_encoder
from posbias.retrieval.trec import check_run, read_qrels, read_run


def test_passages_are_those_of_their_source(listwise_chain):
    chain = listwise_chain
    for corpus, n in (("train", 24), ("heldout", 14), ("leads", 14)):
        passages = read_jsonl(chain.corpus(corpus, "passages.jsonl"), ("doc_id", "title", "text"))
        summary = read_json(chain.corpus(corpus, "summary.json"))
        lengths = [len(passage["text"]) for passage in passages]
        assert len(passages) == summary["passages"] == n
        assert summary["characters"] == {
            "least": min(lengths),
            "most": max(lengths),
            "all": sum(lengths),
        }
        prefix = {"leads": "lead-"}.get(corpus, corpus)
        assert all(passage["doc_id"].startswith(prefix) for passage in passages)
    assert summary["dropped"] == {"above the limit": 2}


@pytest.mark.parametrize(
    ("corpus", "fault", "message"),
    [
        ({"source": "documents", "split": "test"}, DataError, "no document of the split 'test'"),
        ({"source": "web"}, ConfigError, "source 'web' is neither documents nor leads"),
    ],
)
def test_a_source_that_does_not_exist_is_named(listwise_chain, tmp_path, corpus, fault, message):
    arguments = listwise_chain.select_arguments("train") | {
        "corpus": corpus,
        "passages": tmp_path / "passages.jsonl",
        "summary": tmp_path / "summary.json",
    }
    with pytest.raises(fault, match=message):
        select_passages.main(**arguments)
    assert not any(tmp_path.iterdir())


def test_a_vector_for_each_passage_and_one_for_none(listwise_chain):
    passages = read_jsonl(listwise_chain.corpus("heldout", "passages.jsonl"))
    found = load_file(str(listwise_chain.corpus("heldout", "vectors.safetensors")))
    assert set(found) == {*ENCODERS, *(f"placeholder_{name}" for name in ENCODERS)}
    for name in ENCODERS:
        encoder = WordEncoder(listwise_chain.root / name)
        for text, vector in [
            *((p["text"], v) for p, v in zip(passages, found[name], strict=True)),
            ("N/A", found[f"placeholder_{name}"][0]),
        ]:
            wanted = encoder.encode([text], 1, False)[0]
            np.testing.assert_allclose(vector, wanted / np.linalg.norm(wanted), atol=1e-6)


def test_an_encoders_folder_gives_its_vectors_their_name(tiny_encoder, listwise_chain, tmp_path):
    embed_passages.main(
        passages=listwise_chain.corpus("heldout", "passages.jsonl"),
        encoders=[tiny_encoder],
        vectors=tmp_path / "vectors.safetensors",
        placeholder="N/A",
        max_tokens=16,
        batch_size=4,
        threads=1,
    )
    found = load_file(str(tmp_path / "vectors.safetensors"))
    encoder = load_encoder(tiny_encoder)
    encoder.max_seq_length = 16
    texts = [p["text"] for p in read_jsonl(listwise_chain.corpus("heldout", "passages.jsonl"))]
    wanted = encoder.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    assert set(found) == {"tiny", "placeholder_tiny"}
    np.testing.assert_allclose(found["tiny"], wanted, atol=1e-5)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_each_query_is_judged_by_the_passage_it_was_made_for(listwise_chain, name):
    queries = read_jsonl(listwise_chain.collection(name, "queries.jsonl"), ("query_id", "doc_id"))
    qrels = read_qrels(listwise_chain.collection(name, "qrels.txt"))
    assert qrels == {query["query_id"]: {query["doc_id"]: 1} for query in queries}
    summary = read_json(listwise_chain.collection(name, "summary.json"))
    assert summary["queries"] == len(queries) <= 40
    assert summary["positions"] == Counter(
        position for query in queries for position in query["positions"]
    )
    assert summary["kind"] == ("titles" if name == "titles" else "cloze")


def test_queries_of_an_unknown_kind_leave_nothing(listwise_chain, tmp_path, monkeypatch):
    monkeypatch.setattr(make_listwise_queries, "load_encoder", WordEncoder)
    with pytest.raises(ConfigError, match="neither cloze nor titles"):
        make_listwise_queries.main(
            passages=listwise_chain.corpus("heldout", "passages.jsonl"),
            encoder=tmp_path / "one",
            queries=tmp_path / "queries.jsonl",
            qrels=tmp_path / "qrels.txt",
            summary=tmp_path / "summary.json",
            kind="both",
            cloze=CLOZE,
            limit=5,
            seed=SEED,
            batch_size=8,
            threads=1,
        )
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", COLLECTIONS)
def test_runs_fall_strictly_and_evaluators_read_them_as_we_do(listwise_chain, name):
    known = {p["doc_id"] for p in read_jsonl(listwise_chain.files(name)["passages"])}
    for stage in STAGES:
        path = listwise_chain.run(name, stage)
        run = read_run(path)
        check_run(run)
        assert all(1 <= len(ranked) <= DEPTH for ranked in run.values())
        assert all(known >= set(ranked) for ranked in run.values())
        theirs: dict[str, dict[str, float]] = {}
        for row in ir_measures.read_trec_run(str(path)):
            theirs.setdefault(row.query_id, {})[row.doc_id] = row.score
        assert theirs == run
        for ranked in theirs.values():
            single = np.float32(list(ranked.values()))
            assert (np.diff(single) < 0).all()
        assert {line.split()[5] for line in path.read_text().splitlines()} == {stage}


def test_dense_runs_are_the_order_of_the_cosines(listwise_chain):
    files = listwise_chain.files("wiki")
    offered = load_file(str(files["vectors"]))["one"].astype(np.float64)
    asked = load_file(str(files["query_vectors"]))["one"].astype(np.float64)
    doc_ids = [passage["doc_id"] for passage in read_jsonl(files["passages"])]
    run = read_run(listwise_chain.run("wiki", "one"))
    for query, vector in zip(read_jsonl(files["queries"]), asked, strict=True):
        best = np.argsort(-(offered @ vector), kind="stable")[:DEPTH]
        assert list(run[query["query_id"]]) == [doc_ids[row] for row in best]


def test_a_query_without_a_known_word_is_no_part_of_the_lexical_run(listwise_chain):
    lost = next(
        query["query_id"]
        for query in read_jsonl(listwise_chain.collection("wiki", "queries.jsonl"))
        if query["text"] == "zyzzyva"
    )
    assert lost not in read_run(listwise_chain.run("wiki", "bm25"))
    assert len(read_run(listwise_chain.run("wiki", "one"))[lost]) == DEPTH
    dense, fused = (read_run(listwise_chain.run("wiki", stage))[lost] for stage in ("one", "rrf"))
    assert list(fused) == list(dense)


@pytest.fixture
def search(listwise_chain, tmp_path, monkeypatch):
    """Return a function that searches the wiki collection again, with changed arguments."""
    monkeypatch.setattr(search_first_stages, "load_encoder", WordEncoder)

    def again(**changed):
        search_first_stages.main(**listwise_chain.search_arguments("wiki", tmp_path) | changed)

    return again


def test_the_same_search_twice_gives_the_same_bytes(search, listwise_chain, tmp_path):
    search()
    for file in ("vectors.safetensors", *(f"runs/{stage}.txt" for stage in STAGES)):
        before = listwise_chain.collection("wiki", file).read_bytes()
        assert (tmp_path / file).read_bytes() == before


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        ({"kind": "magic", "options": {}}, "kind 'magic' is none of bm25, dense, fusion"),
        ({"kind": "dense", "options": {"encoder": "three"}}, "encoder 'three' is not prepared"),
        ({"kind": "fusion", "options": {"of": ["one"], "k": 60}}, "fuses one, which must stand"),
        ({"kind": "bm25", "options": {**BM25, "k3": 1}}, r"first_stages.bm25: .*'k3'"),
    ],
)
def test_a_first_stage_that_cannot_work_is_named(search, tmp_path, stage, message):
    with pytest.raises(ConfigError, match=message):
        search(stages={"bm25": stage, **{name: STAGES[name] for name in ("one", "rrf")}})
    assert not any(tmp_path.iterdir())


def test_vectors_of_other_passages_are_refused(search, listwise_chain):
    with pytest.raises(DataError, match="one should hold 14 rows, found 24 rows"):
        search(vectors=listwise_chain.files("train")["vectors"])


def test_a_faulty_query_is_named_by_line(search, listwise_chain, tmp_path):
    records = read_jsonl(listwise_chain.files("wiki")["queries"])
    del records[2]["text"]
    write_jsonl(tmp_path / "queries.jsonl", records)
    with pytest.raises(DataError, match=r"queries.jsonl, line 3: the field\(s\) text are missing"):
        search(queries=tmp_path / "queries.jsonl")
    (tmp_path / "queries.jsonl").write_text(json.dumps(records[0])[:-5])
    with pytest.raises(DataError, match=r"queries.jsonl, line 1: not a JSON object"):
        search(queries=tmp_path / "queries.jsonl")
