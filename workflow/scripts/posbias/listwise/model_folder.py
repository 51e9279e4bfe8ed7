"""Causal language models and their tokenizers out of local folders: whole, or a named fault."""

from pathlib import Path
from typing import TYPE_CHECKING

from posbias.errors import DataError
from posbias.models.encoder import quiet_libraries
from posbias.models.own_code import refuse_own_code
from posbias.models.wholeness import REMEDY, check_vocabulary

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def read_causal_lm(
    folder: Path, dtype: "torch.dtype"
) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase"]:
    """Load a model, ready to evaluate, and its tokenizer; nothing is fetched.

    Raises DataError naming the folder if a part is missing or damaged. The library itself would
    fill missing weights with random numbers, and make a tokenizer out of nothing. Raises
    ConfigError for a model that needs code of its own.
    """
    folder = Path(folder)
    if not (folder / "config.json").is_file():
        raise DataError(f"{folder}: no causal language model (config.json is missing); {REMEDY}.")
    check_vocabulary(folder)
    refuse_own_code(folder, "AutoModelForCausalLM", str(folder))
    quiet_libraries()
    from transformers import AutoModelForCausalLM, AutoTokenizer

    local = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **local)
        model, report = AutoModelForCausalLM.from_pretrained(
            str(folder), **local, dtype=dtype, output_loading_info=True
        )
    except Exception as fault:  # the libraries below raise many kinds for a damaged folder
        raise DataError(
            f"{folder}: cannot be loaded ({type(fault).__name__}: {fault}); {REMEDY}."
        ) from fault
    faults = [f"{kind} {sorted(map(str, names))}" for kind, names in report.items() if names]
    if faults:
        raise DataError(
            f"{folder}: the weights are not those that config.json describes "
            f"({'; '.join(faults)}); {REMEDY}."
        )
    return model.eval(), tokenizer
