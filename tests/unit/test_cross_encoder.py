"""Cross-encoders as members of the panel: raw logits, whatever batch, length and precision."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config_changes import asset_of
from posbias.corpus.segments import segment_texts
from posbias.errors import ConfigError, DataError
from posbias.queries import cross_encoder as cross_encoder_module
from posbias.queries.activations import make_activation
from posbias.queries.margins import target_margins
from posbias.queries.panel import make_member
from posbias.queries.verify import verify
from small_cross_encoder import labelled_pairs, lead_documents, save_random, train_on

torch = pytest.importorskip("torch")

TEXTS = [
    "glacier river glacier. castle tower, castle wall. emperor crown throne emperor.",
    "river bank river boat.",
    "a long and winding story about nothing much. desert sand. sand and more sand dunes. " * 2,
]
SEGMENTS = [segment_texts(text) for text in TEXTS]
QUERIES = ["glacier", "castle stone of old", "sand sand", "z", "emperor emperor throne", "glacier"]
DOCUMENTS = np.array([0, 2, 1, 2, 0, 1])
PAIRS = [
    (query, text)
    for query, document in zip(QUERIES, DOCUMENTS, strict=True)
    for text in SEGMENTS[document]
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    torch.set_num_threads(1)
    return save_random(tmp_path_factory.mktemp("random") / "tiny")


@pytest.fixture(scope="module")
def scorer(folder):
    return member(folder)


def member(folder, segments=SEGMENTS, **options):
    options = {"model": folder, "max_tokens": 64, "batch_tokens": 300, **options}
    return make_member("ce", "cross_encoder", segments, options)


def library(folder, max_tokens=64, **options):
    from sentence_transformers import CrossEncoder

    return CrossEncoder(str(folder), device="cpu", max_length=max_tokens, **options)


def predicted(model, **options):
    scores = [model.predict(pair, show_progress_bar=False, **options) for pair in PAIRS]
    return np.array(scores).reshape(-1, 3)


def with_logit(folder, source, value) -> Path:
    """Save a model that gives every pair the same logit."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(source)
    torch.nn.init.zeros_(model.classifier.weight)
    torch.nn.init.constant_(model.classifier.bias, value)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return folder


# Scores


@pytest.mark.parametrize("max_tokens", [64, 20, 7])
def test_scores_are_the_librarys_logits(folder, max_tokens):
    found = member(folder, max_tokens=max_tokens).score(QUERIES, DOCUMENTS)
    identity = torch.nn.Identity()
    expected = predicted(library(folder, max_tokens), activation_fn=identity)
    assert found.raw == pytest.approx(expected, abs=1e-5)
    assert np.ptp(found.raw) > 1  # neither constant nor squeezed between 0 and 1
    assert found.raw.dtype == np.float32


@pytest.mark.parametrize("family", ["Roberta", "ModernBert", "Electra"])
def test_other_families_score_as_in_the_library(tmp_path, family):
    changes = {"Roberta": {"pad_token_id": 0}, "ModernBert": {"pad_token_id": 0}}.get(family, {})
    folder = save_random(tmp_path / "m", family=family, **changes)
    found = member(folder, max_tokens=50).score(QUERIES, DOCUMENTS).raw
    expected = predicted(library(folder, 50), activation_fn=torch.nn.Identity())
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("batch_tokens", [1, 100, 100_000])
def test_neither_batch_nor_padding_matters(folder, batch_tokens):
    found = member(folder, batch_tokens=batch_tokens).score(QUERIES, DOCUMENTS).raw
    asked = member(folder)
    alone = [
        asked.score([query], DOCUMENTS[row : row + 1]).raw[0] for row, query in enumerate(QUERIES)
    ]
    assert found == pytest.approx(np.array(alone), abs=1e-5)


def test_a_batch_holds_so_many_tokens_at_most(folder, monkeypatch):
    asked = member(folder, batch_tokens=150)
    shapes, forward = [], asked.model.forward
    monkeypatch.setattr(
        asked.model, "forward", lambda f: shapes.append(f["input_ids"].shape) or forward(f)
    )
    asked.score(QUERIES, DOCUMENTS)
    assert sum(rows for rows, _ in shapes) == len(PAIRS)
    assert all(rows * longest <= 150 for rows, longest in shapes)
    assert len(shapes) < len(PAIRS) / 2
    assert [longest for _, longest in shapes] == sorted(longest for _, longest in shapes)


@settings(max_examples=15)
@given(order=st.permutations(range(len(QUERIES))))
def test_results_come_in_the_order_of_the_queries(scorer, order):
    there = scorer.score(QUERIES, DOCUMENTS)
    back = scorer.score([QUERIES[row] for row in order], DOCUMENTS[list(order)])
    assert back.raw == pytest.approx(there.raw[list(order)], abs=1e-5)
    assert back.cut.tolist() == there.cut[list(order)].tolist()


@settings(max_examples=25)
@given(st.integers(1, 70), st.lists(st.integers(1, 70), min_size=3, max_size=3))
def test_tokens_beyond_the_limit_are_counted(scorer, asked, offered):
    # A letter is a token, and a pair has three tokens of its own.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scorer, "segments", [tuple("a" * n for n in offered)])
        found = scorer.score(["b" * asked], np.array([0]))
    assert found.cut.tolist() == [[max(0, asked + n + 3 - 64) for n in offered]]


def test_progress_is_told(folder, monkeypatch):
    beats = []

    class Recorded(cross_encoder_module.Heartbeat):
        def beat(self, done, note=""):
            beats.append((self.name, done, self.total))

    monkeypatch.setattr(cross_encoder_module, "Heartbeat", Recorded)
    member(folder).score(QUERIES, DOCUMENTS)
    assert beats[-1] == ("ce, pairs", len(PAIRS), len(PAIRS))
    assert len(beats) > 1


# The scale


@pytest.mark.parametrize(("logit", "probability"), [(-8.0, 0.000335), (8.0, 0.999665)])
def test_the_sigmoid_is_applied_once(folder, tmp_path, logit, probability):
    fixed = with_logit(tmp_path / "m", folder, logit)
    asked = member(fixed)
    raw = asked.score(QUERIES, DOCUMENTS).raw
    assert raw == pytest.approx(np.full((6, 3), logit), abs=1e-4)
    assert predicted(asked.model) == pytest.approx(raw, abs=1e-4)  # switched off, not passed by
    logistic = make_activation({"name": "logistic"})
    assert logistic(raw) == pytest.approx(np.full((6, 3), probability), abs=1e-6)
    # What the library gives by default is a probability already: .5 or .73 after ours.
    by_default = predicted(library(fixed))
    assert by_default == pytest.approx(np.full((6, 3), probability), abs=1e-6)
    assert logistic(by_default[0, 0]) == pytest.approx(0.5 if logit < 0 else 0.731, abs=1e-3)


def test_an_activation_in_the_models_files_is_not_applied(folder, tmp_path):
    fixed = with_logit(tmp_path / "m", folder, 3.0)
    config = json.loads((fixed / "config.json").read_text())
    config["sentence_transformers"] = {"activation_fn": "torch.nn.modules.activation.Tanh"}
    (fixed / "config.json").write_text(json.dumps(config))
    assert predicted(library(fixed))[0, 0] == pytest.approx(np.tanh(3), abs=1e-5)
    assert member(fixed).score(QUERIES, DOCUMENTS).raw[0, 0] == pytest.approx(3, abs=1e-5)


def test_logits_that_are_no_numbers_name_their_queries(folder, tmp_path):
    broken = member(with_logit(tmp_path / "m", folder, 3.0))
    torch.nn.init.constant_(broken.model[0].model.classifier.bias, float("nan"))
    ids = [f"q{row}" for row in range(6)]
    panel = [(lambda: broken, make_activation({"name": "logistic"}))]
    with pytest.raises(DataError, match="ce: no finite score for q0, q4, q2, q5, q1 and 1 more"):
        verify(ids, QUERIES, DOCUMENTS, np.zeros(6, int), panel, cascade=True)


# Precision


def test_weights_are_float32_whatever_the_checkpoint_holds(folder, tmp_path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    half = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.bfloat16)
    half.save_pretrained(tmp_path / "m")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "m")
    assert json.loads((tmp_path / "m" / "config.json").read_text())["dtype"] == "bfloat16"
    found = member(tmp_path / "m")
    assert {p.dtype for p in found.model.parameters()} == {torch.float32}


def test_half_precision_scores_become_float32(folder):
    asked = member(folder)
    exact = asked.score(QUERIES, DOCUMENTS).raw
    asked.model.to(torch.bfloat16)
    rounded = asked.score(QUERIES, DOCUMENTS).raw
    assert rounded.dtype == np.float32
    assert rounded == pytest.approx(exact, abs=0.5)
    assert (rounded != exact).any()


def test_a_cpu_computes_in_float32(folder, caplog):
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with caplog.at_level(logging.INFO):
        found = member(folder, dtype="float16")
    assert {p.dtype for p in found.model.parameters()} == {torch.float32}
    assert "computes in float32 instead of float16" in caplog.text


def test_members_load_without_dropout(folder, tmp_path):
    dropping = save_random(tmp_path / "m", hidden_dropout_prob=0.5)
    asked = member(dropping)
    assert not any(module.training for module in asked.model.modules())


# Models that cannot serve


@pytest.mark.parametrize(
    ("family", "changes", "positions"),
    [
        ("Bert", {}, 64),
        ("Roberta", {"pad_token_id": 1}, 62),
        ("XLMRoberta", {"pad_token_id": 1}, 62),
    ],
)
def test_more_tokens_than_positions_are_refused(tmp_path, family, changes, positions):
    folder = save_random(tmp_path / "m", family=family, **changes)
    with pytest.raises(ConfigError, match=f"max_tokens is 65, but .* has {positions} positions"):
        member(folder, max_tokens=65)
    # The limit itself works, with a pair that uses all of it.
    asked = member(folder, segments=[("a" * 90,) * 3], max_tokens=positions)
    scores = asked.score(["b" * 5], np.array([0]))
    assert np.isfinite(scores.raw).all()
    assert scores.cut[0, 0] > 0


def test_max_tokens_leave_room_for_text(folder):
    with pytest.raises(ConfigError, match="max_tokens is 4, which leaves no room"):
        member(folder, max_tokens=4)
    assert np.isfinite(member(folder, max_tokens=5).score(QUERIES, DOCUMENTS).raw).all()


@pytest.mark.parametrize("labels", [2, 3])
def test_a_model_of_several_labels_is_refused(tmp_path, labels):
    folder = save_random(tmp_path / "m", num_labels=labels)
    with pytest.raises(ConfigError, match=f"gives {labels} numbers per pair"):
        member(folder)


def test_an_encoder_is_no_cross_encoder(tiny_encoder):
    # The library itself would put random weights on top of it.
    with pytest.raises(ConfigError, match="is no cross-encoder but a BertModel"):
        member(tiny_encoder)


def test_a_head_without_weights_is_refused(folder, tmp_path):
    from safetensors.torch import load_file, save_file

    broken = save_random(tmp_path / "m")
    weights = load_file(broken / "model.safetensors")
    del weights["classifier.weight"]
    save_file(weights, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(DataError, match=r"missing \['classifier.weight'\]"):
        member(broken)


def test_without_a_vocabulary_nothing_is_made_up(tmp_path):
    broken = save_random(tmp_path / "m")
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        (broken / name).unlink(missing_ok=True)
    # The library would score, and every word would be the unknown one.
    model = library(broken)
    assert len(set(model.tokenizer("glacier castle sand").input_ids) - {0, 1, 2, 3, 4}) == 0
    with pytest.raises(DataError, match=r"m: no tokenizer \(none of tokenizer\.json"):
        member(broken)


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_weights_that_are_no_numbers_are_named_when_they_are_loaded(folder, tmp_path, value):
    broken = with_logit(tmp_path / "m", folder, value)
    with pytest.raises(DataError, match=r"m: .*classifier\.bias holds values that are not finite"):
        member(broken)


def test_layers_beyond_the_config_are_refused(tmp_path):
    broken = save_random(tmp_path / "m", num_hidden_layers=2)
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 1}))
    with pytest.raises(DataError, match=r"left over \['bert.encoder.layer.1"):
        member(broken)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "int8"}, "dtype 'int8' does not exist; known: float32, float16, bfloat16"),
        ({"max_length": 64}, "max_length"),
        ({"max_tokens": "64"}, r"panel\.ce: max_tokens must be a whole number of tokens, is '64'"),
        ({"max_tokens": None}, "max_tokens must be a whole number of tokens, is None"),
        ({"max_tokens": True}, "max_tokens must be a whole number of tokens, is True"),
        ({"max_tokens": 40.0}, "max_tokens must be a whole number of tokens, is 40"),
        ({"batch_tokens": 0}, r"panel\.ce: batch_tokens must be a whole number .*, is 0"),
        ({"batch_tokens": -5}, "batch_tokens must be a whole number of tokens, is -5"),
        ({"batch_tokens": "many"}, "batch_tokens must be a whole number of tokens, is 'many'"),
        ({"trust_remote_code": "false"}, "trust_remote_code must be true or false, is 'false'"),
        ({"dtype": ["float16"]}, "dtype .'float16'. does not exist"),
    ],
)
def test_options_that_do_not_exist_are_refused(folder, options, message):
    with pytest.raises(ConfigError, match=message):
        member(folder, **options)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"config\.json: no such file"):
        member(tmp_path)


# A cross-encoder that has learnt something


@pytest.fixture(scope="module")
def trained(config, encoder_folder, tmp_path_factory):
    """A cross-encoder trained on 1,400 real queries, documents that it has not seen, and losses."""
    from transformers import AutoTokenizer

    from posbias.assets import find_asset
    from posbias.models.paraphrase_onnx import paraphrase_body

    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("trained")
    documents, queries = lead_documents(find_asset(**asset_of(config, "leads")), 700)
    losses = train_on(
        paraphrase_body(find_asset(**asset_of(config, "minilm_l3"))),
        AutoTokenizer.from_pretrained(str(encoder_folder)),
        labelled_pairs([d for d in documents if d["split"] == "train"], queries),
        root / "small",
    )
    return root / "small", documents, queries, losses


@pytest.mark.slow
def test_a_trained_cross_encoder_finds_the_segments_of_unseen_documents(trained):
    folder, documents, queries, losses = trained
    # Before it has learnt anything it gives logits near 0, whose cross-entropy is ln 2.
    assert losses[0] == pytest.approx(np.log(2), abs=0.1)
    unseen = [d for d in documents if d["split"] == "heldout"]
    rows = {d["doc_id"]: row for row, d in enumerate(unseen)}
    asked = [q for q in queries if q["doc_id"] in rows]
    targets = np.array([["begin", "middle", "end"].index(q["position"]) for q in asked])
    scorer = member(
        folder, [segment_texts(d["text"]) for d in unseen], max_tokens=256, batch_tokens=2000
    )
    found = scorer.score([q["query"] for q in asked], np.array([rows[q["doc_id"]] for q in asked]))
    share = (target_margins(found.raw, targets) > 0).mean()
    assert len(asked) > 500
    assert share > 0.7  # chance: a third
    logistic = make_activation({"name": "logistic"})
    kept = (target_margins(logistic(found.raw), targets) >= 0.3).mean()
    kept_by_logits = (target_margins(found.raw, targets) >= 0.3).mean()
    logging.getLogger(__name__).info("first %.3f, kept %.3f / %.3f", share, kept, kept_by_logits)
    assert 0.05 < kept < kept_by_logits - 0.1


@pytest.mark.slow
def test_a_panel_with_a_trained_cross_encoder_works_end_to_end(trained, tmp_path):
    import filter_candidates
    import score_candidates
    from posbias.files import read_json, read_jsonl, write_jsonl

    folder, documents, queries, _ = trained
    # What it was trained on is held out here, and the other way round.
    unseen = [
        {**d, "split": "train" if d["split"] == "heldout" else "heldout"} for d in documents
    ]  # fmt: skip
    # Every fifth query is about another segment than it says.
    turn = {"begin": "middle", "middle": "end", "end": "begin"}
    wrong = {q["query_id"] for q in queries[::5]}
    asked = [
        {**q, "position": turn[q["position"]]} if q["query_id"] in wrong else q for q in queries
    ]
    write_jsonl(tmp_path / "documents.jsonl", unseen)
    write_jsonl(tmp_path / "candidates.jsonl", asked)
    panel = [
        {"name": "bm25", "kind": "bm25", "activation": {"name": "saturate", "half": 8.0},
         "options": {"k1": 0.9, "b": 0.4, "stopwords": "en", "stemmer": None}},
        {"name": "small", "kind": "cross_encoder", "activation": {"name": "logistic"},
         "options": {"model": "small", "max_tokens": 128, "batch_tokens": 2000}},
    ]  # fmt: skip
    scores = [tmp_path / f"scores-{shard}.jsonl" for shard in range(2)]
    for shard, path in enumerate(scores):
        score_candidates.main(
            tmp_path / "documents.jsonl", tmp_path / "candidates.jsonl", [folder], path,
            model_names=["small"], panel=panel, cascade=True, shard=shard, shards=2, seed=42,
            threads=1, resume_dir=tmp_path / "resume" / str(shard),
        )  # fmt: skip
    names = ("pool.jsonl", "statistics.csv", "cells.csv", "summary.json")
    filter_candidates.main(
        tmp_path / "candidates.jsonl", scores, *(tmp_path / name for name in names),
        delta=0.05, thresholds=[0.0, 0.05], panel=panel, bins=["120-300"],
    )  # fmt: skip
    summary = read_json(tmp_path / "summary.json")
    pool = {q["query_id"] for q in read_jsonl(tmp_path / "pool.jsonl")}
    scored = {r["query_id"] for path in scores for r in read_jsonl(path)}
    assert summary["candidates"] == len(scored) > 500
    assert summary["pairs_scored"] < summary["pairs_without_cascade"]
    assert summary["cut"]["small"]["tokens_cut"] == 0
    true, false = scored - wrong, scored & wrong
    assert len(pool & true) / len(true) > 0.4
    assert len(pool & false) / len(false) < 0.05
