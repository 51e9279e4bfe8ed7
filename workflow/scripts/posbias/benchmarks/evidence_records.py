"""What the search for evidence starts from, a built test collection, and what it finds."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from posbias.benchmarks.inputs import json_lines
from posbias.benchmarks.records import read_queries
from posbias.errors import DataError
from posbias.retrieval.trec import read_qrels


@dataclass(frozen=True)
class Judged:
    """The queries of a collection, their relevant documents, and the texts of those.

    queries: text by id; relevant: ids of the documents of a grade above 0, by query.
    """

    queries: Mapping[str, str]
    relevant: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, str]


@dataclass
class Places:
    """Where evidence starts, as shares of its document in [0, 1), and what was left out.

    considered: pieces of evidence, each once; dropped: those without a place, by reason; told:
    what else a reader should know, such as doubtful places.
    """

    starts: list[float] = field(default_factory=list)
    dropped: Counter = field(default_factory=Counter)
    told: Counter = field(default_factory=Counter)

    @property
    def considered(self) -> int:
        return len(self.starts) + self.dropped.total()

    def add(self, start: int, length: int) -> None:
        """Add a place, in code points of a text of that length."""
        self.starts.append(start / length)

    def counts(self) -> dict[str, Any]:
        """Return the counts for the record: considered = located + all of dropped."""
        return {
            "considered": self.considered,
            "located": len(self.starts),
            "dropped": dict(sorted(self.dropped.items())),
            "told": dict(sorted(self.told.items())),
        }


def _texts(corpus: Path, wanted: set[str]) -> dict[str, str]:
    texts = {}
    for _, record in json_lines(corpus, ("doc_id", "text")):
        if record["doc_id"] in wanted:
            texts[record["doc_id"]] = record["text"]
    missing = wanted - texts.keys()
    if missing:
        raise DataError(
            f"{corpus}: lacks {len(missing)} documents that are judged, such as {min(missing)!r}; "
            "build the benchmark again."
        )
    return texts


def read_judged(corpus: Path, queries: Path, qrels: Path) -> Judged:
    """Read a built collection; of its corpus, which may be large, only the relevant documents.

    Raises DataError naming file and record: a judgement on an unknown query or document.
    """
    asked = {query.query_id: query.text for query in read_queries(queries)}
    relevant = {
        query_id: tuple(doc_id for doc_id, grade in grades.items() if grade > 0)
        for query_id, grades in read_qrels(qrels).items()
    }
    unknown = [query_id for query_id in relevant if query_id not in asked]
    if unknown:
        raise DataError(f"{qrels}: query {unknown[0]!r} is judged but is not in {queries}.")
    wanted = {doc_id for doc_ids in relevant.values() for doc_id in doc_ids}
    return Judged(asked, relevant, _texts(corpus, wanted))
