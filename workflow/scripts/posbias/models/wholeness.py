"""Whether a model's folder is whole: the libraries make up what is missing, and say nothing."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posbias.errors import DataError

if TYPE_CHECKING:
    from torch.nn import Module

VOCABULARIES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
REMEDY = "delete the folder and run the step that makes it again"
_LAYER = re.compile(r"\.\d+\..*\.weight$")


def check_vocabulary(folder: Path) -> None:
    """Raise DataError for a folder without a tokenizer: one made out of nothing knows no word."""
    if not any((Path(folder) / name).is_file() for name in VOCABULARIES):
        raise DataError(
            f"{folder}: no tokenizer (none of {', '.join(VOCABULARIES)} is there), and the library "
            f"would make one out of nothing; {REMEDY}."
        )


def check_weights(
    folder: Path, model_class: Any, place: Path, unused: str | None = None, **loading: Any
) -> None:
    """Raise DataError unless a folder's weights are those that its config describes.

    Missing ones would be random numbers, surplus layers would be left out. Only names and shapes
    are read here, no values. model_class: what loads them; place: the folder's name in messages;
    unused: part whose weights may be missing; loading: arguments of `from_pretrained`.
    """
    _, report = model_class.from_pretrained(
        str(folder), output_loading_info=True, device_map={"": "meta"}, **loading
    )
    missing = [name for name in report["missing_keys"] if unused is None or unused not in name]
    surplus = [name for name in report["unexpected_keys"] if _LAYER.search(f".{name}")]
    if missing or surplus:
        raise DataError(
            f"{place}: the weights are not those that config.json describes (missing "
            f"{sorted(missing)[:3]}, left over {sorted(surplus)[:3]}); {REMEDY}."
        )


def check_numbers(model: "Module", folder: Path) -> None:
    """Raise DataError naming a weight of a loaded model that is not a finite number."""
    import torch

    for name, values in model.named_parameters():
        if not torch.isfinite(values).all():
            raise DataError(
                f"{folder}: {name} holds values that are not finite numbers (as "
                f"{str(values.dtype).removeprefix('torch.')}); {REMEDY}."
            )
