"""Verification: margins, strata, the cascade's equality with full scoring, the paper's Table 6."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import filter_candidates
import score_candidates
from posbias.corpus.segments import POSITIONS, segment_texts
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, read_jsonl, write_jsonl
from posbias.queries import verify as verify_module
from posbias.queries.activations import clip, logistic, make_activation, saturate
from posbias.queries.filter_statistics import filter_statistics, pool_table
from posbias.queries.margins import consensus_margin, strata, target_margins
from posbias.queries.panel import PanelScores, make_member
from posbias.queries.verify import Verification, verify

THRESHOLDS = [0.0, 0.1, 0.2, 0.3]
# Eighths make ties and margins of exactly zero likely.
EIGHTHS = st.integers(0, 8).map(lambda n: n / 8)
SCORES = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        arrays(float, st.tuples(st.integers(1, 3), st.just(n), st.just(3)), elements=EIGHTHS),
        arrays(int, n, elements=st.integers(0, 2)),
        arrays(int, n, elements=st.integers(0, 4)),
    )
)


class TableMember:
    """Looks its scores up; a query is the number of its row."""

    def __init__(self, number: int, table: np.ndarray) -> None:
        self.name, self.table, self.asked = f"member{number}", table, []

    def score(self, queries, documents):
        assert len(queries) == len(documents)
        rows = [int(query) for query in queries]
        self.asked += rows
        cut = np.tile(np.array(rows)[:, None], 3) % 2  # so that cut tokens can be told apart
        return PanelScores(self.table[rows], cut)


def verified(tables, targets, documents, cascade, activation=clip):
    members = [TableMember(number, table) for number, table in enumerate(tables)]
    panel = [(lambda m=member: m, activation) for member in members]
    queries = [str(row) for row in range(len(targets))]
    ids = [f"q{row}" for row in range(len(targets))]
    return verify(ids, queries, documents, targets, panel, cascade), members


@given(SCORES)
def test_margins_in_closed_form(data):
    tables, targets, _ = data
    for table in tables:
        for row, (scores, target) in enumerate(zip(table, targets, strict=True)):
            others = [score for column, score in enumerate(scores) if column != target]
            assert target_margins(table, targets)[row] == scores[target] - max(others)


def test_margins_leave_the_scores_alone():
    scores = np.array([[0.9, 0.2, 0.5]])
    assert target_margins(scores, np.array([0])).tolist() == pytest.approx([0.4])
    assert scores.tolist() == [[0.9, 0.2, 0.5]]


def test_a_score_that_is_no_number_is_refused():
    scores = np.array([[0.1, 0.2, 0.3], [0.1, np.nan, 0.3]])
    with pytest.raises(DataError, match="query 1"):
        target_margins(scores, np.array([0, 0]))


@given(SCORES)
def test_full_scoring_takes_the_least_margin_of_the_panel(data):
    tables, targets, documents = data
    found, _ = verified(tables, targets, documents, cascade=False)
    margins = np.array([target_margins(table, targets) for table in tables])
    assert found.margins.tolist() == margins.tolist()
    assert found.consensus.tolist() == margins.min(axis=0).tolist()
    assert found.raw.tolist() == tables.tolist()
    assert found.cut.tolist() == [[[row % 2] * 3 for row in range(len(targets))]] * len(tables)
    assert found.pairs_scored == 3 * tables.shape[0] * len(targets)


@given(SCORES)
def test_the_cascade_equals_full_scoring(data):
    tables, targets, documents = data
    full, _ = verified(tables, targets, documents, cascade=False)
    spared, members = verified(tables, targets, documents, cascade=True)
    assert strata(spared.consensus, THRESHOLDS).tolist() == (
        strata(full.consensus, THRESHOLDS).tolist()
    )
    passed = full.consensus >= 0
    assert (spared.consensus >= 0).tolist() == passed.tolist()
    assert spared.consensus[passed].tolist() == full.consensus[passed].tolist()
    assert spared.raw[:, passed].tolist() == full.raw[:, passed].tolist()
    # What was scored is right, what was not is not a number, and only later members are spared.
    known = ~np.isnan(spared.margins)
    assert spared.margins[known].tolist() == full.margins[known].tolist()
    assert (np.diff(known.astype(int), axis=0) <= 0).all()
    assert known[0].all()
    assert spared.pairs_scored == 3 * sum(len(member.asked) for member in members)
    assert spared.pairs_scored == 3 * known.sum() <= full.pairs_scored
    filters = filter_statistics(spared.consensus, [POSITIONS[t] for t in targets], THRESHOLDS)
    pd.testing.assert_frame_equal(
        filters, filter_statistics(full.consensus, [POSITIONS[t] for t in targets], THRESHOLDS)
    )


def test_the_cascade_spares_the_later_members():
    tables = np.zeros((3, 4, 3))
    tables[:, :, 0] = 1.0  # all prefer the first segment ...
    tables[0, 1] = [0, 1, 0]  # ... but one query fails at once, one at the second member
    tables[1, 2] = [0, 1, 0]
    targets, documents = np.zeros(4, int), np.array([3, 0, 2, 1])
    found, members = verified(tables, targets, documents, cascade=True)
    assert [sorted(member.asked) for member in members] == [[0, 1, 2, 3], [0, 2, 3], [0, 3]]
    assert found.pairs_scored == 3 * 9
    assert found.consensus.tolist() == [1, -1, -1, 1]
    # Queries of one document come together.
    assert members[0].asked == [1, 3, 2, 0]


def test_a_margin_of_zero_passes_on():
    tables = np.full((2, 1, 3), 0.5)
    found, members = verified(tables, np.array([0]), np.array([0]), cascade=True)
    assert [member.asked for member in members] == [[0], [0]]
    assert found.consensus.tolist() == [0]


@given(SCORES, st.integers(1, 7))
def test_the_size_of_a_chunk_does_not_matter(data, size):
    tables, targets, documents = data
    whole, _ = verified(tables, targets, documents, cascade=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify_module, "CHUNK", size)
        parts, _ = verified(tables, targets, documents, cascade=True)
    np.testing.assert_array_equal(parts.raw, whole.raw)
    np.testing.assert_array_equal(parts.consensus, whole.consensus)


@pytest.mark.parametrize("cascade", [True, False])
def test_no_queries_are_no_fault(cascade):
    none = np.zeros(0, int)
    found, _ = verified(np.zeros((2, 0, 3)), none, none, cascade)
    assert found.consensus.shape == (0,)
    assert found.pairs_scored == 0


def test_a_member_is_built_when_its_turn_comes():
    built = []

    def build(number):
        built.append(number)
        return member(number)

    def member(number):
        class Watching(TableMember):
            def score(self, queries, documents):
                assert built == list(range(number + 1))
                return super().score(queries, documents)

        return Watching(number, np.array([[1.0, 0.0, 0.0]]))

    panel = [(lambda n=n: build(n), clip) for n in range(3)]
    found = verify(["q"], ["0"], np.array([0]), np.array([0]), panel, cascade=True)
    assert found.members == ("member0", "member1", "member2")


@pytest.mark.parametrize("fault", [np.nan, np.inf, -np.inf])
def test_queries_without_a_finite_score_are_named(fault):
    table = np.zeros((9, 3))
    table[[1, 8], [0, 2]] = fault
    with pytest.raises(DataError, match=r"member0: no finite score for q1, q8; look"):
        verified([table], np.zeros(9, int), np.zeros(9, int), cascade=True)
    table[2:8] = fault
    with pytest.raises(DataError, match=r"for q1, q2, q3, q4, q5 and 3 more; look"):
        verified([table], np.zeros(9, int), np.arange(9), cascade=True)


def test_consensus_ignores_only_members_that_did_not_score():
    margins = np.array([[0.3, -0.2, 0.1], [0.1, np.nan, 0.4]])
    assert consensus_margin(margins).tolist() == [0.1, -0.2, 0.1]


def test_strata_count_the_thresholds_reached():
    margins = np.array([-0.1, 0.0, 0.05, 0.1, 0.29, 0.3, 1.0])
    assert strata(margins, THRESHOLDS).tolist() == [0, 1, 1, 2, 3, 4, 4]


# Activations


RAW = arrays(float, st.integers(1, 30), elements=st.floats(-50, 50))


@given(RAW)
def test_activations_in_closed_form(raw):
    assert clip(raw).tolist() == [min(1, max(0, score)) for score in raw]
    assert saturate(np.abs(raw), 8.0) == pytest.approx([abs(s) / (abs(s) + 8) for s in raw])
    assert logistic(raw, 1.0, 2.0) == pytest.approx(
        [1 / (1 + math.exp(-(score - 1) / 2)) for score in raw]
    )


@pytest.mark.parametrize(
    "spec", [{"name": "clip"}, {"name": "logistic"}, {"name": "saturate", "half": 3.0}]
)
@given(RAW)
def test_activations_keep_order_and_range(spec, raw):
    raw = np.abs(raw) if spec["name"] == "saturate" else raw
    activated = make_activation(spec)(np.sort(raw))
    assert ((activated >= 0) & (activated <= 1)).all()
    assert (np.diff(activated) >= 0).all()


LOGITS = arrays(float, st.tuples(st.integers(1, 30), st.just(3)), elements=st.floats(-9, 9))


@given(LOGITS, st.data())
def test_a_margin_of_logits_is_not_a_margin_of_probabilities(logits, data):
    targets = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(logits),
                                          max_size=len(logits))))  # fmt: skip
    raw, activated = (target_margins(x, targets) for x in (logits, logistic(logits)))
    # The logistic curve is nowhere steeper than 1/4, so .3 of probability is 1.2 of logit.
    assert (raw[activated >= 0.3] >= 1.2 - 1e-9).all()
    assert ((raw >= 0) == (activated >= 0)).all() or np.abs(raw).min() < 1e-9


def test_delta_keeps_more_logits_than_probabilities():
    logits = np.array([[1.0, 0.0, 0.0], [1.5, 0.0, -9.0], [0.1, 0.0, 0.0], [9.0, 5.0, 5.0]])
    target = np.zeros(4, int)
    assert (target_margins(logits, target) >= 0.3).tolist() == [True, True, False, True]
    assert (target_margins(logistic(logits), target) >= 0.3).tolist() == [False, True, False, False]
    assert target_margins(logistic(logits), target)[0] == pytest.approx(0.2310586)


def test_half_is_the_raw_score_that_becomes_one_half():
    assert saturate(np.array([0.0, 8.0]), 8.0).tolist() == [0.0, 0.5]


def test_an_activation_applied_twice_shows():
    logits = np.array([-8.0, 8.0])
    once = logistic(logits)
    assert once == pytest.approx([0, 1], abs=1e-3)
    # Twice, everything lies between .5 and .73, and no margin reaches the paper's .3.
    twice = logistic(once)
    assert twice == pytest.approx([0.5, 0.731], abs=1e-3)
    scores = np.array([[8.0, -8.0, -8.0]])
    target = np.array([0])
    assert target_margins(logistic(scores), target)[0] > 0.99
    assert target_margins(logistic(logistic(scores)), target)[0] < 0.3
    assert saturate(saturate(np.array([8.0]), 8.0), 8.0)[0] < 0.06


@pytest.mark.parametrize(
    ("spec", "scores", "message"),
    [
        ({"name": "softmax"}, [0.5], "'softmax' does not exist; known: clip, logistic, saturate"),
        ({}, [0.5], "does not exist"),
        ({"name": "saturate", "half": 8.0}, [-0.1], "at least 0"),
        ({"name": "saturate", "half": 0}, [0.5], "half above 0"),
        ({"name": "logistic", "width": 0}, [0.5], "width above 0"),
        ({"name": "saturate", "hlaf": 8.0}, [0.5], "half"),
        ({"name": "clip", "half": 8.0}, [0.5], "half"),
    ],
)
def test_activations_that_cannot_work_are_refused(spec, scores, message):
    with pytest.raises(ConfigError, match=message):
        make_activation(spec)(np.array(scores))


# Table 6 and Tables 1 and 8


def test_filter_statistics_by_hand():
    consensus = np.array([-0.5, -0.1, 0.0, 0.05, 0.15, 0.3, 0.9, 0.3])
    positions = ["begin", "end", "begin", "middle", "end", "begin", "begin", "end"]
    table = filter_statistics(consensus, positions, [0.0, 0.1, 0.3])
    assert table["filter"].tolist() == [
        "generated", "failed (margin < 0)", "margin >= 0", "margin >= 0.1", "margin >= 0.3"
    ]  # fmt: skip
    assert table["kept"].tolist() == [8, 2, 6, 4, 3]
    assert table["share"].tolist() == [100, 25, 75, 50, 37.5]
    assert table["begin"].tolist() == [4, 1, 3, 2, 2]
    assert table["middle"].tolist() == [1, 0, 1, 0, 0]
    assert table["end"].tolist() == [3, 1, 2, 2, 1]
    assert table["end_share"].tolist() == pytest.approx([37.5, 50, 100 / 3, 50, 100 / 3])


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.sampled_from(POSITIONS)), max_size=40),
    st.lists(EIGHTHS, min_size=1, max_size=4, unique=True).map(sorted),
)
def test_strata_are_nested_and_shares_add_up(rows, thresholds):
    margins = np.array([margin for margin, _ in rows], dtype=float)
    table = filter_statistics(margins, [p for _, p in rows], thresholds).set_index("filter")
    counts = table[list(POSITIONS)]
    assert counts.sum(axis=1).tolist() == table["kept"].tolist()
    kept = [f"margin >= {threshold:g}" for threshold in thresholds]
    assert all((counts.loc[a] >= counts.loc[b]).all() for a, b in pairwise(kept))
    assert table.loc["generated", "kept"] == len(rows)
    if thresholds[0] == 0:
        passed = table.loc["margin >= 0", "kept"] + table.loc["failed (margin < 0)", "kept"]
        assert passed == len(rows)
    for _, row in table.iterrows():
        assert sum(row[f"{p}_share"] for p in POSITIONS) == pytest.approx(100 if row["kept"] else 0)


def test_the_papers_table_6():
    # Kept queries by margin and position; those of a failed query are not printed.
    kept = [(925_013, 523_440, 553_708), (754_366, 295_120, 335_836),
            (539_882, 149_127, 180_729), (335_650, 62_904, 82_682), (0, 0, 0)]  # fmt: skip
    margins, positions = [np.full(945_845, -0.5)], [np.full(945_845, "begin")]
    for threshold, here, above in zip(THRESHOLDS, kept, kept[1:], strict=False):
        for position, most, fewer in zip(POSITIONS, here, above, strict=True):
            margins.append(np.full(most - fewer, threshold + 0.05))
            positions.append(np.full(most - fewer, position))
    table = filter_statistics(np.concatenate(margins), np.concatenate(positions), THRESHOLDS)
    assert table["kept"].tolist() == [2_948_006, 945_845, 2_002_161, 1_385_322, 869_738, 481_236]
    assert table["share"].round(2).tolist() == [100, 32.08, 67.92, 46.99, 29.50, 16.32]
    shares = table.loc[2:, [f"{p}_share" for p in POSITIONS]].round(2)
    assert shares.to_numpy().tolist() == [
        [46.20, 26.14, 27.66], [54.45, 21.30, 24.24], [62.07, 17.15, 20.78], [69.75, 13.07, 17.18]
    ]  # fmt: skip


def test_the_papers_tables_1_and_8_add_up():
    printed = {
        "256-512": (105_652, 13_934, 21_405),
        "512-1024": (86_495, 16_660, 21_427),
        "1024-2048": (60_357, 13_594, 16_691),
        "2048-4096": (43_946, 10_527, 13_363),
        "4096-8192": (39_200, 8_189, 9_796),
    }
    cells = [(b, p, n) for b, counts in printed.items() for p, n in zip(POSITIONS, counts,
             strict=True)]  # fmt: skip
    bins = np.repeat([b for b, _, _ in cells], [n for _, _, n in cells])
    positions = np.repeat([p for _, p, _ in cells], [n for _, _, n in cells])
    table = pool_table(bins, positions, list(printed)).set_index("bin")
    assert table.index.tolist() == [*printed, "total"]
    assert table.columns.tolist() == [*POSITIONS, "total"]
    assert tuple(table.loc["4096-8192", list(POSITIONS)]) == printed["4096-8192"]
    assert table.loc["total"].tolist() == [335_650, 62_904, 82_682, 481_236]


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(POSITIONS)), max_size=20))
def test_the_pool_table_counts_every_cell(rows):
    table = pool_table([b for b, _ in rows], [p for _, p in rows], ["b", "empty", "a"])
    assert table["bin"].tolist() == ["b", "empty", "a", "total"]
    counts = Counter(rows)
    for _, row in table.set_index("bin").iloc[:3].iterrows():
        assert [row[p] for p in POSITIONS] == [counts[(row.name, p)] for p in POSITIONS]
    assert table.iloc[-1]["total"] == len(rows)
    assert table[[*POSITIONS, "total"]].iloc[1].tolist() == [0, 0, 0, 0]


# Members of the panel


TEXTS = [
    "glacier river glacier. castle tower, castle wall. emperor crown throne emperor.",
    "river bank river boat. the wall of stone. tower of glass and stone.",
    "a long and winding story about nothing much. desert sand. sand and more sand dunes.",
]
QUERIES = ["glacier river", "castle stone", "sand sand", "zebra", "emperor emperor throne"]
DOCUMENTS = np.array([0, 1, 2, 0, 0])


def words(text: str) -> list[str]:
    letters = "".join(c if c.isalnum() else " " for c in text.lower())
    return [word for word in letters.split() if len(word) > 1]


def lucene_bm25(query: str, passages: list[str], k1: float, b: float) -> list[float]:
    """Return Lucene's BM25 of every passage, straight from the formula."""
    bags = [Counter(words(passage)) for passage in passages]
    lengths = [sum(bag.values()) for bag in bags]
    mean = sum(lengths) / len(lengths)
    scores = []
    for bag, length in zip(bags, lengths, strict=True):
        score = 0.0
        for word in words(query):
            df = sum(word in other for other in bags)
            idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
            score += idf * bag[word] / (bag[word] + k1 * (1 - b + b * length / mean))
        scores.append(score)
    return scores


def test_the_bm25_member_scores_each_segment_as_a_passage_of_the_corpus():
    segments = [segment_texts(text) for text in TEXTS]
    options = {"k1": 0.9, "b": 0.4, "stopwords": None, "stemmer": None}
    member = make_member("bm25", "bm25", segments, options)
    passages = [text for texts in segments for text in texts]
    expected = [
        lucene_bm25(query, passages, 0.9, 0.4)[3 * d : 3 * d + 3]
        for query, d in zip(QUERIES, DOCUMENTS, strict=True)
    ]
    found = member.score(QUERIES, DOCUMENTS).raw
    assert found == pytest.approx(np.array(expected), abs=1e-5)
    assert found[3].tolist() == [0, 0, 0]
    assert found[0, 0] > found[0].max() / 2 > 0


def test_the_cosine_member_gives_the_cosines(tiny_encoder):
    from posbias.models.encoder import load_encoder

    segments = [segment_texts(text) for text in TEXTS]
    member = make_member("tiny", "cosine", segments, {"model": tiny_encoder, "batch_size": 4})
    found = member.score(QUERIES, DOCUMENTS).raw
    encoder = load_encoder(tiny_encoder)
    for query, document, scores in zip(QUERIES, DOCUMENTS, found, strict=True):
        a = encoder.encode(query)
        for text, score in zip(segments[document], scores, strict=True):
            b = encoder.encode(text)  # alone: neither batch nor padding may matter
            assert score == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-5)
    assert np.ptp(found) > 0.01


def test_scores_do_not_depend_on_the_order_of_the_queries(tiny_encoder):
    segments = [segment_texts(text) for text in TEXTS]
    member = make_member("tiny", "cosine", segments, {"model": tiny_encoder, "batch_size": 2})
    order = np.array([4, 2, 0, 3, 1])
    there = member.score(QUERIES, DOCUMENTS).raw
    back = member.score([QUERIES[i] for i in order], DOCUMENTS[order]).raw
    assert back == pytest.approx(there[order], abs=1e-5)


def test_an_unknown_kind_of_member_is_refused():
    with pytest.raises(
        ConfigError, match=r"panel\.x: kind 'oracle'.*known: bm25, cosine, cross_encoder"
    ):
        make_member("x", "oracle", [("a", "b", "c")], {})


@pytest.mark.parametrize(
    ("kind", "options", "key"),
    [("bm25", {"k2": 1}, "k2"), ("cosine", {"batch_size": 2}, "model")],
)
def test_unknown_or_missing_options_of_a_member_are_faults_of_the_config(kind, options, key):
    # The schema leaves them to the member, so it must say what is wrong with them.
    with pytest.raises(ConfigError, match=key):
        make_member("x", kind, [("alpha beta", "beta", "gamma")], options)


# The two scripts


def test_a_model_that_no_step_prepares_is_a_fault_of_the_config(tmp_path):
    panel = [{"name": "x", "kind": "cosine", "activation": {"name": "clip"},
              "options": {"model": "minilm_l9", "batch_size": 4}}]  # fmt: skip
    with pytest.raises(ConfigError, match="minilm_l9"):
        score_candidates.panel_of(panel, {"minilm_l6": tmp_path}, [("a", "b", "c")], tmp_path)


PANEL = [
    {"name": "bm25", "kind": "bm25", "activation": {"name": "saturate", "half": 1.0},
     "options": {"k1": 0.9, "b": 0.4, "stopwords": None, "stemmer": None}},
    {"name": "tiny", "kind": "cosine", "activation": {"name": "clip"},
     "options": {"model": "tiny", "batch_size": 4}},
]  # fmt: skip


def write_corpus(folder):
    """Write documents and candidates; every fourth query is about the wrong segment."""
    documents = [
        {"doc_id": f"d{n}", "text": f"{text} Number {n}.", "bin": "20-99",
         "split": "heldout" if n == 5 else "train"}
        for n, text in enumerate(TEXTS * 4)
    ]  # fmt: skip
    candidates = [
        {"query_id": f"{d['doc_id']}-{position}", "doc_id": d["doc_id"], "bin": "20-99",
         "position": position, "query": ""}
        for d in documents
        for position in POSITIONS
    ]  # fmt: skip
    parts = [part for d in documents for part in segment_texts(d["text"])]
    for row, candidate in enumerate(candidates):
        about = row if row % 4 else 3 * (row // 3) + (row + 1) % 3
        candidate["query"] = " ".join(words(parts[about])[:3])
    write_jsonl(folder / "documents.jsonl", documents)
    write_jsonl(folder / "candidates.jsonl", candidates)
    return documents, candidates


def run_scoring(folder, encoder, shards=1, cascade=True, panel=PANEL):
    paths = [folder / f"scores-{shards}-{shard}-{cascade}.jsonl" for shard in range(shards)]
    for shard, path in enumerate(paths):
        score_candidates.main(
            folder / "documents.jsonl", folder / "candidates.jsonl", [encoder], path,
            model_names=["tiny"], panel=panel, cascade=cascade, shard=shard, shards=shards,
            seed=42, threads=1, resume_dir=folder / "resume" / f"{shards}-{shard}",
        )  # fmt: skip
    return paths


def run_filter(folder, scores, delta=0.05):
    names = ("pool.jsonl", "statistics.csv", "cells.csv", "summary.json")
    outputs = [folder / name for name in names]
    filter_candidates.main(
        folder / "candidates.jsonl", scores, *outputs,
        delta=delta, thresholds=[0.0, 0.05], panel=PANEL, bins=["20-99"],
    )  # fmt: skip
    pool, statistics, cells, summary = outputs
    return (
        read_jsonl(pool), pd.read_csv(statistics), pd.read_csv(cells), read_json(summary)
    )  # fmt: skip


def by_query(paths):
    return {r["query_id"]: r for path in paths for r in read_jsonl(path)}


def test_from_candidates_to_the_pool(tmp_path, tiny_encoder):
    documents, candidates = write_corpus(tmp_path)
    train = {d["doc_id"] for d in documents if d["split"] == "train"}
    scores = run_scoring(tmp_path, tiny_encoder)
    records = by_query(scores)
    assert set(records) == {c["query_id"] for c in candidates if c["doc_id"] in train}
    for record in records.values():
        known = [margin for margin in record["margins"].values() if margin is not None]
        assert record["consensus"] == min(known)
        assert (record["raw"]["tiny"] is None) == (record["margins"]["bm25"] < 0)
    pool, statistics, cells, summary = run_filter(tmp_path, scores)
    assert [q["query_id"] for q in pool] == [
        c["query_id"] for c in candidates
        if c["query_id"] in records and records[c["query_id"]]["consensus"] >= 0.05
    ]  # fmt: skip
    assert 0 < len(pool) < len(records)
    assert statistics["kept"].tolist()[0] == summary["candidates"] == len(records)
    assert statistics["kept"].tolist()[-1] == summary["kept"] == len(pool)
    assert cells["total"].tolist() == [len(pool)] * 2
    spent = 3 * sum(raw is not None for r in records.values() for raw in r["raw"].values())
    assert summary["pairs_scored"] == spent < summary["pairs_without_cascade"]
    assert summary["pairs_without_cascade"] == 6 * len(records)


def test_shards_and_cascade_leave_the_pool_as_it_is(tmp_path, tiny_encoder):
    write_corpus(tmp_path)
    pools, tables = [], []
    for shards, cascade in ((1, True), (3, True), (1, False)):
        scores = run_scoring(tmp_path, tiny_encoder, shards, cascade)
        assert sum(len(read_jsonl(path)) for path in scores) == len(by_query(scores))
        pool, statistics, _, _ = run_filter(tmp_path, scores)
        pools.append([q["query_id"] for q in pool])
        tables.append(statistics.to_csv())
    assert pools[0] == pools[1] == pools[2]
    assert tables[0] == tables[1] == tables[2]


def test_a_document_belongs_to_one_shard(tmp_path, tiny_encoder):
    write_corpus(tmp_path)
    homes = [
        {r["query_id"].split("-")[0] for r in read_jsonl(path)}
        for path in run_scoring(tmp_path, tiny_encoder, shards=2)
    ]
    assert homes[0] and homes[1] and not homes[0] & homes[1]


def test_a_margin_just_below_zero_stays_below_zero_in_the_file():
    margins = np.array([[-4e-7], [np.nan]])
    raw = np.array([[[0.5, 0.5 + 4e-7, 0.0]], [[np.nan] * 3]])
    cut = np.array([[[0, 0, 7]], [[0, 0, 0]]])
    found = Verification(("a", "b"), raw, cut, margins, margins[0], 3)
    candidate = {"query_id": "q", "bin": "20-99", "position": "begin"}
    (record,) = score_candidates.score_records([candidate], found)
    assert record["cut"] == {"a": [0, 0, 7]}
    # Rounded to zero it would count as passed, though the cascade has given it up.
    assert record["consensus"] < 0
    assert record["margins"] == {"a": pytest.approx(-4e-7, abs=1e-6), "b": None}


def scored(query_id, consensus=0.9, position="begin", **changes):
    """A record of the score files."""
    raw = {"bm25": [9.0, 1.0, 1.0], "tiny": None if consensus < 0 else [0.9, 0.1, 0.2]}
    return {"query_id": query_id, "bin": "20-99", "position": position, "raw": raw, "margins": {},
            "consensus": consensus, "cut": {}, **changes}  # fmt: skip


def test_scores_of_other_candidates_are_refused(tmp_path):
    write_jsonl(tmp_path / "scores.jsonl", [scored("gone"), scored("here")])
    write_jsonl(
        tmp_path / "candidates.jsonl", [{"query_id": "here", "bin": "20-99", "position": "begin"}]
    )
    with pytest.raises(DataError, match=r"candidates\.jsonl: holds 1 of the 2 verified queries"):
        run_filter(tmp_path, [tmp_path / "scores.jsonl"])
    assert not (tmp_path / "pool.jsonl").exists()


def test_no_scores_at_all_are_refused(tmp_path):
    (tmp_path / "scores.jsonl").touch()
    (tmp_path / "candidates.jsonl").touch()
    with pytest.raises(DataError, match=r"scores\.jsonl: no scored candidate"):
        run_filter(tmp_path, [tmp_path / "scores.jsonl"])
