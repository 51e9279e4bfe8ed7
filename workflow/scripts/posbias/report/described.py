"""Descriptions of retrievers, as the tables of models and of the training read them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from posbias.errors import DataError
from posbias.files import read_json

FIELDS = (
    "retriever", "label", "checkpoint", "revision", "family", "kind", "layers", "windowed_layers",
    "positions", "pooling", "parameters", "trained_parameters", "token_vectors", "max_tokens",
    "learning_rate", "query_prefix", "training", "seed", "versions",
)  # fmt: skip


def read_described(
    paths: Iterable[Path], order: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Read the descriptions of retrievers, in `order` or as given.

    Raises DataError naming a file that lacks a field, a retriever that is described twice, that
    `order` does not name, or that it names without a description.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        record = read_json(path)
        missing = [name for name in FIELDS if name not in record]
        if missing:
            raise DataError(
                f"{path}: the field(s) {', '.join(missing)} are missing; delete the file and "
                "describe the retriever again."
            )
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
