"""Causal language models and their tokenizers out of local folders: whole, or a named fault."""

from pathlib import Path
from typing import TYPE_CHECKING

from posbias.errors import DataError
from posbias.models.encoder import quiet_libraries

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json")


def read_causal_lm(
    folder: Path, dtype: "torch.dtype"
) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase"]:
    """Load a model, ready to evaluate, and its tokenizer; nothing is fetched.

    Raises DataError naming the folder if a part is missing or damaged. The library itself would
    fill missing weights with random numbers, and make a tokenizer out of nothing.
    """
    folder = Path(folder)
    remedy = "delete the folder and run the step that makes it again"
    if not (folder / "config.json").is_file():
        raise DataError(f"{folder}: no causal language model (config.json is missing); {remedy}.")
    if not any((folder / name).is_file() for name in TOKENIZER_FILES):
        raise DataError(
            f"{folder}: no tokenizer (none of {', '.join(TOKENIZER_FILES)} is there); {remedy}."
        )
    quiet_libraries()
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        model, report = AutoModelForCausalLM.from_pretrained(
            str(folder), local_files_only=True, dtype=dtype, output_loading_info=True
        )
    except Exception as fault:  # the libraries below raise many kinds for a damaged folder
        raise DataError(
            f"{folder}: cannot be loaded ({type(fault).__name__}: {fault}); {remedy}."
        ) from fault
    faults = [f"{kind} {sorted(map(str, names))}" for kind, names in report.items() if names]
    if faults:
        raise DataError(
            f"{folder}: the weights are not those that config.json describes "
            f"({'; '.join(faults)}); {remedy}."
        )
    return model.eval(), tokenizer
