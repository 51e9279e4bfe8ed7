"""The names of a few documents of a corpus that is too large to hold."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posbias.errors import DataError
from posbias.files import stream_jsonl


@dataclass(frozen=True)
class CorpusNames:
    """What one pass over a corpus found.

    documents: how many it has; names: id by index, of the indices asked for; present: those of
    the ids asked for that it has.
    """

    documents: int
    names: dict[int, str]
    present: set[str]


def _named_twice(corpus: Path, hashes: Collection[int]) -> str | None:
    """Return the first id that stands twice, among those with one of these hashes."""
    seen = set()
    for record in stream_jsonl(corpus, required=("doc_id",)):
        doc_id = record["doc_id"]
        if hash(doc_id) in hashes:
            if doc_id in seen:
                return doc_id
            seen.add(doc_id)
    return None


def corpus_names(corpus: Path, indices: np.ndarray, doc_ids: Collection[str]) -> CorpusNames:
    """Look up documents by index and by id in one pass; ids are kept as 8-byte hashes.

    indices: distinct. Raises DataError naming the file: an index beyond its end, an id that
    stands twice, no document.
    """
    asked = set(indices.tolist())
    names: dict[int, str] = {}
    present = set()
    hashes = []
    chunk: list[int] = []
    number = -1
    for number, record in enumerate(stream_jsonl(corpus, required=("doc_id",))):
        doc_id = record["doc_id"]
        if not isinstance(doc_id, str):
            raise DataError(f"{corpus}, line {number + 1}: the id {doc_id!r} is no text.")
        if number in asked:
            names[number] = doc_id
        if doc_id in doc_ids:
            present.add(doc_id)
        chunk.append(hash(doc_id))
        if len(chunk) == 2**16:
            hashes.append(np.array(chunk))
            chunk = []
    if number < 0:
        raise DataError(f"{corpus}: the corpus is empty.")
    if len(names) < len(asked):
        raise DataError(
            f"{corpus}: document {max(asked)} (counted from 0) was found, but there are "
            f"{number + 1}; the search is of another corpus: search again."
        )
    found, counts = np.unique(np.concatenate([*hashes, np.array(chunk, int)]), return_counts=True)
    if (counts > 1).any():  # the same text, or, hardly ever, the same hash
        twice = _named_twice(corpus, set(found[counts > 1].tolist()))
        if twice is not None:
            raise DataError(
                f"{corpus}: document {twice!r} occurs twice; give each an id of its own."
            )
    return CorpusNames(number + 1, names, present)
