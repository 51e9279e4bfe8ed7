"""Loading a SentenceTransformer folder, quietly and with right padding."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from posbias.errors import DataError

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


def load_encoder(path: Path) -> "SentenceTransformer":
    """Load an encoder from a local folder; raises DataError if the folder holds none.

    Padding goes to the right whatever the tokenizer's files say: with absolute positions, left
    padding shifts every token, and first-token pooling would return the padding's vector.
    """
    path = Path(path)
    if not (path / "modules.json").is_file():
        raise DataError(
            f"{path}: no SentenceTransformer model (modules.json is missing); "
            "delete the folder and run the step that makes it again."
        )
    quiet_libraries()
    from sentence_transformers import SentenceTransformer

    device = None if _accelerator() else "cpu"
    try:
        encoder = SentenceTransformer(str(path), device=device, local_files_only=True)
    except Exception as fault:  # the libraries below raise many kinds for a damaged folder
        raise DataError(
            f"{path}: cannot be loaded ({type(fault).__name__}: {fault}); "
            "delete the folder and run the step that makes it again."
        ) from fault
    encoder.tokenizer.padding_side = "right"
    return encoder.eval()


def _accelerator() -> bool:
    import torch

    return torch.cuda.is_available()
