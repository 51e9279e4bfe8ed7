"""Queries and passages of one collection, as texts and as fixed vectors."""

from dataclasses import dataclass, field

import numpy as np

from posbias.errors import DataError


@dataclass(frozen=True)
class Collection:
    """What a listwise scorer may look at; queries and passages are named by their row.

    query_vectors, passage_vectors: (rows, width) float32, for scorers that read vectors.
    """

    query_ids: list[str]
    queries: list[str]
    doc_ids: list[str]
    passages: list[str]
    query_vectors: np.ndarray | None = None
    passage_vectors: np.ndarray | None = None
    query_rows: dict[str, int] = field(init=False, repr=False)
    doc_rows: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, ids in (("query", self.query_ids), ("document", self.doc_ids)):
            rows = {identifier: row for row, identifier in enumerate(ids)}
            if len(rows) < len(ids):
                twice = next(i for row, i in enumerate(ids) if rows[i] != row)
                raise DataError(f"{name} id {twice!r} occurs twice; give each {name} its own.")
            # The class is frozen; this is its own way to fill fields that follow from others.
            object.__setattr__(self, "query_rows" if name == "query" else "doc_rows", rows)
