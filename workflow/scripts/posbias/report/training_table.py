"""The training's hyper-parameters beside the paper's own (paper, Table 10, section 4.2)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from posbias.errors import DataError
from posbias.report.printed import Cell
from posbias.report.retrievers_table import POOLINGS, rate
from posbias.report.tables import Column, Grid, Section

NOT_STATED = "not stated"
LOSSES = {"plain": "InfoNCE", "cached": "InfoNCE, cached"}
LIBRARIES = {
    "sentence_transformers": "sentence-transformers",
    "transformers": "transformers",
    "pytorch": "PyTorch",
}


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _scale(value: float) -> str:
    return f"{value:g} (temperature {1 / value:g})"


@dataclass(frozen=True)
class Item:
    """A key of the training block: how it is called and printed, and what the paper has."""

    key: str
    name: str
    paper: str
    digits: Callable[[Any], str] = _plain


# Table 10, section 4.2 and appendix D of the paper.
ITEMS = (
    Item("loss", "Loss", LOSSES["cached"], lambda value: LOSSES.get(value, str(value))),
    Item("scale", "Scale of the similarity", _scale(20.0), _scale),
    Item("batch_size", "Batch size (pairs of one length bin)", "256"),
    Item("epochs", "Epochs", "3"),
    Item("warmup_ratio", "Warm-up, share of all steps", "0.1"),
    Item("schedule", "Learning rate after the warm-up", NOT_STATED),
    Item("weight_decay", "Weight decay", NOT_STATED),
    Item("max_grad_norm", "Largest norm of the gradient", NOT_STATED),
    Item("autocast", "Autocast, on a GPU", NOT_STATED),
)
OPTIMISER, PAPER_SEED, PAPER_RATES = "AdamW", "42", "4e-5; 2e-5"
PAPER_POOLINGS = "CLS; mean; last"


def check_trainings(records: Sequence[Mapping[str, Any]], training: Mapping[str, Any]) -> None:
    """Raise DataError naming a retriever that was trained with another value of an ITEMS key."""
    for record in records:
        for item in ITEMS:
            found, wanted = record["training"].get(item.key), training.get(item.key)
            if found != wanted:
                raise DataError(
                    f"{record['retriever']}: trained with {item.key} {found}, but the config has "
                    f"{wanted}; train it again, or set the config as in its training."
                )


def _each(values: Sequence[str]) -> str:
    """Join different values in order of appearance."""
    return "; ".join(dict.fromkeys(values))


def _versions(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str, str]]:
    rows = []
    for key, name in LIBRARIES.items():
        found = [record["versions"][key] for record in records if key in record["versions"]]
        if found:
            rows.append((f"version_{key}", f"Version of {name}", _each(found), NOT_STATED))
    return rows


def training_frame(
    training: Mapping[str, Any], seed: int, records: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Return a row per hyper-parameter: key, name, what it is here, what the paper has (Table 10).

    training: the training block of the config; records: descriptions of the retrievers, whose
    learning rates, poolings, longest inputs and library versions are told. Raises DataError if
    one of them was trained otherwise.
    """
    check_trainings(records, training)
    rows = [
        (item.key, item.name, item.digits(training[item.key]), item.paper)
        for item in ITEMS
        if item.key in training
    ]
    rates = sorted({record["learning_rate"] for record in records}, reverse=True)
    lengths = sorted({record["max_tokens"] for record in records})
    poolings = [POOLINGS.get(record["pooling"], record["pooling"]) for record in records]
    rows += [
        ("optimiser", "Optimiser", OPTIMISER, OPTIMISER),
        ("learning_rate", "Learning rate, by retriever", _each(map(rate, rates)), PAPER_RATES),
        ("max_tokens", "Longest input (tokens)", _each(map(_plain, lengths)), NOT_STATED),
        ("pooling", "Pooling, by retriever", _each(poolings), PAPER_POOLINGS),
        ("seed", "Seed", str(seed), PAPER_SEED),
        *_versions(records),
    ]
    return pd.DataFrame(rows, columns=["key", "name", "here", "paper"])


def training_table(frame: pd.DataFrame) -> Grid:
    """Return the table; bold: what differs from the paper's value (Table 10)."""
    rows = []
    for row in frame.to_dict("records"):
        differs = row["paper"] not in (NOT_STATED, row["here"])
        rows.append((Cell(row["name"]), Cell(row["here"], bold=differs), Cell(row["paper"])))
    columns = [Column(name, number=False) for name in ("Hyper-parameter", "Here", "The paper")]
    return Grid(
        columns,
        [Section("", tuple(rows))],
        [
            "One recipe for all retrievers and settings. Bold: not as in the paper.",
            "Negatives: the other documents of a batch. Cached: the same loss and gradient in less "
            "memory.",
        ],
    )
