"""Tables 2, 9 and 10: parameters counted from headers, attention, trainings that do not fit."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

import describe_retriever
import make_retrievers_table
import make_training_table
from page_checks import check_page
from posbias.errors import DataError
from posbias.files import write_json, write_text
from posbias.models.checkpoints import seal_checkpoint
from posbias.models.description import (
    describe_checkpoint,
    kind_of,
    stored_parameters,
    windowed_layers,
)
from posbias.report.described import read_described
from posbias.report.grid import draw_grid
from posbias.report.retrievers_table import rate, retrievers_frame, retrievers_table
from posbias.report.training_table import NOT_STATED, training_frame, training_table
from report_measures import LABELS, PROVENANCE

TRAINING = {
    "loss": "cached", "scale": 20.0, "batch_size": 256, "epochs": 3, "warmup_ratio": 0.1,
    "schedule": "linear", "weight_decay": 0.0, "max_grad_norm": 1.0, "autocast": "bf16",
    "max_tokens": 8192, "threads": 8,
}  # fmt: skip
# Tables 2 and 9 of the paper: checkpoint, kind, windowed and all layers, positions, pooling.
MODELS = {
    "bert": ("google-bert/bert-base-uncased", "encoder", 0, 12, "absolute", "cls"),
    "longformer": ("allenai/longformer-base-4096", "encoder", 12, 12, "absolute", "mean"),
    "modernbert_base": ("answerdotai/ModernBERT-base", "encoder", 14, 22, "rope", "cls"),
    "modernbert_large": ("answerdotai/ModernBERT-large", "encoder", 18, 28, "rope", "cls"),
    "gpt2": ("openai-community/gpt2-medium", "decoder", 0, 24, "absolute", "last"),
    "bloom": ("bigscience/bloom-560m", "decoder", 0, 24, "alibi", "last"),
    "tinyllama_nope": ("AntNLP/TinyLlama-NoPE-1.1B", "decoder", 0, 22, "none", "last"),
    "qwen3": ("Qwen/Qwen3-0.6B", "decoder", 0, 28, "rope", "last"),
}
# Parameters in millions, longest input, learning rate.
SIZES = {
    "bert": (110, 512, 4e-5),
    "longformer": (149, 4096, 4e-5),
    "modernbert_base": (149, 8192, 4e-5),
    "modernbert_large": (395, 8192, 2e-5),
    "gpt2": (355, 1024, 4e-5),
    "bloom": (560, 2048, 2e-5),
    "tinyllama_nope": (1100, 2048, 2e-5),
    "qwen3": (600, 8192, 2e-5),
}
PREFIXES = {"encoder": "query: ", "decoder": "Retrieve a relevant passage: "}


def described(key: str, **more) -> dict:
    start, kind, windowed, layers, positions, pooling = MODELS[key]
    millions, longest, learning = SIZES[key]
    return {
        "retriever": key, "label": LABELS[key], "checkpoint": start, "revision": "0" * 40,
        "family": key, "kind": kind, "layers": layers, "windowed_layers": windowed,
        "positions": positions, "pooling": pooling, "parameters": 10**6 * millions,
        "trained_parameters": 10**6 * millions - 1, "token_vectors": "trained",
        "max_tokens": longest, "learning_rate": learning, "query_prefix": PREFIXES[kind],
        "training": TRAINING, "seed": 42,
        "versions": {"pytorch": "2.13.0", "transformers": "5.24.0"}, **more,
    }  # fmt: skip


def written(folder: Path, records: list[dict]) -> list[Path]:
    paths = [folder / f"{record['retriever']}.json" for record in records]
    for path, record in zip(paths, records, strict=True):
        write_json(path, record)
    return paths


def checkpoint(folder: Path, config: dict, shapes: dict, entry: dict, **more) -> Path:
    """Write a sealed folder with weights of these shapes."""
    folder.mkdir(parents=True)
    save_file(
        {name: np.zeros(shape, np.float16) for name, shape in shapes.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    write_json(folder / "config.json", config)
    write_text(folder / "tokenizer.json", "{}")
    write_json(folder / "config_sentence_transformers.json", {"__version__": {"pytorch": "2.13"}})
    entry = {
        "label": "A label", "positions": "absolute", "pooling": "cls", "query_prefix": "query: ",
        "learning_rate": 4e-5, **entry,
    }  # fmt: skip
    settings = {"retriever": "one", "entry": entry, "training": TRAINING, "seed": 7, **more}
    seal_checkpoint(folder, {name: value for name, value in settings.items() if value is not None})
    return folder


BERT = {"model_type": "bert", "num_hidden_layers": 2}


@given(st.lists(st.lists(st.integers(0, 6), max_size=4), min_size=1, max_size=5))
def test_parameters_are_those_that_the_weights_hold(tmp_path_factory, shapes) -> None:
    folder = tmp_path_factory.mktemp("weights")
    tensors = {f"t{i}": np.ones(shape, np.float32) for i, shape in enumerate(shapes)}
    save_file(tensors, folder / "model-00001-of-00002.safetensors", metadata={"format": "pt"})
    save_file({"x": np.ones(5, np.int8)}, folder / "model-00002-of-00002.safetensors")
    assert stored_parameters(folder) == 5 + sum(tensor.size for tensor in tensors.values())


@pytest.mark.parametrize("keep", [0, 7, 8, 20])
def test_weights_that_are_cut_short_are_named(tmp_path, keep) -> None:
    file = tmp_path / "model.safetensors"
    save_file({"x": np.ones(50, np.float32)}, file)
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"model\.safetensors: not a whole safetensors file"):
        stored_parameters(tmp_path)
    file.unlink()
    with pytest.raises(DataError, match="no safetensors file"):
        stored_parameters(tmp_path)


def test_a_checkpoint_is_described_from_its_own_files(tmp_path) -> None:
    shapes = {"embeddings.word_embeddings.weight": (10, 4), "layer.weight": (4, 4)}
    scratch = checkpoint(tmp_path / "a", BERT, shapes, {"family": "bert"}, trained_parameters=16)
    found = describe_checkpoint(scratch, "one")
    assert (found["parameters"], found["trained_parameters"]) == (56, 16)
    assert (found["checkpoint"], found["token_vectors"]) == (None, "fixed")
    assert (found["kind"], found["windowed_layers"], found["layers"]) == ("encoder", 0, 2)
    assert (found["max_tokens"], found["seed"], found["versions"]) == (8192, 7, {"pytorch": "2.13"})
    base = {"name": "bert_base", "repo": "google-bert/bert-base-uncased", "revision": "86b5"}
    own = {"checkpoint": "bert_base", "max_tokens": 512, "freeze_token_vectors": False}
    trained = checkpoint(tmp_path / "b", BERT, shapes, own, base=base)
    out = tmp_path / "b.json"
    describe_retriever.main(trained, out, "one")
    found = json.loads(out.read_text())
    assert (found["checkpoint"], found["revision"]) == (base["repo"], "86b5")
    assert (found["token_vectors"], found["max_tokens"]) == ("trained", 512)
    assert found["trained_parameters"] is None
    assert read_described([out])[0] == found
    row = retrievers_table(retrievers_frame([found])).sections[0].rows[0]
    assert [cell.text for cell in row][5:7] == ["0.0", "–"]
    folder = checkpoint(tmp_path / "c", BERT, shapes, own, base={**base, "repo": None})
    assert describe_checkpoint(folder, "one")["checkpoint"] == "bert_base"


def test_a_folder_that_is_not_whole_or_of_another_is_refused(tmp_path) -> None:
    folder = checkpoint(tmp_path / "a", BERT, {"x": (2,)}, {"family": "bert"})
    with pytest.raises(DataError, match="holds retriever one, not retriever two"):
        describe_checkpoint(folder, "two")
    lacking = checkpoint(tmp_path / "b", BERT, {"x": (2,)}, {"family": "bert"}, seed=None)
    with pytest.raises(DataError, match=r"posbias\.json: the field\(s\) seed are missing"):
        describe_checkpoint(lacking, "one")
    (folder / "config.json").write_text("{}")
    with pytest.raises(DataError, match=r"config\.json: not the file that the training wrote"):
        describe_checkpoint(folder, "one")


def test_the_papers_families_attend_as_table_2_says() -> None:
    pytest.importorskip("transformers")
    kinds = {name: kind_of(name) for name in ("bert", "longformer", "modernbert")}
    assert set(kinds.values()) == {"encoder"}
    assert {kind_of(name) for name in ("gpt2", "bloom", "llama", "qwen3")} == {"decoder"}
    assert kind_of("no such family") is None


@pytest.mark.parametrize(
    ("config", "layers"),
    [
        ({"num_hidden_layers": 3}, (0, 3)),
        ({"n_layer": 4}, (0, 4)),
        ({"num_hidden_layers": 2, "attention_window": [32, 32]}, (2, 2)),
        ({"num_hidden_layers": 2, "layer_types": ["full_attention", "sliding_attention"]}, (1, 2)),
        ({"num_hidden_layers": 2, "sliding_window": 4096, "use_sliding_window": False}, (0, 2)),
        ({"num_hidden_layers": 2, "sliding_window": None, "use_sliding_window": True}, (0, 2)),
        ({"num_hidden_layers": 2, "sliding_window": 4096}, (2, 2)),
    ],
)  # fmt: skip
def test_windows_are_read_from_the_config_of_any_family(config, layers) -> None:
    assert windowed_layers(config) == layers


def test_the_table_has_every_retriever_once_with_its_attention(tmp_path) -> None:
    paths = written(tmp_path, [described(key) for key in reversed(MODELS)])
    names = {name: tmp_path / f"out.{name}" for name in ("pdf", "csv", "tex", "meta")}
    make_retrievers_table.main(paths, **names, provenance=PROVENANCE)
    table = pd.read_csv(names["csv"], keep_default_na=False)
    assert table["retriever"].tolist() == list(LABELS)
    assert table["attention"].tolist() == [
        "bidirectional", "sliding window", "bidirectional", "bidirectional", *["causal"] * 4,
    ]  # fmt: skip
    assert table["positions"].tolist()[-2:] == ["none", "rope"]
    tex = names["tex"].read_text()
    assert r"bidirectional$\dagger$ & RoPE & CLS & 149.0" in tex
    assert "sliding window & absolute & mean & 149.0 & 149.0 & 4,096 & 4e-5" in tex
    assert "ModernBERT-base 14 of 22, ModernBERT-large 18 of 28" in tex
    assert "“Retrieve a relevant passage:” for GPT-2, BLOOM, TinyLlama-NoPE, Qwen3" in tex
    assert "token vectors" not in tex
    first = names["pdf"].read_bytes()
    make_retrievers_table.main(paths, **names, provenance=PROVENANCE)
    assert names["pdf"].read_bytes() == first


def test_the_pages_are_legible_and_fixed_token_vectors_are_told() -> None:
    records = [described(key) for key in MODELS]
    paper = retrievers_table(retrievers_frame(records))
    check_page(lambda: draw_grid(paper, "Title", "footer"))
    records[0] |= {"checkpoint": None, "token_vectors": "fixed"}
    records[1] |= {"checkpoint": "/somewhere/on/a/long/path/to/a/folder/longformer"}
    records[2] |= {"kind": None}
    grid = retrievers_table(retrievers_frame(records))
    assert [section.title for section in grid.sections] == [
        "Encoders",
        "Decoders",
        "Other families",
    ]
    starts = [row[1].text for section in grid.sections for row in section.rows]
    assert starts[:2] == ["scratch: bert", "…/longformer"]
    assert "The token vectors of BERT were not trained." in grid.notes
    check_page(lambda: draw_grid(grid, "Title", "footer"))
    frame = training_frame(TRAINING, 42, records)
    check_page(lambda: draw_grid(training_table(frame), "Title", "footer"))


@given(st.integers(1, 9), st.integers(-8, 0))
def test_a_learning_rate_is_printed_as_it_is(digit, exponent) -> None:
    value = digit * 10.0**exponent
    assert rate(value) == f"{digit}e{exponent}"
    assert float(rate(1.5 * value)) == pytest.approx(1.5 * value)


def test_what_is_not_as_in_the_paper_is_bold(tmp_path) -> None:
    records = [described(key) for key in MODELS]
    rows = training_frame(TRAINING, 42, records).set_index("key")
    assert rows.loc["scale", "here"] == "20 (temperature 0.05)"
    assert rows.loc["learning_rate", "here"] == rows.loc["learning_rate", "paper"] == "4e-5; 2e-5"
    assert rows.loc["max_tokens", "here"] == "512; 1,024; 2,048; 4,096; 8,192"
    assert rows.loc["version_transformers", "here"] == "5.24.0"
    assert "version_sentence_transformers" not in rows.index and "threads" not in rows.index

    def bold(training: dict, seed: int) -> set[str]:
        each = [{**record, "training": training} for record in records]
        frame = training_frame(training, seed, each)
        (section,) = training_table(frame).sections
        return {key for key, row in zip(frame["key"], section.rows, strict=True) if row[1].bold}

    assert bold(TRAINING, 42) == set()
    assert bold({**TRAINING, "batch_size": 32, "weight_decay": 0.01}, 43) == {"batch_size", "seed"}
    paths = written(tmp_path, records)
    names = {name: tmp_path / f"out.{name}" for name in ("pdf", "csv", "tex", "meta")}
    make_training_table.main(paths, **names, provenance=PROVENANCE, training=TRAINING, seed=42)
    table = pd.read_csv(names["csv"], keep_default_na=False)
    assert list(table) == ["key", "name", "here", "paper"] and NOT_STATED in set(table["paper"])


def test_a_retriever_of_another_training_is_named() -> None:
    other = described("gpt2", training={**TRAINING, "epochs": 2, "threads": 1})
    with pytest.raises(DataError, match="gpt2: trained with epochs 2, but the config has 3"):
        training_frame(TRAINING, 42, [described("bert"), other])
    same = described("gpt2", training={**TRAINING, "threads": 1, "log_every": 99})
    training_frame(TRAINING, 42, [described("bert"), same])


def test_descriptions_must_be_those_of_the_configured_retrievers(tmp_path) -> None:
    paths = written(tmp_path, [described("bert"), described("gpt2")])
    assert [r["retriever"] for r in read_described(paths, ["gpt2", "bert"])] == ["gpt2", "bert"]
    for order, wrong in ((["bert"], "gpt2"), (["bert", "gpt2", "qwen3"], "qwen3")):
        with pytest.raises(DataError, match=f"^{wrong}: described, but not among"):
            read_described(paths, order)
    with pytest.raises(DataError, match=r"bert\.json: bert is described twice"):
        read_described([paths[0], paths[0]])
    with pytest.raises(DataError, match="at least one"):
        read_described([])
    write_json(paths[0], {"retriever": "bert"})
    with pytest.raises(DataError, match=r"bert\.json: the field\(s\) label"):
        read_described(paths)
    for change, message in [
        ({"training": None}, "training is null, expected an object"),
        ({"training": {}}, "training is an empty object"),
        ({"learning_rate": "4e-5"}, "learning_rate is '4e-5', expected a number"),
    ]:
        write_json(paths[0], described("bert") | change)
        with pytest.raises(DataError, match=rf"bert\.json: {message}.*; delete the file and desc"):
            read_described(paths)
