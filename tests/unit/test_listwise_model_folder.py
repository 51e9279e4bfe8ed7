"""Language models in folders: saved, loaded anywhere, and refused if they are not whole."""

import json
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from listwise_models import (
    CLOSE,
    TOKENIZERS,
    byte_level_tokenizer,
    losses,
    scorer_of,
    some_windows,
    tiny_llama,
)
from posbias.errors import ConfigError, DataError
from posbias.listwise.causal_lm import CausalLmScorer
from posbias.options import check_options

torch.set_num_threads(1)
SCORERS = {kind: scorer_of(kind) for kind in TOKENIZERS}


@pytest.fixture(params=SCORERS)
def scorer(request) -> CausalLmScorer:
    return SCORERS[request.param]


@pytest.fixture
def saved(scorer, tmp_path) -> Path:
    scorer.save(tmp_path / "model")
    return tmp_path / "model"


def test_what_is_saved_loads_anywhere_and_scores_the_same(scorer, saved):
    rows = some_windows(3, 4)
    vectors = scorer.model.get_input_embeddings().weight.shape
    again = CausalLmScorer.load(saved, max_tokens=2048, max_words=200, batch_tokens=1000)
    assert (again.max_tokens, again.max_words, again.batch_tokens) == (2048, 200, 1000)
    assert not again.training
    torch.testing.assert_close(losses(again, *rows), losses(scorer, *rows), **CLOSE)
    plain = AutoModelForCausalLM.from_pretrained(str(saved), local_files_only=True)
    assert plain.get_input_embeddings().weight.shape == vectors
    tokenizer = AutoTokenizer.from_pretrained(str(saved), local_files_only=True)
    assert len(tokenizer) == len(scorer.tokenizer)
    assert CausalLmScorer(plain, tokenizer).prompt_hash == scorer.prompt_hash


def test_saving_leaves_other_files_alone(scorer, tmp_path):
    (tmp_path / "settings.json").write_text("{}")
    scorer.save(tmp_path)
    assert (tmp_path / "settings.json").is_file()
    assert CausalLmScorer.load(tmp_path)


@pytest.mark.parametrize("tied", [True, False])
def test_a_trainers_state_holds_each_weight_once(tmp_path, tied):
    rows = some_windows(2, 3)
    tokenizer = byte_level_tokenizer()
    scorer, other = (
        CausalLmScorer(tiny_llama(tokenizer, seed=seed, tied=tied), tokenizer) for seed in (0, 1)
    )
    state = scorer.state_dict()
    assert ("model.lm_head.weight" in state) != tied
    save_file(state, tmp_path / "state.safetensors")
    report = other.load_state_dict(load_file(tmp_path / "state.safetensors"), strict=False)
    assert (report.missing_keys, report.unexpected_keys) == ([], [])
    torch.testing.assert_close(losses(other, *rows), losses(scorer, *rows), **CLOSE)
    # What is really missing is still reported.
    assert other.load_state_dict({}, strict=False).missing_keys
    # A saved folder, too, keeps what is tied.
    scorer.save(tmp_path / "model")
    again = CausalLmScorer.load(tmp_path / "model")
    torch.testing.assert_close(losses(again, *rows), losses(scorer, *rows), **CLOSE)


def test_a_resized_table_is_not_saved(tmp_path):
    scorer = scorer_of("byte-level")
    scorer.model.resize_token_embeddings(scorer.rows + 1)
    with pytest.raises(ConfigError, match="422 token vectors, 421 when it was loaded"):
        scorer.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_unknown_options_of_loading_are_named():
    with pytest.raises(ConfigError, match=r"scorer\.options: .*'window'.*max_tokens, max_words"):
        check_options("scorer.options", CausalLmScorer.load, {"window": 3}, given=1)


@pytest.mark.parametrize(
    ("dtype", "message"), [("float16", "dtype 'float16' does not"), ("bfloat16", "needs a GPU")]
)
def test_other_precisions_are_refused(saved, monkeypatch, dtype, message):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match=message):
        CausalLmScorer.load(saved, dtype=dtype)


def without_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def without_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def half_of_the_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])


def one_tensor_short(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors.pop("model.layers.1.mlp.up_proj.weight")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def one_tensor_too_many(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors["model.layers.1.mlp.side_proj.weight"] = torch.zeros(2)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def another_width(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["intermediate_size"] = 48
    (folder / "config.json").write_text(json.dumps(config))


def no_config_at_all(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def no_causal_model(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "vit"}')


DAMAGES = {
    without_config: "config.json is missing",
    without_tokenizer: r"no tokenizer \(none of tokenizer\.json",
    without_weights: "cannot be loaded",
    half_of_the_weights: "cannot be loaded",
    one_tensor_short: "layers.1.mlp.up_proj.weight",
    one_tensor_too_many: "layers.1.mlp.side_proj.weight",
    another_width: "cannot be loaded",
    no_config_at_all: r"config\.json: not valid JSON",
    no_causal_model: "cannot be loaded",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_folder_is_named(tmp_path, damage):
    folder = tmp_path / "model"
    SCORERS["byte-level"].save(folder)
    damage(folder)
    with pytest.raises(DataError, match=DAMAGES[damage]) as caught:
        CausalLmScorer.load(folder)
    assert str(folder) in str(caught.value)
    assert re.search("delete the folder|delete it and run again", str(caught.value))
