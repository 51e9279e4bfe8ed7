"""One system on one test collection: its run, the value of each query, its measures record."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from posbias.benchmarks.records import Benchmark
from posbias.errors import ConfigError
from posbias.files import whole_file, write_json
from posbias.keyed import keyed_generator
from posbias.measures.groups import by_characters, by_thirds
from posbias.measures.ndcg import count_queries, measure_name, ndcg_per_query
from posbias.measures.summary import grouping_counts, summarise
from posbias.retrieval.dense import normalise, search
from posbias.retrieval.trec import Run, make_run, write_run


@dataclass(frozen=True)
class EvaluationSettings:
    """How a collection is evaluated.

    depth: documents kept per query; cutoff: of nDCG; character_edges: of the groups by
    characters; resamples, level: of the bootstrap; min_group: fewest queries a group needs for
    PSI; batch_size: texts encoded at once; benchmark: name of the collection.
    """

    benchmark: str
    depth: int
    cutoff: int
    character_edges: list[int]
    resamples: int
    level: float
    min_group: int
    seed: int
    batch_size: int
    threads: int


def evaluation_settings(options: Mapping[str, Any]) -> EvaluationSettings:
    """Read settings from the config; raises ConfigError for a key too many or too few, and for a
    depth below the cutoff."""
    try:
        settings = EvaluationSettings(**options)
    except TypeError as fault:
        raise ConfigError(f"evaluation: {fault}") from fault
    if not 1 <= settings.cutoff <= settings.depth:
        raise ConfigError(
            f"evaluation: 1 <= cutoff <= depth must hold, found {settings.cutoff} and "
            f"{settings.depth}."
        )
    return settings


class TextEncoder(Protocol):
    """What an evaluation asks of a model (posbias.models.retriever.Retriever)."""

    def encode_queries(self, texts: list[str]) -> np.ndarray: ...

    def encode_documents(self, texts: list[str]) -> np.ndarray: ...

    def truncated(self, texts: list[str], ends: list[int]) -> np.ndarray: ...


def rank_by_cosine(
    model: TextEncoder, benchmark: Benchmark, depth: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return document indices and cosines in rank order, both (queries, depth or all documents)."""
    documents = model.encode_documents([document.text for document in benchmark.documents])
    queries = model.encode_queries([query.text for query in benchmark.queries])
    return search(normalise(queries, "query"), normalise(documents, "document"), depth)


def evidence_truncated(model: TextEncoder, benchmark: Benchmark) -> dict[str, int]:
    """Count the queries whose evidence has a known end (`of`) and lies beyond the cut (`n`)."""
    texts = {document.doc_id: document.text for document in benchmark.documents}
    queries = [query for query in benchmark.queries if query.answer_end is not None]
    if not queries:
        return {"n": 0, "of": 0}
    cut = model.truncated(
        [texts[query.doc_id] for query in queries], [query.answer_end for query in queries]
    )
    return {"n": int(cut.sum()), "of": len(queries)}


def write_query_scores(
    path: Path, benchmark: Benchmark, run: Run, values: Mapping[str, float], measure: str
) -> None:
    """Write one CSV row a query: where its evidence lies, the rank of its document, its value.

    The rank is empty where the document is not among those kept.
    """
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["query_id", "doc_id", "position", "answer_start", "rank", measure])
        for query in benchmark.queries:
            ranked = list(run.get(query.query_id, ()))
            rank = ranked.index(query.doc_id) + 1 if query.doc_id in ranked else None
            rows.writerow(
                [
                    query.query_id,
                    query.doc_id,
                    query.position,
                    query.answer_start,
                    rank,
                    values[query.query_id],
                ]
            )


def evaluate_ranking(
    benchmark: Benchmark,
    indices: Iterable[np.ndarray],
    scores: Iterable[np.ndarray],
    settings: EvaluationSettings,
    system: Mapping[str, str | None],
    run_file: Path,
    measures_file: Path,
    scores_file: Path,
    truncated: dict[str, int] | None = None,
) -> dict[str, Any]:
    """Write run, measures record and per-query values of one system; return the record.

    indices, scores: per query of the collection, in rank order. system: retriever, label and
    setting (None for a reference system). truncated: see `evidence_truncated`, for models only.
    """
    doc_ids = [document.doc_id for document in benchmark.documents]
    query_ids = [query.query_id for query in benchmark.queries]
    run = make_run(query_ids, doc_ids, indices, scores)
    write_run(run_file, run, tag="-".join(filter(None, (system["retriever"], system["setting"]))))
    values = ndcg_per_query(benchmark.qrels, run, settings.cutoff)
    groupings = {
        "thirds": by_thirds(benchmark.queries),
        "characters": by_characters(benchmark.queries, settings.character_edges),
    }
    rng = keyed_generator(settings.seed, "bootstrap", system["retriever"], system["setting"])
    measure = measure_name(settings.cutoff)
    record = {
        **system,
        "benchmark": settings.benchmark,
        "measure": measure,
        "seed": settings.seed,
        **summarise(values, groupings, settings.resamples, settings.level, settings.min_group, rng),
        "counts": {
            **count_queries(benchmark.qrels, run, doc_ids),
            **grouping_counts(groupings),
        },
    }
    if truncated is not None:
        record["evidence_truncated"] = truncated
    write_query_scores(scores_file, benchmark, run, values, measure)
    write_json(measures_file, record)
    return record
