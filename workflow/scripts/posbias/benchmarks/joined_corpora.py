"""The union of corpora that share documents, so that each document is encoded once.

FEVER and Climate-FEVER are searched in almost the same five million documents.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from posbias.benchmarks.inputs import json_lines
from posbias.errors import ConfigError, DataError

ERROR, APART = "error", "apart"


class JoinedDocument(NamedTuple):
    """A document of a union, the corpora that hold it, and its row in each of them.

    members: numbers of the corpora, rising; rows: as many, 0-based.
    """

    doc_id: str
    text: str
    members: tuple[int, ...]
    rows: tuple[int, ...]

    def record(self) -> dict:
        """Return the fields for a JSON line."""
        return {
            "doc_id": self.doc_id,
            "text": self.text,
            "members": list(self.members),
            "rows": list(self.rows),
        }


def _digest(*parts: str) -> int:
    text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")


@dataclass(frozen=True)
class Union:
    """Which rows of corpora, numbered one after the other, hold the same document.

    order: all rows, those of one document side by side, by member; starts: where each document
    begins in `order`, and its end; first_of: per row, the document that it is the first row of,
    or -1; offsets: first number of each corpus, and the end; conflicts: ids with several texts.
    """

    order: np.ndarray
    starts: np.ndarray
    first_of: np.ndarray
    offsets: np.ndarray
    conflicts: int

    @property
    def documents(self) -> int:
        return len(self.starts) - 1

    def where(self, document: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the members that hold a document, and its row in each."""
        numbers = self.order[self.starts[document] : self.starts[document + 1]]
        members = np.searchsorted(self.offsets, numbers, side="right") - 1
        return tuple(members.tolist()), tuple((numbers - self.offsets[members]).tolist())


def _read(corpora: Sequence[Path]) -> Iterator[tuple[str, str]]:
    for path in corpora:
        for _, record in json_lines(path, ("doc_id", "text")):
            yield record["doc_id"], record["text"]


def _hashes(corpora: Sequence[Path]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the hashes of ids and of texts of all rows, and the first number of each corpus."""
    ids, texts, offsets = [], [], [0]
    for path in corpora:
        pairs = np.fromiter(
            ((_digest(doc_id), _digest(text)) for doc_id, text in _read([path])),
            dtype=np.dtype((np.uint64, 2)),
        )
        ids.append(pairs[:, 0])
        texts.append(pairs[:, 1])
        offsets.append(offsets[-1] + len(pairs))
    return np.concatenate(ids), np.concatenate(texts), np.array(offsets)


def _id_of_row(corpora: Sequence[Path], number: int) -> str:
    return next(doc_id for at, (doc_id, _) in enumerate(_read(corpora)) if at == number)


def _named_twice(corpora: Sequence[Path], ids: np.ndarray, member: np.ndarray) -> None:
    order = np.lexsort((member, ids))
    same = (ids[order][1:] == ids[order][:-1]) & (member[order][1:] == member[order][:-1])
    if same.any():
        number = int(order[1:][same].min())
        raise DataError(
            f"{corpora[member[number]]}: document {_id_of_row(corpora, number)!r} occurs twice."
        )


def find_union(corpora: Sequence[Path], conflicts: str = ERROR) -> Union:
    """Find the documents that corpora share, by 64-bit hashes of ids and texts.

    conflicts: "error" raises DataError where an id stands for two texts, "apart" keeps both as
    documents of their own. Some 60 bytes of memory a row. Raises DataError for an id that occurs
    twice in one corpus.
    """
    if conflicts not in (ERROR, APART):
        raise ConfigError(f"join_corpora: conflicts {conflicts!r} is not one of {ERROR}, {APART}.")
    ids, texts, offsets = _hashes(corpora)
    member = np.searchsorted(offsets, np.arange(len(ids)), side="right") - 1
    _named_twice(corpora, ids, member)
    # Equal ids side by side, those with equal texts side by side among them, then by member.
    order = np.lexsort((member, texts, ids))
    same_id = ids[order][1:] == ids[order][:-1]
    same = same_id & (texts[order][1:] == texts[order][:-1])
    differing = np.flatnonzero(same_id & ~same)
    if len(differing) and conflicts == ERROR:
        pair = order[differing[0] : differing[0] + 2]
        paths = sorted(str(corpora[one]) for one in member[pair])
        raise DataError(
            f"{' and '.join(paths)}: document {_id_of_row(corpora, int(pair[0]))!r} has two "
            f"texts, and {len(differing)} ids have; they are different corpora, or set conflicts "
            f"to {APART}."
        )
    starts = np.concatenate([[0], np.flatnonzero(~same) + 1, [len(order)]]).astype(np.int64)
    first_of = np.full(len(order), -1, dtype=np.int64)
    first_of[order[starts[:-1]]] = np.arange(len(starts) - 1)
    return Union(order, starts, first_of, offsets, len(differing))


def joined_documents(corpora: Sequence[Path], union: Union) -> Iterator[JoinedDocument]:
    """Yield every document of the union once: those of the first corpus in its order, then those
    of the next that are new, and so on."""
    for number, (doc_id, text) in enumerate(_read(corpora)):
        document = int(union.first_of[number])
        if document >= 0:
            yield JoinedDocument(doc_id, text, *union.where(document))


def share_counts(union: Union) -> dict[str, int]:
    """Count the documents of a union: all, those of several corpora, ids with several texts."""
    sizes = np.diff(union.starts)
    return {
        "documents": union.documents,
        "shared": int((sizes > 1).sum()),
        "conflicts": union.conflicts,
    }


def member_sizes(union: Union, names: Iterable[str]) -> dict[str, int]:
    """Return how many documents each corpus holds."""
    return dict(zip(names, np.diff(union.offsets).tolist(), strict=True))
