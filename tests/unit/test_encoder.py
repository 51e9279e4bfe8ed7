"""Folders of encoders: whole ones load, others are named; nothing is made up and no code runs."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from posbias.errors import ConfigError, DataError
from posbias.models import encoder as module
from posbias.models.encoder import check_positions, load_encoder
from posbias.models.retriever import load_retriever
from posbias.queries.panel import make_member

TEXTS = ["a river", "the end of a very long sentence about a cat.", "dog 7"]
LAYER = "encoder.layer.0."


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def folder(tiny_encoder, tmp_path) -> Path:
    """A copy of the tiny encoder, to be damaged."""
    return shutil.copytree(tiny_encoder, tmp_path / "tiny")


@pytest.fixture(autouse=True)
def nobody(monkeypatch):
    """Whoever is asked whether code may run says yes, as a careless user would."""
    monkeypatch.setattr("builtins.input", lambda *_: "y")


def change_weights(folder: Path, change) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def change_json(path: Path, **values) -> None:
    found = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps({**found, **values}))


def test_the_packaged_encoder_loads(encoder_folder):
    assert load_encoder(encoder_folder).encode(TEXTS).shape == (3, 384)


def test_a_pooler_may_be_missing_and_changes_nothing(tiny_encoder, folder):
    change_weights(folder, lambda w: [w.pop(name) for name in list(w) if "pooler." in name])
    assert not any("pooler" in name for name in load_file(folder / "model.safetensors"))
    np.testing.assert_array_equal(
        load_encoder(folder).encode(TEXTS), load_encoder(tiny_encoder).encode(TEXTS)
    )


@pytest.mark.parametrize(
    "name",
    [
        f"{LAYER}attention.self.query.weight",
        f"{LAYER}output.LayerNorm.bias",
        "embeddings.position_embeddings.weight",
    ],
)
def test_a_missing_weight_is_named_by_whoever_loads(folder, name):
    change_weights(folder, lambda weights: weights.pop(name))
    message = rf"tiny: the weights are not those .*missing \['{name}'\].*delete the folder"
    for load in (
        load_encoder,
        load_retriever,
        lambda path: make_member("c", "cosine", [], {"model": path, "batch_size": 2}),
    ):
        with pytest.raises(DataError, match=message):
            load(folder)


def test_a_layer_too_many_is_named(folder):
    extra = f"{LAYER.replace('0', '1')}output.dense.weight"
    change_weights(folder, lambda weights: weights.update({extra: torch.zeros(32, 64)}))
    with pytest.raises(DataError, match=rf"left over \['{extra}'\]"):
        load_encoder(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_weight_that_is_no_number_is_named(folder, value):
    name = f"{LAYER}output.dense.bias"
    change_weights(folder, lambda weights: weights[name][3:4].fill_(value))
    with pytest.raises(DataError, match=rf"tiny: .*{name} holds values .* \(as float32\)"):
        load_encoder(folder)


def test_without_a_vocabulary_nothing_is_made_up(folder):
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(DataError, match="tiny: no tokenizer"):
        load_encoder(folder)


def test_an_encoder_of_a_larger_family_is_whole_without_its_decoder(tmp_path, tiny_encoder):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import T5Config, T5EncoderModel

    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    T5EncoderModel(T5Config(vocab_size=90, **sizes)).save_pretrained(tmp_path / "body")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny_encoder / name, tmp_path / "body")
    parts = [Transformer(str(tmp_path / "body")), Pooling(16, "mean")]
    SentenceTransformer(modules=parts, device="cpu").save(str(tmp_path / "t5"))
    assert load_encoder(tmp_path / "t5").encode(TEXTS).shape == (3, 16)
    name = "encoder.block.0.layer.0.SelfAttention.q.weight"
    change_weights(tmp_path / "t5", lambda weights: weights.pop(name))
    with pytest.raises(DataError, match=r"SelfAttention\.q\.weight"):
        load_encoder(tmp_path / "t5")


# Code of a model's own.


def bring_code(folder: Path, where: str, flag: Path) -> None:
    """Give a folder code that leaves a mark when it runs."""
    (folder / "evil.py").write_text(
        f"open({str(flag)!r}, 'w')\n"
        "from transformers import BertConfig, BertModel, BertTokenizer\n"
        "from sentence_transformers.sentence_transformer.modules import Transformer\n"
        "class C(BertConfig): model_type = 'evil'\n"
        "class M(BertModel): config_class = C\n"
        "class T(BertTokenizer): pass\n"
        "class S(Transformer): pass\n"
    )
    if where == "config":
        classes = {"AutoConfig": "evil.C", "AutoModel": "evil.M"}
        change_json(folder / "config.json", model_type="evil", auto_map=classes)
    elif where == "known config":
        change_json(folder / "config.json", auto_map={"AutoModel": "evil.M"})
    elif where == "elsewhere":
        change_json(folder / "config.json", auto_map={"AutoModel": "some/repo--evil.M"})
    elif where == "tokenizer":
        classes = {"AutoTokenizer": ["evil.T", None]}
        change_json(folder / "tokenizer_config.json", tokenizer_class="T", auto_map=classes)
    elif where == "old tokenizer":
        change_json(
            folder / "tokenizer_config.json", tokenizer_class="T", auto_map=["evil.T", None]
        )
    else:
        modules = json.loads((folder / "modules.json").read_text())
        modules[0]["type"] = "evil.S"
        (folder / "modules.json").write_text(json.dumps(modules))


PLACES = ["config", "known config", "elsewhere", "tokenizer", "old tokenizer", "modules"]


@pytest.mark.parametrize("where", PLACES)
def test_code_of_an_encoder_s_own_does_not_run_and_is_told_of(folder, tmp_path, where):
    bring_code(folder, where, tmp_path / "flag")
    with pytest.raises(ConfigError, match=r"tiny brings its own code \(.*\); it is not run here"):
        load_encoder(folder)
    assert not (tmp_path / "flag").exists()


@pytest.mark.parametrize("where", ["config", "tokenizer", "modules"])
def test_the_library_itself_is_told_not_to_run_it(folder, tmp_path, where, monkeypatch):
    monkeypatch.setattr(module, "_checked_folders", lambda path: {})  # as if nobody had looked
    bring_code(folder, where, tmp_path / "flag")
    if where == "tokenizer":  # a class of the library's stands in
        load_encoder(folder)
    else:
        with pytest.raises(DataError, match=r"(?s)cannot be loaded .*trust_remote_code"):
            load_encoder(folder)
    assert not (tmp_path / "flag").exists()


# Positions.


def test_inputs_longer_than_the_positions_are_refused(tiny_encoder):
    encoder = load_encoder(tiny_encoder)
    check_positions(encoder, 512, "here.max_tokens")
    with pytest.raises(ConfigError, match=r"here\.max_tokens is 513, but .* 512 positions"):
        check_positions(encoder, 513, "here.max_tokens")
