"""The decoder over passage vectors: what it may see, what it starts from, and its files."""

import json

import numpy as np
import pytest
import torch

from listwise_toy import BODY, OPTIONS, toy_collection
from posbias.errors import ConfigError, DataError
from posbias.listwise.losses import plackett_luce_loss, ranks_of
from posbias.listwise.passage_embedding import PassageEmbeddingScorer

torch.set_num_threads(1)
COLLECTION = toy_collection()
QUERIES = np.array([0, 3])
PASSAGES = np.array([[4, 1, 9, 2, 7], [0, 3, 5, 8, 11]])
CLOSE = {"rtol": 0, "atol": 1e-5}


def scorer_of(seed: int = 1, **changed) -> PassageEmbeddingScorer:
    torch.manual_seed(seed)
    return PassageEmbeddingScorer(8, **(OPTIONS | changed)).eval()


def scores(scorer, queries=QUERIES, passages=PASSAGES) -> torch.Tensor:
    with torch.no_grad():
        return scorer.scores(COLLECTION, queries, passages)


def test_without_a_learnt_part_the_score_is_the_weighted_cosine():
    scorer = scorer_of(scale=1e-8, prior=3.0)
    cosines = COLLECTION.query_vectors @ COLLECTION.passage_vectors.T
    expected = torch.from_numpy(3.0 * cosines[QUERIES[:, None], PASSAGES])
    torch.testing.assert_close(scores(scorer), expected, **CLOSE)


def test_the_learnt_part_is_bounded_by_its_scale():
    learnt = scores(scorer_of(scale=4.0, prior=0.0))
    assert learnt.abs().max() <= 4
    torch.testing.assert_close(scores(scorer_of(scale=8.0, prior=0.0)), 2 * learnt, **CLOSE)


@pytest.mark.parametrize("k", [1, 2, 8])
def test_windows_of_any_length_up_to_the_largest(k):
    found = scores(scorer_of(), QUERIES, np.stack([np.arange(k), np.arange(k) + 3]))
    assert found.shape == (2, k)
    assert torch.isfinite(found).all()


def test_a_window_that_is_too_long_is_named():
    with pytest.raises(ConfigError, match="a window of 9 passages: this scorer has 8"):
        scores(scorer_of(), QUERIES, np.stack([np.arange(9)] * 2))


def test_the_slot_of_a_passage_matters_and_its_row_does_not():
    scorer = scorer_of()
    turned = scores(scorer, QUERIES, PASSAGES[:, ::-1].copy()).flip(-1)
    assert (turned - scores(scorer)).abs().max() > 1e-3
    twins = toy_collection()
    twins.passage_vectors[10] = twins.passage_vectors[4]
    with torch.no_grad():
        both = scorer.scores(twins, QUERIES[[0, 0]], np.array([[4, 1, 9], [10, 1, 9]]))
    torch.testing.assert_close(both[0], both[1], **CLOSE)


def test_windows_of_a_batch_do_not_see_each_other():
    scorer = scorer_of()
    whole = scores(scorer)
    for row in (0, 1):
        alone = scores(scorer, QUERIES[[row]], PASSAGES[[row]])
        torch.testing.assert_close(alone[0], whole[row], **CLOSE)


def test_the_model_reads_the_whole_window_before_it_scores():
    """Another last passage changes the score of the first."""
    scorer = scorer_of(scale=5.0)
    other = PASSAGES.copy()
    other[:, -1] = 6
    assert (scores(scorer, QUERIES, other) - scores(scorer))[:, 0].abs().max() > 1e-4


def test_a_score_is_read_off_the_passages_own_state():
    """Against a fixed wish, a passage's score follows from what is shown up to its slot."""
    scorer = scorer_of(scale=5.0, prior=0.0)
    torch.nn.init.zeros_(scorer.head.weight)
    torch.nn.init.normal_(scorer.head.bias)
    before = scores(scorer)
    for slot in range(5):
        other = PASSAGES.copy()
        other[:, slot] = 6
        changed = (scores(scorer, QUERIES, other) - before).abs()
        assert (changed[:, :slot] < 1e-5).all()
        assert (changed[:, slot] > 1e-2).all()


def test_the_loss_is_the_likelihood_of_the_teachers_order():
    scorer = scorer_of()
    orders = np.array([[2, 0, 1, 4, 3], [4, 3, 2, 1, 0]])
    found, loss = scorer.training_scores(COLLECTION, QUERIES, PASSAGES, orders)
    torch.testing.assert_close(found.detach(), scores(scorer), **CLOSE)
    torch.testing.assert_close(loss, plackett_luce_loss(found, ranks_of(orders)))
    loss.sum().backward()
    assert all(weights.grad is not None for weights in scorer.parameters())
    assert scorer.prior.grad.abs() > 0


def test_the_projection_starts_as_the_principal_directions():
    scorer = scorer_of(body={**BODY, "hidden_size": 6})
    vectors = COLLECTION.passage_vectors * np.array([9, 8, 7, 6, 5, 4, 0, 0], dtype=np.float32)
    scorer.project_on_principal(vectors)
    projected = scorer.project(torch.from_numpy(vectors)).detach().numpy()
    # Six directions hold all of six dimensions: inner products stay as they were.
    np.testing.assert_allclose(projected @ projected.T, vectors @ vectors.T, atol=1e-3)


def test_few_vectors_leave_the_rest_of_the_projection_as_it_was():
    scorer = scorer_of()
    before = scorer.project.weight.detach().clone()
    scorer.project_on_principal(COLLECTION.passage_vectors[:3])
    torch.testing.assert_close(scorer.project.weight[3:].detach(), before[3:])
    assert not torch.allclose(scorer.project.weight[:3].detach(), before[:3])


def test_saved_and_loaded_it_scores_the_same(tmp_path):
    scorer = scorer_of()
    scorer.save(tmp_path)
    loaded = PassageEmbeddingScorer.load(tmp_path)
    assert not loaded.training
    assert loaded.largest_window == 8
    assert torch.equal(scores(loaded), scores(scorer))
    assert loaded.options == scorer.options


@pytest.mark.parametrize("fault", ["no weights", "cut weights", "other width", "other option"])
def test_a_damaged_folder_is_named(tmp_path, fault):
    scorer_of().save(tmp_path)
    weights, settings = tmp_path / "model.safetensors", tmp_path / "scorer.json"
    if fault == "no weights":
        weights.unlink()
    elif fault == "cut weights":
        weights.write_bytes(weights.read_bytes()[:500])
    else:
        changed = {"width": 9} if fault == "other width" else {"colour": "red"}
        settings.write_text(json.dumps(json.loads(settings.read_text()) | changed))
    with pytest.raises(DataError, match=f"{tmp_path}: holds no passage-embedding scorer"):
        PassageEmbeddingScorer.load(tmp_path)


def test_options_that_cannot_work_are_named():
    with pytest.raises(ConfigError, match=r"scale must be above 0, is 0\.0"):
        scorer_of(scale=0.0)
    place = r"listwise\.scorer\.options\.body: "
    with pytest.raises(ConfigError, match=place + r"(?s:.*)not a multiple of the number of att"):
        scorer_of(body={**BODY, "num_attention_heads": 3})
    with pytest.raises(ConfigError, match=place + "a Llama decoder has no option num_layer, heads"):
        scorer_of(body={**BODY, "num_layer": 3, "heads": 2})
    with pytest.raises(ConfigError, match=place):
        scorer_of(body={**BODY, "vocab_size": 3})


def test_a_collection_without_vectors_is_named():
    bare = toy_collection()
    object.__setattr__(bare, "passage_vectors", None)
    with pytest.raises(DataError, match="the collection has no passage vectors; embed it first"):
        scorer_of().scores(bare, QUERIES, PASSAGES)
