"""The retrievers: where they start, how they attend, how large they are (paper, Tables 2, 9)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from posbias.report.printed import Cell
from posbias.report.signs import DASH
from posbias.report.tables import Column, Grid, Section

COLUMNS = (
    "retriever", "label", "checkpoint", "revision", "family", "kind", "attention", "layers",
    "windowed_layers", "positions", "pooling", "parameters", "trained_parameters", "token_vectors",
    "max_tokens", "learning_rate", "query_prefix",
)  # fmt: skip
KINDS = {"encoder": "Encoders", "decoder": "Decoders"}
READS = {"encoder": "bidirectional", "decoder": "causal"}
POSITIONS = {"absolute": "absolute", "rope": "RoPE", "alibi": "ALiBi", "none": "none"}
POOLINGS = {"cls": "CLS", "mean": "mean", "max": "max", "last": "last"}
PARTLY = "†"  # marks attention that is windowed in some layers
LONGEST_NAME = 29  # characters of a checkpoint's name that the page has room for


def attention_of(record: Mapping[str, Any]) -> str:
    """Name a retriever's attention: bidirectional, causal, or a sliding window of either kind."""
    if record["windowed_layers"] and record["windowed_layers"] == record["layers"]:
        return "causal window" if record["kind"] == "decoder" else "sliding window"
    return READS.get(record["kind"], DASH)


def retrievers_frame(records: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row per described retriever, nothing rounded (Tables 2 and 9)."""
    rows = [{**record, "attention": attention_of(record)} for record in records]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"trained_parameters": "Int64"})


def rate(value: float) -> str:
    """Print a learning rate as the paper does, `4e-5`."""
    digits, exponent = f"{value:e}".split("e")
    return f"{float(digits):g}e{int(exponent)}"


def _millions(value: Any) -> str:
    return DASH if pd.isna(value) else f"{value / 1e6:,.1f}"


def _partly(row: Mapping[str, Any]) -> bool:
    return 0 < row["windowed_layers"] < row["layers"]


def _start(row: Mapping[str, Any]) -> str:
    """Say what a retriever starts from; of a long name or path, its last part."""
    name = row["checkpoint"]
    if pd.isna(name):
        return f"scratch: {row['family']}"
    return name if len(name) <= LONGEST_NAME else f"…/{name.rstrip('/').rsplit('/', 1)[-1]}"


def _row(row: Mapping[str, Any]) -> tuple[Cell, ...]:
    texts = [
        row["label"],
        _start(row),
        row["attention"] + PARTLY * _partly(row),
        POSITIONS.get(row["positions"], row["positions"]),
        POOLINGS.get(row["pooling"], row["pooling"]),
        _millions(row["parameters"]),
        _millions(row["trained_parameters"]),
        f"{row['max_tokens']:,}",
        rate(row["learning_rate"]),
    ]
    return tuple(Cell(text) for text in texts)


def _prefix_note(frame: pd.DataFrame) -> str:
    told = []
    for prefix, rows in frame.groupby("query_prefix", sort=False):
        told.append(f"“{prefix.strip()}” for {', '.join(rows['label'])}")
    return f"Before a query stands {'; '.join(told)}; before a document, nothing."


def _notes(frame: pd.DataFrame) -> list[str]:
    notes = [
        "Parameters in millions: all that are stored, and those that were trained.",
        "Longest input in tokens; what is longer is cut. Rate: learning rate.",
    ]
    fixed = frame.loc[frame["token_vectors"] == "fixed", "label"].tolist()
    if fixed:
        who = "" if len(fixed) == len(frame) else f" of {', '.join(fixed)}"
        notes.append(f"The token vectors{who} were not trained.")
    partly = [
        f"{row['label']} {row['windowed_layers']} of {row['layers']}"
        for row in frame.to_dict("records")
        if _partly(row)
    ]
    if partly:
        notes.append(f"{PARTLY} A sliding window in some layers: {', '.join(partly)}.")
    return [*notes, _prefix_note(frame)]


def retrievers_table(frame: pd.DataFrame) -> Grid:
    """Return the table, encoders above decoders, each in the given order (Tables 2 and 9)."""
    kinds = frame["kind"].fillna("")
    titles = {**KINDS, "": "Other families"}
    sections = [
        Section(title, tuple(_row(row) for row in frame[kinds == kind].to_dict("records")))
        for kind, title in titles.items()
        if (kinds == kind).any()
    ]
    texts = ("Retriever", "Starts from", "Attention", "Posi-\ntions", "Pool-\ning")
    numbers = ("Para-\nmeters", "of them\ntrained", "Longest\ninput", "Rate")
    columns = [
        *(Column(text, number=False) for text in texts),
        *(Column(text) for text in numbers),
    ]
    return Grid(columns, sections, _notes(frame))
