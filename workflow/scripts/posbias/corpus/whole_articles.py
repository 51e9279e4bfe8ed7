"""One document per article, of articles whose length lies in a bin (section 3.1.1).

Two passes: the first remembers 18 bytes of each row and no text, the second reads what is kept.
Which articles are kept, and for which split, depends on ids and texts, not on the order of rows or
how they are spread over files; the documents come in the order of the rows.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from posbias.corpus.bins import bin_of, length_bins
from posbias.corpus.documents import SPLITS, Document
from posbias.corpus.tables import Rows
from posbias.errors import DataError
from posbias.keyed import keyed_digest, keyed_unit

UNUSED = -1  # cell of an article that becomes no document


@dataclass(frozen=True)
class WholeCut:
    """How articles become documents: first part of the ids, bin edges in code points, share of the
    articles that is held out, seed of the keyed hashes."""

    source: str
    edges: tuple[int, ...]
    heldout_share: float
    seed: int

    @cached_property
    def cells(self) -> list[tuple[str, str]]:
        """Split and bin of each cell, the bins of the first split first."""
        return [(split, b.name) for split in SPLITS for b in length_bins(self.edges)]

    def doc_id(self, article_id: str) -> str:
        """Name the document of an article: ASCII without white space, another for each id."""
        return f"{self.source}-{quote(article_id, safe='')}"

    def split(self, doc_id: str) -> int:
        """Return the place in SPLITS of an article, held out or not whatever the others are."""
        return int(keyed_unit(self.seed, "split", doc_id) < self.heldout_share)

    def rank(self, doc_id: str) -> int:
        """Return the head of the hash by which `keyed_order` orders documents, as a number."""
        return int.from_bytes(keyed_digest(self.seed, doc_id)[:8], "big")


class Scan(NamedTuple):
    """What is remembered of every row: (n_rows,) rank of its id, cell, and 64 bits of its text's
    hash (0 where the cell is UNUSED)."""

    ranks: np.ndarray
    cells: np.ndarray
    texts: np.ndarray


def scan_rows(batches: Iterable[Rows], cut: WholeCut, dropped: Counter) -> Scan:
    """Look at the id and the length of every article, in code points.

    batches: rows with id and text. `dropped` counts articles without text or outside the bins.
    """
    parts = [_scan(rows, cut, dropped) for rows in batches]
    nothing = Scan(np.empty(0, np.uint64), np.empty(0, np.int16), np.empty(0, np.uint64))
    return Scan(*map(np.concatenate, zip(*parts, nothing, strict=True)))


def _scan(rows: Rows, cut: WholeCut, dropped: Counter) -> Scan:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, edges = rows.batch.column("text"), cut.edges
    n_chars = pc.fill_null(pc.utf8_length(texts), 0).to_numpy()
    spaces = pc.fill_null(pc.utf8_is_space(texts), False).to_numpy(zero_copy_only=False)
    blank = spaces | (n_chars == 0)
    bins = np.searchsorted(edges, n_chars, side="right") - 1
    short, long = ~blank & (bins < 0), ~blank & (bins == len(edges) - 1)
    for reason, out in (
        ("article: no text", blank),
        (f"article: shorter than {edges[0]} characters", short),
        (f"article: {edges[-1]} characters or longer", long),
    ):
        if out.any():
            dropped[reason] += int(out.sum())

    doc_ids = [cut.doc_id(article_id) for article_id in rows.batch.column("id").to_pylist()]
    ranks = np.array([cut.rank(doc_id) for doc_id in doc_ids], dtype=np.uint64)
    used = np.flatnonzero(~(blank | short | long))
    cells = np.full(len(doc_ids), UNUSED, dtype=np.int16)
    splits = np.array([cut.split(doc_ids[i]) for i in used], dtype=np.int64)
    cells[used] = splits * (len(edges) - 1) + bins[used]
    hashes = np.zeros(len(doc_ids), dtype=np.uint64)
    raw = texts.take(pa.array(used)).cast(pa.large_binary()).to_pylist()
    hashes[used] = [int.from_bytes(hashlib.blake2b(t, digest_size=8).digest()) for t in raw]
    return Scan(ranks, cells, hashes)


def check_ids_unique(scan: Scan, batches: Iterable[Rows], cut: WholeCut) -> None:
    """Raise DataError naming file, row and id where two articles have one id.

    batches: the scanned rows again, with id; read only where two of their hashes agree.
    """
    ordered = np.sort(scan.ranks)
    suspects = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
    if not suspects:
        return
    seen: dict[str, str] = {}
    for rows in batches:
        for row, article_id in enumerate(rows.batch.column("id").to_pylist(), start=rows.first):
            if cut.rank(cut.doc_id(article_id)) not in suspects:
                continue
            where = f"{rows.path}, row {row}"
            if article_id in seen:
                raise DataError(
                    f"{where}: the id {article_id!r} stands already at {seen[article_id]}; "
                    "give each article an id of its own."
                )
            seen[article_id] = where


def choose(scan: Scan, limits: Mapping[str, int], cut: WholeCut, dropped: Counter) -> np.ndarray:
    """Say which rows are kept, (n_rows,) booleans: of equal texts the one that the keyed order puts
    first, and of a cell the first `limits[split]`.

    Texts are compared by their hash of 64 bits. `dropped` counts the others by reason.
    """
    used = np.flatnonzero(scan.cells != UNUSED)
    used = used[np.lexsort((scan.ranks[used], scan.texts[used]))]
    texts = scan.texts[used]
    first = np.ones(len(used), dtype=bool)
    first[1:] = texts[1:] != texts[:-1]
    single = used[first]
    single = single[np.lexsort((scan.ranks[single], scan.cells[single]))]
    cells = scan.cells[single]
    most = np.array([limits[split] for split, _ in cut.cells])
    within = np.arange(len(single)) - np.searchsorted(cells, cells) < most[cells]
    for reason, n in (
        ("article: text of another article", len(used) - len(single)),
        ("document: above the limit of its bin", len(single) - int(within.sum())),
    ):
        if n:
            dropped[reason] += n
    kept = np.zeros(len(scan.cells), dtype=bool)
    kept[single[within]] = True
    return kept


def check_cells_filled(scan: Scan, kept: np.ndarray, cut: WholeCut) -> dict[tuple[str, str], int]:
    """Count kept documents by (split, bin); raises DataError naming the first empty cell.

    Without a held-out share no held-out document is asked for.
    """
    counts = np.bincount(scan.cells[kept], minlength=len(cut.cells)).tolist()
    found = dict(zip(cut.cells, counts, strict=True))
    for (split, name), n in found.items():
        if not n and (split == "train" or cut.heldout_share > 0):
            raise DataError(
                f"no {split} document of {name} characters: the bin is empty. Change "
                "documents.bin_edges or documents.heldout_share, or give more articles by "
                "documents.articles."
            )
    return {cell: n for cell, n in found.items() if n}


def articles_per_split(scan: Scan, cut: WholeCut) -> dict[str, int]:
    """Count the articles whose length lies in a bin, before any is left out for other reasons."""
    of_cell = np.bincount(scan.cells[scan.cells != UNUSED], minlength=len(cut.cells))
    of_split = of_cell.reshape(len(SPLITS), -1).sum(axis=1).tolist()
    return dict(zip(SPLITS, of_split, strict=True))


def read_documents(
    batches: Iterable[Rows], scan: Scan, kept: np.ndarray, cut: WholeCut
) -> Iterator[Document]:
    """Yield the documents that are kept, in the order of the rows.

    batches: the scanned rows again, with id, title and text. A missing title is empty.
    """
    import pyarrow as pa

    at = 0
    for rows in batches:
        wanted = np.flatnonzero(kept[at : at + rows.batch.num_rows])
        cells = scan.cells[at + wanted].tolist()
        at += rows.batch.num_rows
        for cell, row in zip(cells, rows.batch.take(pa.array(wanted)).to_pylist(), strict=True):
            split, name = cut.cells[cell]
            n_chars = len(row["text"])
            if bin_of(n_chars, cut.edges) != name:
                raise DataError(f"{rows.path}: changed while it was read; run the step again.")
            yield Document(
                doc_id=cut.doc_id(row["id"]),
                title=row["title"] or "",
                text=row["text"],
                n_chars=n_chars,
                bin=name,
                split=split,
                source=cut.source,
            )
