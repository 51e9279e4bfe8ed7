"""The registry of scorers: both kinds are built, saved, loaded and refused by one interface."""

import dataclasses

import numpy as np
import pytest
import torch

from listwise_models import COLLECTION as TEXTS
from listwise_models import scorer_of, some_windows
from listwise_toy import OPTIONS, toy_collection
from posbias.errors import ConfigError, DataError
from posbias.listwise.causal_lm import CausalLmScorer
from posbias.listwise.passage_embedding import PassageEmbeddingScorer
from posbias.listwise.scorers import build_scorer, load_scorer

torch.set_num_threads(1)
COLLECTION = toy_collection()
LM_OPTIONS = {"max_tokens": 1500, "max_words": 20}


@pytest.fixture(scope="module")
def language_model(tmp_path_factory):
    """The folder of a tiny language model."""
    folder = tmp_path_factory.mktemp("lm")
    scorer_of("byte-level").save(folder)
    return folder


def weights(scorer) -> torch.Tensor:
    return torch.cat([value.flatten() for value in scorer.state_dict().values()])


def test_the_seed_makes_the_weights_and_nothing_else_does():
    first = build_scorer("passage_embedding", COLLECTION, OPTIONS, 3)
    torch.manual_seed(99)
    torch.rand(5)
    again = build_scorer("passage_embedding", COLLECTION, OPTIONS, 3)
    assert torch.equal(weights(first), weights(again))
    other = build_scorer("passage_embedding", COLLECTION, OPTIONS, 4)
    assert not torch.equal(weights(first), weights(other))
    assert isinstance(first, PassageEmbeddingScorer)
    assert first.options["width"] == 8


def test_a_decoder_starts_on_the_principal_directions_of_its_collection():
    scorer = build_scorer("passage_embedding", COLLECTION, OPTIONS, 3)
    _, _, directions = np.linalg.svd(COLLECTION.passage_vectors, full_matrices=False)
    found = scorer.project.weight[:8].detach().numpy()
    np.testing.assert_allclose(np.abs(found @ directions.T), np.eye(8), atol=1e-4)


def test_a_decoder_comes_back_from_its_folder(tmp_path):
    scorer = build_scorer("passage_embedding", COLLECTION, OPTIONS, 3)
    scorer.save(tmp_path)
    loaded = load_scorer("passage_embedding", tmp_path, OPTIONS)
    assert not loaded.training
    assert torch.equal(weights(loaded), weights(scorer))


def test_a_language_model_comes_back_from_its_folder(language_model, tmp_path):
    built = build_scorer("causal_lm", TEXTS, LM_OPTIONS, 3, language_model)
    assert isinstance(built, CausalLmScorer)
    assert (built.max_tokens, built.max_words) == (1500, 20)
    built.save(tmp_path)
    loaded = load_scorer("causal_lm", tmp_path, LM_OPTIONS)
    queries, passages, orders = some_windows(2, 4)
    with torch.no_grad():
        expected, loss = built.training_scores(TEXTS, queries, passages, orders)
        torch.testing.assert_close(loaded.scores(TEXTS, queries, passages), expected)
    assert expected.shape == (2, 4)
    assert loss.shape == (2,)


def test_another_seed_changes_nothing_of_a_language_model(language_model):
    first, second = (
        build_scorer("causal_lm", TEXTS, LM_OPTIONS, seed, language_model) for seed in (1, 2)
    )
    assert torch.equal(weights(first), weights(second))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("gpt", {}, "listwise.scorer.kind: 'gpt' does not exist; known: causal_lm, passage_emb"),
        ("causal_lm", {}, "causal_lm starts from a checkpoint; give its folder"),
        ("passage_embedding", {**OPTIONS, "layers": 2}, r"listwise.scorer.options: .*'layers'"),
        ("passage_embedding", {**OPTIONS, "width": 8}, r"scorer.options: 'width' is no opt"),
        ("passage_embedding", {"prior": 1.0}, r"listwise.scorer.options: missing"),
    ],
)
def test_what_cannot_be_built_is_named(kind, options, message):
    with pytest.raises(ConfigError, match=message):
        build_scorer(kind, COLLECTION, options, 1)


def test_what_cannot_be_loaded_is_named(language_model, tmp_path):
    with pytest.raises(ConfigError, match="'gpt' does not exist"):
        load_scorer("gpt", language_model, {})
    with pytest.raises(ConfigError, match=r"listwise.scorer.options: .*max_token'"):
        load_scorer("causal_lm", language_model, {"max_token": 5})
    for kind in ("causal_lm", "passage_embedding"):
        with pytest.raises(DataError, match=str(tmp_path)):
            load_scorer(kind, tmp_path, {})


def test_a_decoder_needs_vectors():
    bare = dataclasses.replace(COLLECTION, passage_vectors=None)
    with pytest.raises(ConfigError, match="passage_embedding needs the vectors of the passages"):
        build_scorer("passage_embedding", bare, OPTIONS, 1)
