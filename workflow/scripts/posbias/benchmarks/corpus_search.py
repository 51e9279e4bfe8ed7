"""The queries of benchmarks searched in a corpus that streams past, block by block."""

import logging
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from posbias.benchmarks.corpus_blocks import CorpusLine, corpus_blocks
from posbias.benchmarks.records import BenchmarkQuery
from posbias.benchmarks.search_state import load_state, save_state
from posbias.logs import Heartbeat
from posbias.retrieval.dense import normalise
from posbias.retrieval.products import DeviceProducts, HostProducts
from posbias.retrieval.running_top_k import RunningTopK
from posbias.retrieval.sharded import Hits

SAVE_SECONDS = 600.0
TOKENISED_AT_ONCE = 256  # texts

log = logging.getLogger("search")


class TextEncoder(Protocol):
    """What a search asks of a model (posbias.models.retriever.Retriever)."""

    def encode_queries(self, texts: list[str]) -> np.ndarray: ...

    def encode_documents(self, texts: list[str]) -> np.ndarray: ...

    def truncated(self, texts: list[str], ends: list[int]) -> np.ndarray: ...


def count_cut(model: TextEncoder, evidence: Sequence[tuple[str, Sequence[int]]]) -> int:
    """Count the evidence that lies beyond where the model cuts its document.

    evidence: documents, and where each evidence in them ends (code points, exclusive).
    """
    cut = 0
    for at in range(0, len(evidence), TOKENISED_AT_ONCE):
        some = [(text, end) for text, ends in evidence[at : at + TOKENISED_AT_ONCE] for end in ends]
        cut += int(model.truncated([text for text, _ in some], [end for _, end in some]).sum())
    return cut


class BenchmarkSearch:
    """The search of one benchmark's queries, fed with blocks of a corpus.

    member: the benchmark's number among those that share the corpus. After the last block: `best`
    the hits, `documents` how many of its documents went past, `truncated` {"n": queries whose
    evidence lies beyond the model's cut, "of": queries whose evidence has a known end}, both of
    queries whose document went past.
    """

    def __init__(self, member: int, queries: Sequence[BenchmarkQuery], best: RunningTopK) -> None:
        self.member, self.best = member, best
        self.documents = 0
        self.truncated = {"n": 0, "of": 0}
        self.ends: dict[str, list[int]] = defaultdict(list)
        for query in queries:
            if query.doc_id is not None and query.answer_end is not None:
                self.ends[query.doc_id].append(query.answer_end)

    def add(self, block: Sequence[CorpusLine], vectors: np.ndarray, model: TextEncoder) -> None:
        """Take in those documents of a block that the benchmark has; vectors: one a document."""
        own = [number for number, one in enumerate(block) if one.index_of(self.member) is not None]
        indices = np.array([block[number].index_of(self.member) for number in own], dtype=np.int64)
        self.best.add(vectors[own], indices)
        self.documents += len(own)
        evidence = [
            (block[number].text, self.ends[block[number].doc_id])
            for number in own
            if block[number].doc_id in self.ends
        ]
        self.truncated["n"] += count_cut(model, evidence)
        self.truncated["of"] += sum(len(ends) for _, ends in evidence)

    def hits(self) -> Hits:
        """Return the best documents so far, as indices in the benchmark's own corpus."""
        return Hits(self.best.indices, self.best.scores)


def start_searches(
    model: TextEncoder,
    asked: Sequence[Sequence[BenchmarkQuery]],
    depths: Sequence[int],
    products: HostProducts | DeviceProducts,
) -> list[BenchmarkSearch]:
    """Encode the queries of each benchmark; each benchmark's alone, so that others do not matter.

    depths: documents to keep per query, of each benchmark.
    """
    searches = []
    for member, (queries, depth) in enumerate(zip(asked, depths, strict=True)):
        vectors = normalise(model.encode_queries([query.text for query in queries]), "query")
        best = RunningTopK(vectors, depth, products=products)
        searches.append(BenchmarkSearch(member, queries, best))
    return searches


def search_lines(
    model: TextEncoder,
    corpus: Path,
    lines: range,
    block: int,
    searches: Sequence[BenchmarkSearch],
    name: str,
    state: Path | None = None,
    key: str = "",
) -> None:
    """Encode the documents on these lines, block by block, and let every search see them once.

    The encoder sorts and batches within a block alone, so a document's vector depends on its
    block and not on the range. name: heads the lines of progress. state: a file that keeps the
    searches every SAVE_SECONDS and at the end; an earlier one with the same key is gone on from.
    Raises DataError naming the line of a document without a vector.
    """
    done = load_state(state, key, searches) if state else 0
    if done:
        log.info("%s: goes on after %d documents", name, done)
    heartbeat = Heartbeat(name, len(lines), done)
    saved = time.monotonic()
    for documents in corpus_blocks(corpus, lines[done:], block):
        vectors = normalise(
            model.encode_documents([document.text for document in documents]),
            "document",
            documents[0].line,
        )
        for search in searches:
            search.add(documents, vectors, model)
        done += len(documents)
        heartbeat.beat(done)
        if state and (done == len(lines) or time.monotonic() - saved >= SAVE_SECONDS):
            save_state(state, key, done, searches)
            saved = time.monotonic()
