"""Every architecture of the config: one text alone, in a batch, and padded on either side."""

from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from posbias.errors import ConfigError, DataError
from posbias.models.bodies import position_encoding
from posbias.models.encoder import load_encoder
from posbias.models.nope import without_positions
from posbias.models.retriever import Retriever, build_retriever, load_retriever
from posbias.models.token_vectors import principal_token_vectors

CONFIG = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text(encoding="utf-8"))
KNOWN = CONFIG["retrievers"]["known"]
STD = CONFIG["retrievers"]["token_vectors_std"]
TEXTS = [
    "Aardvarks dig.",
    "The aardvark is a nocturnal mammal native to Africa that feeds on ants and termites.",
    "Anarchism is a political philosophy. " * 12,
    "A word",
    "Alchemy shaped early chemistry, and its laboratories shaped medicine in turn. " * 3,
]


@pytest.fixture(scope="session")
def built(encoder_folder, tmp_path_factory):
    """Each retriever built once and saved: {name: folder}."""
    folders = {}
    for name, entry in KNOWN.items():
        folder = tmp_path_factory.mktemp(name)
        build_retriever(entry, encoder_folder, STD, max_tokens=192, seed=1).save(
            str(folder), create_model_card=False
        )
        folders[name] = folder
    return folders


@pytest.mark.parametrize("name", KNOWN)
def test_a_text_has_the_same_vector_alone_and_in_a_batch(built, name):
    retriever = load_retriever(built[name], batch_size=len(TEXTS))
    together = retriever.encode_documents(TEXTS)
    alone = np.concatenate([retriever.encode_documents([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=2e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("name", KNOWN)
def test_a_tokenizer_that_pads_left_changes_nothing(built, name, tmp_path):
    expected = load_retriever(built[name], batch_size=len(TEXTS)).encode_documents(TEXTS)
    encoder = load_encoder(built[name])
    encoder.tokenizer.padding_side = "left"
    encoder.save(str(tmp_path), create_model_card=False)
    stored = (tmp_path / "tokenizer_config.json").read_text(encoding="utf-8")
    assert '"padding_side": "left"' in stored
    found = load_retriever(tmp_path, batch_size=len(TEXTS)).encode_documents(TEXTS)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", [n for n, e in KNOWN.items() if e["pooling"] == "last"])
def test_relative_positions_do_not_mind_real_left_padding(built, name):
    encoder = load_encoder(built[name])
    right = Retriever(encoder, len(TEXTS)).encode_documents(TEXTS)
    encoder.tokenizer.padding_side = "left"
    left = Retriever(encoder, len(TEXTS)).encode_documents(TEXTS)
    if KNOWN[name]["positions"] == "absolute":
        # The reason why load_encoder pads on the right: here the pads would shift the positions.
        assert np.abs(left[0] - right[0]).max() > 1e-3
    else:
        np.testing.assert_allclose(left, right, atol=2e-5)


@pytest.mark.parametrize("name", KNOWN)
def test_the_body_has_the_declared_positions(built, name):
    body = load_encoder(built[name])[0].model
    declared = KNOWN[name]["positions"]
    assert position_encoding(body.config) == ("rope" if declared == "none" else declared)
    assert body.config.model_type == KNOWN[name]["family"]


def hidden(encoder, positions):
    # The mask is given: without one, the library reads jumps in the ids as borders of packed texts.
    tokens = encoder.tokenizer(TEXTS[1], return_tensors="pt")
    with torch.no_grad():
        output = encoder[0].model(
            input_ids=tokens["input_ids"],
            attention_mask=tokens["attention_mask"],
            position_ids=positions(tokens["input_ids"]),
        )
    return output.last_hidden_state


def rising(ids):
    return torch.arange(ids.shape[1])[None]


def falling(ids):
    return torch.flip(rising(ids), dims=(1,))


def test_permuting_position_ids_changes_nothing_without_positions(built):
    encoder = load_encoder(built["tinyllama_nope"])
    assert torch.equal(hidden(encoder, rising), hidden(encoder, falling))
    assert torch.equal(hidden(encoder, rising), hidden(encoder, lambda ids: rising(ids) + 150))


def test_the_same_family_with_positions_does_change_in_the_same_process(built):
    encoder = load_encoder(built["qwen3"])
    assert (hidden(encoder, rising) - hidden(encoder, falling)).abs().max() > 1e-3
    assert torch.equal(
        hidden(load_encoder(built["tinyllama_nope"]), rising),
        hidden(load_encoder(built["tinyllama_nope"]), falling),
    )


def test_without_positions_survives_a_plain_sentence_transformer_load(built):
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(str(built["tinyllama_nope"]), device="cpu")
    assert torch.equal(hidden(encoder, rising), hidden(encoder, falling))


def test_positions_can_only_be_taken_from_rotary_families():
    from transformers import GPT2Config

    with pytest.raises(ConfigError, match="gpt2"):
        without_positions(GPT2Config())


@pytest.mark.parametrize("name", KNOWN)
def test_queries_carry_the_prefix_and_documents_none(built, name):
    retriever = load_retriever(built[name])
    prefix = KNOWN[name]["query_prefix"]
    np.testing.assert_allclose(
        retriever.encode_queries([TEXTS[1]]),
        retriever.encode_documents([prefix + TEXTS[1]]),
        atol=1e-6,
    )
    plain = retriever.encode_documents([TEXTS[1]])
    assert np.abs(retriever.encode_queries([TEXTS[1]]) - plain).max() > 1e-4


def test_same_seed_same_weights_other_seed_other_weights(encoder_folder):
    def weights(seed):
        model = build_retriever(KNOWN["bert"], encoder_folder, STD, 192, seed)
        return torch.cat([p.flatten() for p in model.parameters()])

    assert torch.equal(weights(1), weights(1))
    assert not torch.equal(weights(1), weights(2))


def test_token_vectors_are_fixed_and_the_rest_is_trained(encoder_folder):
    model = build_retriever(KNOWN["gpt2"], encoder_folder, STD, 192, seed=1)
    frozen = [name for name, p in model.named_parameters() if not p.requires_grad]
    assert len(frozen) == 1 and frozen[0].endswith("wte.weight")


def test_principal_components_keep_what_they_can(encoder_folder):
    weights = encoder_folder / "model.safetensors"
    full = principal_token_vectors(weights, 384, std=1.0)
    few = principal_token_vectors(weights, 8, std=1.0)
    torch.testing.assert_close(
        few / few[:, 0].std(), full[:, :8] / full[:, 0].std(), atol=1e-3, rtol=1e-3
    )
    variances = full.var(dim=0)
    assert (variances[:-1] >= variances[1:] * 0.999).all()
    assert few.std().item() == pytest.approx(1.0, rel=1e-5)
    with pytest.raises(ConfigError, match="385"):
        principal_token_vectors(weights, 385, std=1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"family": "bret"}, "bret"),
        ({"pooling": "first"}, "first"),
        ({"positions": "alibi"}, "alibi"),
        ({"positions": "none"}, "bert"),
        ({"body": {"hidden_sise": 8}}, "hidden_sise"),
        ({"body": {"hidden_size": 396}}, "396"),
        ({"body": {"num_attention_heads": 5}}, "multiple"),
        ({"body": {"max_position_embeddings": 100}}, "100 positions"),
    ],
)
def test_a_wrong_registry_entry_is_named(encoder_folder, change, message):
    with pytest.raises(ConfigError, match=message):
        build_retriever({**KNOWN["bert"], **change}, encoder_folder, STD, 192, seed=1)


def test_truncated_evidence_is_counted(built):
    retriever = load_retriever(built["bert"])
    long = "alchemy " * 400
    cut = retriever.truncated([long, long, TEXTS[1]], [20, len(long), len(TEXTS[1])])
    assert cut.tolist() == [False, True, False]


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(DataError, match=str(tmp_path)):
        load_retriever(tmp_path)
