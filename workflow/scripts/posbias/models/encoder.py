"""Loading a SentenceTransformer folder, quietly and with right padding."""

import copy
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from posbias.errors import ConfigError, DataError, PosbiasError
from posbias.files import read_json
from posbias.logs import Heartbeat
from posbias.models.bodies import usable_positions
from posbias.models.own_code import NOT_RUN, refuse_own_code
from posbias.models.wholeness import REMEDY, check_numbers, check_vocabulary, check_weights
from posbias.retrieval.dense import normalise

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def quiet_libraries() -> None:
    """Keep progress bars and advice of the model libraries out of the logs."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from datasets.utils.logging import disable_progress_bar
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    disable_progress_bar()


def set_threads(threads: int) -> None:
    """Let torch use this many CPU threads; two busy processes with one each beat one with two."""
    import torch

    torch.set_num_threads(threads)


def load_encoder(path: Path, attention: str | None = None) -> "SentenceTransformer":
    """Load an encoder from a local folder.

    Raises DataError if the folder holds none, or one that lacks weights or a tokenizer, and
    ConfigError for one that needs code of its own.

    attention: implementation of it, None = the library's choice; results differ by rounding.
    Weights are float32 whatever the folder's own precision. Padding goes to the right whatever
    the tokenizer's files say: with absolute positions, left padding shifts every token, and
    first-token pooling would return the padding's vector.
    """
    path = Path(path)
    if not (path / "modules.json").is_file():
        raise DataError(
            f"{path}: no SentenceTransformer model (modules.json is missing); {REMEDY}."
        )
    quiet_libraries()
    import torch
    from sentence_transformers import SentenceTransformer

    loading = {"dtype": torch.float32}
    if attention is not None:
        loading["attn_implementation"] = attention
    try:
        folders = _checked_folders(path)
        encoder = SentenceTransformer(
            str(path),
            device=None if torch.cuda.is_available() else "cpu",
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs=loading,
        )
        for number, folder in folders.items():
            body = encoder[number].model
            check_weights(
                folder,
                type(body),
                folder,
                unused="pooler.",
                config=copy.deepcopy(body.config),
                local_files_only=True,
            )
    except PosbiasError:
        raise
    except Exception as fault:  # the libraries below raise many kinds for a damaged folder
        raise DataError(
            f"{path}: cannot be loaded ({type(fault).__name__}: {fault}); {REMEDY}."
        ) from fault
    check_numbers(encoder, path)
    encoder.tokenizer.padding_side = "right"
    return encoder.eval()


def _checked_folders(path: Path) -> dict[int, Path]:
    """Return the folders of an encoder's bodies by the number of their module."""
    folders = {}
    for number, module in enumerate(read_json(path / "modules.json")):
        folder, kind = path / module["path"], module["type"]
        if not kind.startswith("sentence_transformers."):
            raise ConfigError(f"{path} brings its own code (modules.json: {kind}); {NOT_RUN}.")
        if kind.endswith(".Transformer"):
            refuse_own_code(folder, "AutoModel", str(folder))
            check_vocabulary(folder)
            folders[number] = folder
    return folders


def check_positions(encoder: "SentenceTransformer", max_tokens: int, place: str) -> None:
    """Raise ConfigError if inputs may be longer than the positions of an encoder's body.

    place: of the limit in the config.
    """
    config = getattr(getattr(encoder[0], "model", None), "config", None)
    limit = None if config is None else usable_positions(config)
    if limit is not None and max_tokens > limit:
        raise ConfigError(
            f"{place} is {max_tokens}, but the encoder has {limit} positions; set it to {limit} or "
            "less."
        )


def encode_unit(
    encoder: "SentenceTransformer", texts: list[str], batch_size: int, name: str
) -> np.ndarray:
    """Return float32 vectors of length 1, (texts, width), with a line of progress now and then.

    name: heads the progress lines and names the text in the error for a vector without length.
    """
    heartbeat = Heartbeat(name, len(texts))
    # Sorted by length, as the encoder itself would, so that a block pads little.
    order = sorted(range(len(texts)), key=lambda row: (-len(texts[row]), row))
    vectors = np.empty((len(texts), encoder.get_embedding_dimension()), dtype=np.float32)
    for at in range(0, len(order), batch_size):
        rows = order[at : at + batch_size]
        vectors[rows] = encoder.encode(
            [texts[row] for row in rows], batch_size=batch_size, show_progress_bar=False
        )
        heartbeat.beat(at + len(rows))
    return normalise(vectors, f"{name}: text")
