"""Evidence pairs from a test collection that was built here and knows where evidence lies."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from posbias.benchmarks.inputs import named
from posbias.benchmarks.option_checks import Check
from posbias.benchmarks.records import BenchmarkQuery, read_queries
from posbias.errors import DataError
from posbias.files import stream_jsonl
from posbias.representation.evidence_cut import EvidencePair, cut_evidence

OPTIONS: dict[str, Check] = {}
NAMES = ("corpus.jsonl", "queries.jsonl")


def _file(files: Sequence[Path], name: str) -> Path:
    found = [file / name if file.is_dir() else file for file in map(Path, files)]
    found = [file for file in dict.fromkeys(found) if file.name == name]
    if len(found) != 1:
        raise DataError(
            f"{named(files)}: expected one {name} of a built test collection, found {len(found)}."
        )
    return found[0]


def _pair(query: BenchmarkQuery, text: str, source: Path) -> EvidencePair | None:
    try:
        parts = cut_evidence(text, query.answer_start, query.answer_end)
    except DataError as fault:
        raise DataError(
            f"{source}: query {query.query_id!r}: its evidence {fault} Build the test collection "
            "again."
        ) from fault
    return None if parts is None else EvidencePair(query.query_id, query.text, query.doc_id, *parts)


def benchmark_pairs(files: Sequence[Path], counts: Counter) -> Iterator[EvidencePair]:
    """Yield a pair for each query whose evidence is known, in the order of the documents.

    files: corpus.jsonl and queries.jsonl, or the folder that holds them; documents go past as a
    stream. counts: takes up how many queries were read, and how many dropped and why. Raises
    DataError naming file and record for a document that lacks, or a span outside its document.
    """
    corpus, queries = (_file(files, name) for name in NAMES)
    counts.update(dict.fromkeys(("read", "no_span", "whole_document"), 0))
    wanted: dict[str, list[BenchmarkQuery]] = defaultdict(list)
    for query in read_queries(queries):
        counts["read"] += 1
        if None in (query.doc_id, query.answer_start, query.answer_end):
            counts["no_span"] += 1
        else:
            wanted[query.doc_id].append(query)
    for document in stream_jsonl(corpus, ("doc_id", "text")):
        for query in wanted.pop(document["doc_id"], ()):
            pair = _pair(query, document["text"], queries)
            if pair is None:
                counts["whole_document"] += 1
            else:
                yield pair
    if wanted:
        raise DataError(
            f"{corpus}: lacks {len(wanted)} documents that queries belong to, such as "
            f"{min(wanted)}; build the test collection again."
        )
