"""The two scripts of the verification: shards, killed jobs, counts, and memory at size."""

import itertools
import shutil
import tracemalloc

import numpy as np
import pytest

import filter_candidates
import score_candidates
from posbias.corpus.segments import segment_texts
from posbias.errors import DataError
from posbias.files import read_json, read_jsonl, sha256_file, write_json, write_jsonl
from posbias.models import pinned_files
from posbias.queries import verify as verify_module
from posbias.queries.kept_scores import KeptMember
from posbias.queries.panel import PanelScores
from posbias.queries.panel_counts import PanelCounts
from small_cross_encoder import save_random
from test_verify import PANEL, by_query, run_filter, run_scoring, scored, write_corpus

CROSS = [
    {"name": "ce", "kind": "cross_encoder", "activation": {"name": "logistic"},
     "options": {"model": "tiny", "max_tokens": 40, "batch_tokens": 400}},
]  # fmt: skip


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory):
    return save_random(tmp_path_factory.mktemp("random") / "tiny")


@pytest.fixture
def built(monkeypatch):
    """The members that the script builds, with what they are given and asked."""
    members = []
    make = score_candidates.make_member

    def watched(name, kind, segments, options):
        member = make(name, kind, segments, options)
        member.given, member.asked, score = segments, [], member.score
        members.append(member)

        def score_and_note(queries, documents):
            member.asked.append(len(queries))
            return score(queries, documents)

        member.score = score_and_note
        return member

    monkeypatch.setattr(score_candidates, "make_member", watched)
    return members


def shares(folder, documents, seed=42, shards=3):
    """The segments of each shard's training documents."""
    from posbias.keyed import keyed_unit

    homes = [[] for _ in range(shards)]
    for document in documents:
        if document["split"] == "train":
            home = int(keyed_unit(seed, "shard", document["doc_id"]) * shards)
            homes[home].append(segment_texts(document["text"]))
    return homes


def test_a_shard_holds_its_own_documents_only(tmp_path, cross_encoder, built):
    documents, candidates = write_corpus(tmp_path)
    parts = run_scoring(tmp_path, cross_encoder, shards=3, panel=CROSS)
    assert [member.given for member in built] == shares(tmp_path, documents)
    whole = by_query(run_scoring(tmp_path, cross_encoder, panel=CROSS))
    found = by_query(parts)
    train = {d["doc_id"] for d in documents if d["split"] == "train"}
    assert set(found) == {c["query_id"] for c in candidates if c["doc_id"] in train} == set(whole)
    for query_id, record in found.items():
        assert record["raw"]["ce"] == pytest.approx(whole[query_id]["raw"]["ce"], abs=1e-5)
        assert record["cut"] == whole[query_id]["cut"]


def test_bm25_sees_the_whole_corpus_in_every_shard(tmp_path, tiny_encoder, built):
    documents, _ = write_corpus(tmp_path)
    run_scoring(tmp_path, tiny_encoder, shards=3)
    train = [segment_texts(d["text"]) for d in documents if d["split"] == "train"]
    assert all(member.given == train for member in built)


def test_score_files_hold_logits_and_margins_of_probabilities(tmp_path, cross_encoder):
    write_corpus(tmp_path)
    records = by_query(run_scoring(tmp_path, cross_encoder, panel=CROSS)).values()
    raw = np.array([record["raw"]["ce"] for record in records])
    assert raw.min() < -0.5 and raw.max() > 1.5  # no probabilities
    for record in records:
        target = ["begin", "middle", "end"].index(record["position"])
        once = 1 / (1 + np.exp(-np.array(record["raw"]["ce"])))
        best = max(np.delete(once, target))
        assert record["margins"]["ce"] == pytest.approx(once[target] - best, abs=1e-5)


def test_a_query_about_an_unknown_document_is_refused(tmp_path, cross_encoder):
    _, candidates = write_corpus(tmp_path)
    candidates[7]["doc_id"] = "gone"
    write_jsonl(tmp_path / "candidates.jsonl", candidates)
    with pytest.raises(DataError, match=f"query {candidates[7]['query_id']} is about .* gone"):
        run_scoring(tmp_path, cross_encoder, panel=CROSS)


# A killed job


class Killed(Exception):
    pass


@pytest.mark.parametrize("after", [1, 3])
def test_a_killed_job_goes_on_where_it_was(tmp_path, cross_encoder, built, monkeypatch, after):
    write_corpus(tmp_path)
    monkeypatch.setattr(verify_module, "CHUNK", 7)
    panel = [*CROSS, {**CROSS[0], "name": "again", "options": {**CROSS[0]["options"],
                                                               "max_tokens": 30}}]  # fmt: skip
    (expected,) = run_scoring(tmp_path, cross_encoder, panel=panel)
    expected_bytes, calls = expected.read_bytes(), sum(len(member.asked) for member in built)
    assert calls >= 6
    expected.unlink()
    built.clear()
    score, count = KeptMember.score, itertools.count()

    def dying(self, queries, documents):
        if next(count) == after:
            raise Killed
        return score(self, queries, documents)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(KeptMember, "score", dying)
        run_scoring(tmp_path, cross_encoder, panel=panel)
    assert not expected.exists()
    assert sum(len(member.asked) for member in built) == after
    built.clear()
    run_scoring(tmp_path, cross_encoder, panel=panel)
    assert expected.read_bytes() == expected_bytes
    assert sum(len(member.asked) for member in built) == calls - after
    assert not (tmp_path / "resume").exists()


class Counting:
    """Scores by the length of the query and counts how often it is asked."""

    def __init__(self, value=1.0):
        self.name, self.value, self.calls = "x", value, 0

    def score(self, queries, documents):
        self.calls += 1
        raw = np.array([[len(query) * self.value, index, 0] for query, index in
                        zip(queries, documents, strict=True)])  # fmt: skip
        return PanelScores(raw, np.ones(raw.shape, int))


SEGMENTS = [("a", "b", "c"), ("d", "e", "f"), ("a", "b", "c")]
QUERIES, DOCUMENTS = ["ab", "cde"], np.array([0, 1])


def kept(folder, member, segments=SEGMENTS, settings=("ce", 1)):
    return KeptMember("x", lambda: member, segments, settings, folder)


def test_kept_scores_are_taken_as_they_were(tmp_path):
    first, second = Counting(), Counting()
    there = kept(tmp_path, first).score(QUERIES, DOCUMENTS)
    back = kept(tmp_path, second).score(QUERIES, DOCUMENTS)
    assert (first.calls, second.calls) == (1, 0)
    assert [part.tolist() for part in back] == [part.tolist() for part in there]


@pytest.mark.parametrize(
    ("queries", "documents", "changes"),
    [
        (["ab", "cdf"], [0, 1], {}),
        (["cde", "ab"], [0, 1], {}),
        (QUERIES, [1, 0], {}),
        (QUERIES, [0, 0], {}),
        (QUERIES, [0, 1], {"settings": ("ce", 2)}),
        (QUERIES, [0, 1], {"segments": [("a", "b", "c"), ("d", "e", "g")]}),
        (["ab"], [0], {}),
    ],
)
def test_scores_of_anything_else_are_not_taken(tmp_path, queries, documents, changes):
    kept(tmp_path, Counting()).score(QUERIES, DOCUMENTS)
    other = Counting()
    kept(tmp_path, other, **changes).score(queries, np.array(documents))
    assert other.calls == 1


def test_scores_that_are_no_numbers_are_not_kept(tmp_path):
    kept(tmp_path, Counting(np.inf)).score(QUERIES, DOCUMENTS)
    good = Counting()
    assert np.isfinite(kept(tmp_path, good).score(QUERIES, DOCUMENTS).raw).all()
    assert good.calls == 1


def test_another_model_in_the_same_folder_is_another_setting(tmp_path, cross_encoder):
    before = score_candidates.files_state(cross_encoder)
    copy = save_random(tmp_path / "tiny", initializer_range=0.4)
    assert score_candidates.files_state(cross_encoder) == before
    assert score_candidates.files_state(copy) != before


def pin(folder):
    """Write the list of a download."""
    files = [{"path": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size,
              "sha256": sha256_file(path)}
             for path in sorted(folder.rglob("*")) if path.is_file()]  # fmt: skip
    manifest = {"name": "tiny", "repo": "owner/tiny", "type": "model", "revision": "0" * 40,
                "licence": None, "files": files, "total_bytes": 0}  # fmt: skip
    write_json(folder / "manifest.json", manifest)


@pytest.mark.parametrize("kind", ["cross_encoder", "cosine"])
def test_weights_of_a_download_are_those_of_its_list(
    tmp_path, cross_encoder, tiny_encoder, kind, monkeypatch
):
    write_corpus(tmp_path)
    source = cross_encoder if kind == "cross_encoder" else tiny_encoder
    folder = shutil.copytree(source, tmp_path / "tiny")
    options = {"cross_encoder": CROSS[0]["options"], "cosine": {"model": "tiny", "batch_size": 8}}
    panel = [{**CROSS[0], "kind": kind, "options": options[kind]}]
    pin(folder)
    hashed = []
    monkeypatch.setattr(
        pinned_files, "sha256_file", lambda path: hashed.append(path) or sha256_file(path)
    )
    run_scoring(tmp_path, folder, panel=panel)
    assert hashed.count(folder / "model.safetensors") == 1
    raw = bytearray((folder / "model.safetensors").read_bytes())
    raw[-3] ^= 1
    (folder / "model.safetensors").write_bytes(bytes(raw))
    with pytest.raises(DataError, match=r"tiny/model\.safetensors: corrupted.*Delete .*tiny"):
        run_scoring(tmp_path, folder, panel=panel)


# The filter


def test_cut_tokens_are_counted_per_member(tmp_path):
    counts = PanelCounts(["bm25", "tiny"])
    counts.add(scored("a", position="end", cut={"tiny": [0, 0, 5]}))
    counts.add(scored("b", position="begin", cut={"tiny": [0, 2, 1]}))
    counts.add(scored("c", consensus=-1.0))
    assert counts.pairs_scored == 3 * 5
    assert counts.cut() == {
        "bm25": {"pairs": 9, "pairs_cut": 0, "tokens_cut": 0, "targets_cut": 0},
        "tiny": {"pairs": 6, "pairs_cut": 3, "tokens_cut": 8, "targets_cut": 1},
    }


def test_the_summary_tells_what_was_cut(tmp_path, cross_encoder):
    write_corpus(tmp_path)
    scores = run_scoring(tmp_path, cross_encoder, shards=2, panel=CROSS)
    names = ("pool.jsonl", "statistics.csv", "cells.csv", "summary.json")
    filter_candidates.main(
        tmp_path / "candidates.jsonl", scores, *(tmp_path / name for name in names),
        delta=0.0, thresholds=[0.0], panel=CROSS, bins=["20-99"],
    )  # fmt: skip
    records = by_query(scores).values()
    cut = [record["cut"]["ce"] for record in records if record["cut"]]
    counted = read_json(tmp_path / "summary.json")["cut"]["ce"]
    assert counted["tokens_cut"] == sum(map(sum, cut)) > 0
    assert 0 < counted["pairs_cut"] < counted["pairs"] == 3 * len(records)


def test_a_query_that_was_scored_twice_is_refused(tmp_path):
    write_jsonl(tmp_path / "0.jsonl", [scored("a"), scored("b")])
    write_jsonl(tmp_path / "1.jsonl", [scored("c"), scored("a")])
    write_jsonl(tmp_path / "candidates.jsonl", [])
    with pytest.raises(DataError, match="1 of 4 scored queries stand twice"):
        run_filter(tmp_path, [tmp_path / "0.jsonl", tmp_path / "1.jsonl"])


def test_the_filter_keeps_numbers_not_records(tmp_path):
    n = 20_000
    path = tmp_path / "scores.jsonl"
    write_jsonl(path, (scored(f"q{i:08d}", consensus=(i % 100) / 100 - 0.5) for i in range(n)))
    tracemalloc.start()
    counts = PanelCounts(member["name"] for member in PANEL)
    consensus, _, passed = filter_candidates.read_scores([path], 0.3, counts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(passed) == n // 5 == (consensus >= 0.3).sum()
    # A record alone is over a kilobyte.
    assert peak / n < 150


def test_the_pool_is_written_as_it_is_read(tmp_path, tiny_encoder):
    _, candidates = write_corpus(tmp_path)
    scores = run_scoring(tmp_path, tiny_encoder)
    pool, *_ = run_filter(tmp_path, scores, delta=0.05)
    assert pool == [c for c in candidates if c["query_id"] in {q["query_id"] for q in pool}]
    assert read_jsonl(tmp_path / "pool.jsonl") == pool
