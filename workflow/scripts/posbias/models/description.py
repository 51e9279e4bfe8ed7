"""What a trained retriever is, read from its folder without its weights (paper, Tables 2, 9)."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posbias.errors import DataError
from posbias.files import read_json
from posbias.models.checkpoints import SETTINGS_FILE, checked_settings
from posbias.models.pretrained import body_folder
from posbias.models.retriever import longest_input

# Settings of a training without which a folder cannot be described.
REQUIRED = ("entry", "training", "seed")
LAYERS = ("num_hidden_layers", "n_layer")  # the families' names of their number of layers


def stored_parameters(folder: Path) -> int:
    """Return how many numbers the safetensors files of a folder hold, from their headers alone.

    Raises DataError naming a file that is none, or the folder if it has none.
    """
    files = sorted(Path(folder).glob("*.safetensors"))
    if not files:
        raise DataError(f"{folder}: no safetensors file; delete the folder and train again.")
    return sum(_numbers_in(file) for file in files)


def _numbers_in(file: Path) -> int:
    size = file.stat().st_size
    with file.open("rb") as data:
        length = int.from_bytes(data.read(8), "little")
        try:
            if length > size - 8:
                raise ValueError("the header is longer than the file")
            tensors = json.loads(data.read(length))
            return sum(
                math.prod(tensor["shape"])
                for name, tensor in tensors.items()
                if name != "__metadata__"
            )
        except (ValueError, KeyError, TypeError, AttributeError) as fault:
            raise DataError(
                f"{file}: not a whole safetensors file ({fault}); delete its folder and train "
                "again."
            ) from fault


def kind_of(model_type: str) -> str | None:
    """Say whether a family of the transformers library is an encoder or a decoder.

    Families with a class for masked words read both ways; those that have only one for the next
    word do not. None for a family with neither.
    """
    from transformers.models.auto import modeling_auto

    if model_type in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return "encoder"
    return "decoder" if model_type in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES else None


def windowed_layers(config: Mapping[str, Any]) -> tuple[int, int]:
    """Return in how many layers a token sees only a window around it, and how many there are.

    config: the config.json of a transformers model.
    """
    layers = next((config[name] for name in LAYERS if config.get(name) is not None), 0)
    if config.get("layer_types"):
        return sum("sliding" in name for name in config["layer_types"]), layers
    window = config.get("attention_window") or (
        config.get("sliding_window") if config.get("use_sliding_window", True) else None
    )
    return (layers if window else 0), layers


def describe_checkpoint(folder: Path, retriever: str) -> dict[str, Any]:
    """Return what Tables 2, 9 and 10 say of a retriever, from the folder of one of its settings.

    Parameters are counted, `trained_parameters` are those that the training changed (null if it
    did not tell); `max_tokens` is in tokens. Raises DataError for a folder that is not whole, or
    of another retriever.
    """
    settings = checked_settings(folder, {"retriever": retriever})
    missing = [name for name in REQUIRED if name not in settings]
    if missing:
        raise DataError(
            f"{Path(folder) / SETTINGS_FILE}: the field(s) {', '.join(missing)} are missing; "
            "delete the folder and train again."
        )
    entry, training = settings["entry"], settings["training"]
    body = body_folder(folder)
    config = read_json(body / "config.json")
    kind = kind_of(config["model_type"])
    windowed, layers = windowed_layers(config)
    base = settings.get("base") or {}
    library = Path(folder) / "config_sentence_transformers.json"
    frozen = entry.get("freeze_token_vectors", "checkpoint" not in entry)
    return {
        "retriever": retriever,
        "label": entry["label"],
        "checkpoint": base.get("repo") or base.get("name") or entry.get("checkpoint"),
        "revision": base.get("revision"),
        "family": config["model_type"],
        "kind": kind,
        "layers": layers,
        "windowed_layers": windowed,
        "positions": entry["positions"],
        "pooling": entry["pooling"],
        "parameters": stored_parameters(body),
        "trained_parameters": settings.get("trained_parameters"),
        "token_vectors": "fixed" if frozen else "trained",
        "max_tokens": longest_input(entry, training["max_tokens"]),
        "learning_rate": entry["learning_rate"],
        "query_prefix": entry["query_prefix"],
        "training": training,
        "seed": settings["seed"],
        "versions": read_json(library).get("__version__", {}) if library.is_file() else {},
    }
