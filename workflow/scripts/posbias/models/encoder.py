"""Loading a SentenceTransformer folder, quietly and with right padding."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from posbias.errors import DataError
from posbias.logs import Heartbeat
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
    """Load an encoder from a local folder; raises DataError if the folder holds none.

    attention: implementation of it, None = the library's choice; results differ by rounding.
    Weights are float32 whatever the folder's own precision. Padding goes to the right whatever
    the tokenizer's files say: with absolute positions, left padding shifts every token, and
    first-token pooling would return the padding's vector.
    """
    path = Path(path)
    if not (path / "modules.json").is_file():
        raise DataError(
            f"{path}: no SentenceTransformer model (modules.json is missing); "
            "delete the folder and run the step that makes it again."
        )
    quiet_libraries()
    import torch
    from sentence_transformers import SentenceTransformer

    loading = {"dtype": torch.float32}
    if attention is not None:
        loading["attn_implementation"] = attention
    try:
        encoder = SentenceTransformer(
            str(path),
            device=None if torch.cuda.is_available() else "cpu",
            local_files_only=True,
            model_kwargs=loading,
        )
    except Exception as fault:  # the libraries below raise many kinds for a damaged folder
        raise DataError(
            f"{path}: cannot be loaded ({type(fault).__name__}: {fault}); "
            "delete the folder and run the step that makes it again."
        ) from fault
    encoder.tokenizer.padding_side = "right"
    return encoder.eval()


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
