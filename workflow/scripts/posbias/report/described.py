"""Descriptions of retrievers, as the tables of models and of the training read them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import NoneType
from typing import Any

from posbias.errors import DataError
from posbias.report.objects import ANY, NUMBER, TEXT_OR_NULL, Each, read_object

MAYBE_WHOLE = (int, NoneType)
FIELDS = {
    **dict.fromkeys(("retriever", "label"), str),
    **dict.fromkeys(("checkpoint", "revision", "family", "kind"), TEXT_OR_NULL),
    **dict.fromkeys(("layers", "windowed_layers"), MAYBE_WHOLE),
    **dict.fromkeys(("positions", "pooling"), str),
    "parameters": int,
    "trained_parameters": MAYBE_WHOLE,
    "token_vectors": str,
    "max_tokens": int,
    "learning_rate": NUMBER,
    "query_prefix": str,
    "training": Each(ANY, least=1),
    "seed": int,
    "versions": Each(TEXT_OR_NULL),
}
REMEDY = "delete the file and describe the retriever again"


def read_described(
    paths: Iterable[Path], order: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Read the descriptions of retrievers, in `order` or as given.

    Raises DataError naming a file that lacks a field, a retriever that is described twice, that
    `order` does not name, or that it names without a description.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        record = read_object(path, FIELDS, REMEDY)
        if record["retriever"] in found:
            raise DataError(f"{path}: {record['retriever']} is described twice; pass it once.")
        found[record["retriever"]] = record
    keys = list(found) if order is None else list(order)
    wrong = [*(key for key in keys if key not in found), *(key for key in found if key not in keys)]
    if wrong:
        raise DataError(
            f"{', '.join(wrong)}: described, but not among the configured retrievers, or the other "
            "way round; describe those that the config selects."
        )
    if not found:
        raise DataError("no retriever is described; the table needs at least one.")
    return [found[key] for key in keys]
