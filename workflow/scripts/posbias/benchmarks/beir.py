"""BEIR: corpus and queries as JSON lines or Parquet, judgements as a table (sections 4.3, 5).

The largest corpora hold millions of documents. They are read twice, as a stream: once for what
must be known of all of them, once to write those that are kept.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from posbias.benchmarks.beir_qrels import read_beir_qrels
from posbias.benchmarks.inputs import find_tables, named, table_rows, trec_safe
from posbias.benchmarks.loaded import Loaded
from posbias.benchmarks.option_checks import Check, a_text, or_null, whole_number, yes_or_no
from posbias.benchmarks.records import (
    BenchmarkDocument,
    BenchmarkQuery,
    check_text,
    check_writable,
)
from posbias.errors import DataError
from posbias.keyed import keyed_digest
from posbias.retrieval.trec import Qrels

ROLES = ("corpus", "queries")
OPTIONS: dict[str, Check] = {
    "split": a_text,
    "title_separator": or_null(a_text),
    "exclude_identical_ids": yes_or_no,
    "sample_documents": or_null(whole_number(0)),
}


def _role(file: Path) -> str | None:
    """Return what a file holds by its own name, or where that says nothing, by its folder's.

    Judgements (.tsv) are neither. Raises DataError for a name that says two things.
    """
    if file.suffix == ".tsv":
        return None
    said = [role for role in ROLES if role in file.name]
    if len(said) > 1:
        raise DataError(
            f"{file}: its name says both {' and '.join(said)}; rename it after what it holds."
        )
    return said[0] if said else next((role for role in ROLES if role == file.parent.name), None)


def _table(files: Sequence[Path], role: str) -> list[Path]:
    return find_tables(files, role, lambda file: _role(file) == role)


def _id(record: dict, where: str) -> str:
    if not isinstance(record["_id"], str) or not record["_id"]:
        raise DataError(f"{where}: _id is {record['_id']!r}; expected a text.")
    check_writable(record["_id"], "_id", where)
    return record["_id"]


@dataclass(frozen=True)
class Corpus:
    """The documents of a corpus, as a stream that can be read again.

    title_separator: what stands between title and text; None leaves the titles out.
    """

    files: Sequence[Path]
    title_separator: str | None

    def read(self) -> Iterator[tuple[str, str]]:
        """Yield id and text of every document; a text may be empty."""
        for file in self.files:
            for number, record in table_rows(file, ("_id", "text"), ("title",)):
                where = f"{file}, row {number}"
                title, text = record.get("title") or "", record["text"] or ""
                if not isinstance(title, str) or not isinstance(text, str):
                    raise DataError(f"{where}: title and text must be texts.")
                if self.title_separator is None:
                    title = ""
                parts = [part for part in (title, text) if part.strip()]
                joined = (self.title_separator or "").join(parts)
                check_writable(joined, "the document", where)
                yield _id(record, where), joined


def _hash(doc_id: str) -> int:
    return int.from_bytes(keyed_digest(0, doc_id)[:8], "big")


def _sampling_key(seed: int, doc_id: str) -> int:
    return int.from_bytes(keyed_digest(seed, "corpus", doc_id)[:8], "big")


@dataclass
class Scan:
    """What one reading of a corpus tells: which wanted documents it has, how many it has.

    keys: places in the sample's order of documents that are not wanted, 64 bits each.
    """

    found: set[str] = field(default_factory=set)
    keys: array = field(default_factory=lambda: array("Q"))
    documents: int = 0
    empty: int = 0
    renamed: int = 0


def _named_twice(corpus: Corpus, hashes: np.ndarray) -> None:
    """Raise DataError for a document id that occurs twice."""
    values, times = np.unique(hashes, return_counts=True)
    suspects = set(values[times > 1].tolist())
    seen: set[str] = set()
    for doc_id, _ in corpus.read() if suspects else ():
        if _hash(doc_id) in suspects:
            if doc_id in seen:
                raise DataError(f"{named(corpus.files)}: document {doc_id!r} occurs twice.")
            seen.add(doc_id)


def scan(corpus: Corpus, wanted: set[str], seed: int) -> Scan:
    """Read a corpus once, at 16 bytes a document; raises DataError for an id that occurs twice."""
    told = Scan()
    hashes = array("Q")
    for doc_id, text in corpus.read():
        told.documents += 1
        hashes.append(_hash(doc_id))
        if not text:
            told.empty += 1
            continue
        told.renamed += trec_safe(doc_id) != doc_id
        if doc_id in wanted:
            told.found.add(doc_id)
        else:
            told.keys.append(_sampling_key(seed, doc_id))
    if told.documents == told.empty:
        raise DataError(f"{named(corpus.files)}: the corpus is empty.")
    _named_twice(corpus, np.frombuffer(hashes, dtype=np.uint64))
    return told


def _read_queries(files: Sequence[Path]) -> dict[str, str]:
    """Return the texts of all queries by id; only judged ones need a text."""
    texts: dict[str, Any] = {}
    for file in files:
        for number, record in table_rows(file, ("_id", "text")):
            query_id = _id(record, f"{file}, row {number}")
            if query_id in texts:
                raise DataError(f"{file}, row {number}: query {query_id!r} occurs twice.")
            texts[query_id] = record["text"]
    return texts


def _judgements(
    qrels: Qrels, found: set[str], exclude_identical_ids: bool, counts: Counter
) -> Qrels:
    """Return the judgements that a run can meet; the others are counted."""
    kept: Qrels = {}
    dangling: set[str] = set()
    counts.update(judgements_on_the_query_itself=0, judgements_outside_the_corpus=0)
    for query_id, judged in qrels.items():
        for doc_id, grade in judged.items():
            if exclude_identical_ids and doc_id == query_id:
                counts["judgements_on_the_query_itself"] += 1
            elif doc_id not in found:
                counts["judgements_outside_the_corpus"] += 1
                dangling.add(query_id)
            else:
                kept.setdefault(query_id, {})[doc_id] = grade
    counts["queries_with_judgements_outside_the_corpus"] = len(dangling)
    counts["queries_without_judgements_left"] = len(qrels) - len(kept)
    return kept


def _safe(qrels: Qrels) -> Qrels:
    return {
        trec_safe(query_id): {trec_safe(doc_id): grade for doc_id, grade in judged.items()}
        for query_id, judged in qrels.items()
    }


def _documents(
    corpus: Corpus, always: set[str], last_key: int | None, seed: int
) -> Iterator[BenchmarkDocument]:
    """Yield the documents to keep: the given ones, and others up to a place in the sample's order
    (None: all), with ids that TREC files can hold."""
    for doc_id, text in corpus.read():
        sampled = last_key is None or doc_id in always or _sampling_key(seed, doc_id) <= last_key
        if text and sampled:
            yield BenchmarkDocument(trec_safe(doc_id), text)


def _sample(told: Scan, own: set[str], wanted: int | None, seed: int) -> tuple[int | None, int]:
    """Return the last place in the sample's order that is kept, None for all, and how many
    documents are there to sample from.

    own: documents that were found but are sampled like those that nothing names.
    """
    keys = np.frombuffer(told.keys, dtype=np.uint64)
    of_own = np.array([_sampling_key(seed, doc_id) for doc_id in own], dtype=np.uint64)
    keys = np.concatenate([keys, of_own])
    if wanted is None or wanted >= len(keys):
        return None, len(keys)
    return (int(np.partition(keys, wanted - 1)[wanted - 1]) if wanted else -1), len(keys)


def load_beir(
    files: Sequence[Path],
    seed: int,
    split: str = "test",
    title_separator: str | None = " ",
    exclude_identical_ids: bool = True,
    sample_documents: int | None = None,
) -> Loaded:
    """Make a collection of a data set in BEIR's layout, or of the hub's two repositories of it.

    A document is title, separator and text, or the one of them that is not empty; one that is
    wholly empty is left out. Judgements on documents that the corpus then lacks are left out of
    the ideal ranking as well, since nothing could retrieve them, and are counted; a query that
    has none left is dropped and counted. exclude_identical_ids: a document that has the query's
    id may not stand in its run. sample_documents: keep so many documents beside the judged ones,
    by keyed hash; the note of the corpus says so. Raises DataError naming file, record, remedy.
    """
    corpus = Corpus(_table(files, "corpus"), title_separator)
    query_files = _table(files, "queries")
    texts = _read_queries(query_files)
    counts: Counter = Counter()
    judged = read_beir_qrels(files, split, texts, counts)
    named_in_qrels = {doc_id for grades in judged.values() for doc_id in grades}
    told = scan(corpus, named_in_qrels | set(judged), seed)
    qrels = _judgements(judged, told.found, exclude_identical_ids, counts)
    if not qrels:
        raise DataError(f"{named(corpus.files)}: holds none of the documents judged in {split}.")
    for query_id in qrels:
        check_text(texts[query_id], f"query {query_id!r}", named(query_files))
    always = named_in_qrels & told.found
    last_key, others = _sample(told, told.found - always, sample_documents, seed)
    note = None
    if last_key is not None:
        note = (
            f"subsampled corpus: {len(always)} judged documents and {sample_documents} of "
            f"{others} others (keyed hash, seed {seed}); values are higher than on all documents"
        )
    counts.update(
        documents_in_the_corpus=told.documents,
        empty_documents=told.empty,
        documents_left_out_of_the_sample=others - sample_documents if note else 0,
        renamed_document_ids=told.renamed,
        queries_without_a_judgement_in_the_split=len(texts) - len(judged),
    )
    itself = [trec_safe(one) for one in qrels if exclude_identical_ids and one in told.found]
    return Loaded(
        documents=_documents(corpus, always, last_key, seed),
        queries=[BenchmarkQuery(trec_safe(q), texts[q], None, (), None, None) for q in qrels],
        qrels=_safe(qrels),
        excluded={one: [one] for one in itself},
        counts=dict(counts),
        corpus_note=note,
    )
