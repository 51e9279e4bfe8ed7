"""One system on one test collection: its run, the value of each query, its measures record."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from posbias.benchmarks.corpus_names import CorpusNames, corpus_names
from posbias.benchmarks.records import (
    Benchmark,
    BenchmarkDocument,
    BenchmarkQuery,
    check_excluded,
    check_ids,
    check_qrels,
    read_excluded,
    read_queries,
)
from posbias.benchmarks.settings import MeasureSettings
from posbias.errors import DataError
from posbias.files import read_json, whole_file, write_json
from posbias.keyed import keyed_generator
from posbias.measures.groups import groupings
from posbias.measures.ndcg import count_queries, measure_name, ndcg_per_query
from posbias.measures.summary import grouping_counts, summarise
from posbias.retrieval.running_top_k import NO_DOCUMENT
from posbias.retrieval.trec import Run, make_run, read_qrels, write_run


@dataclass(frozen=True)
class Collection:
    """A benchmark as an evaluation sees it, without texts.

    judged: queries, judgements and exclusions, no documents; names: of the documents that were
    found; groups: position groupings and their options; corpus_note: what its corpus is, if not
    the usual one.
    """

    name: str
    judged: Benchmark
    names: CorpusNames
    groups: Mapping[str, Any]
    corpus_note: str | None


def read_judged(queries: Path, qrels: Path, excluded: Path) -> Benchmark:
    """Read queries, judgements and exclusions without the corpus: `documents` stays empty.

    Judgements on documents that the corpus lacks are left to be counted. Raises DataError naming
    file and record.
    """
    asked = read_queries(queries)
    check_ids((query.query_id for query in asked), "query", queries)
    judgements = read_qrels(qrels)
    judged = {doc_id for of_query in judgements.values() for doc_id in of_query}
    check_qrels(judgements, asked, [BenchmarkDocument(doc_id, "") for doc_id in judged], qrels)
    left_out = read_excluded(excluded)
    check_excluded(left_out, (query.query_id for query in asked), judgements, excluded)
    return Benchmark([], asked, judgements, left_out)


def make_collection(
    name: str,
    judged: Benchmark,
    corpus: Path,
    indices: np.ndarray,
    groups: Mapping[str, Any],
    summary: Path,
) -> Collection:
    """Look up what an evaluation needs of the corpus.

    indices: distinct indices of documents that were found; summary: the benchmark's, of which
    corpus_note is taken. Raises DataError for a query whose document the corpus lacks.
    """
    wanted = {doc_id for of_query in judged.qrels.values() for doc_id in of_query}
    wanted |= {query.doc_id for query in judged.queries if query.doc_id is not None}
    names = corpus_names(corpus, indices, wanted)
    for query in judged.queries:
        if query.doc_id is not None and query.doc_id not in names.present:
            raise DataError(
                f"{corpus}: query {query.query_id!r} belongs to document {query.doc_id!r}, which "
                "the corpus lacks."
            )
    return Collection(name, judged, names, groups, read_json(summary).get("corpus_note"))


def _kept(
    collection: Collection, indices: Iterable[np.ndarray], scores: Iterable[np.ndarray], depth: int
) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Yield the hits of each query down to `depth`, and how many excluded ones went before."""
    names, excluded = collection.names.names, collection.judged.excluded
    for query, found, values in zip(collection.judged.queries, indices, scores, strict=True):
        hits = found != NO_DOCUMENT
        found, values = found[hits], values[hits]
        dropped = 0
        if query.query_id in excluded:
            not_wanted = set(excluded[query.query_id])
            kept = np.array([names[index] not in not_wanted for index in found.tolist()], bool)
            dropped = int((~kept).sum())
            found, values = found[kept], values[kept]
        yield found[:depth], values[:depth], dropped


def _rank(query: BenchmarkQuery, ranked: Iterable[str], judged: Mapping[str, int]) -> int | None:
    """Return the rank, from 1, of a query's main document, or of its first relevant one."""
    for rank, doc_id in enumerate(ranked, start=1):
        if doc_id == query.doc_id or (query.doc_id is None and judged.get(doc_id, 0) > 0):
            return rank
    return None


def write_query_scores(
    path: Path, judged: Benchmark, run: Run, values: Mapping[str, float], measure: str
) -> None:
    """Write one CSV row a query: where its evidence lies, the rank of its document, its value.

    position: thirds, joined by "+". The rank is that of the main document, or of the first
    relevant one where there is no main one, and empty if it is not among those kept.
    """
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["query_id", "doc_id", "position", "answer_start", "rank", measure])
        for query in judged.queries:
            ranked = run.get(query.query_id, ())
            rows.writerow(
                [
                    query.query_id,
                    query.doc_id,
                    "+".join(query.positions),
                    query.answer_start,
                    _rank(query, ranked, judged.qrels[query.query_id]),
                    values[query.query_id],
                ]
            )


def evaluate_ranking(
    collection: Collection,
    indices: Iterable[np.ndarray],
    scores: Iterable[np.ndarray],
    settings: MeasureSettings,
    seed: int,
    system: Mapping[str, str | None],
    run_file: Path,
    measures_file: Path,
    scores_file: Path,
    truncated: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Write run, measures record and per-query values of one system; return the record.

    indices, scores: per query of the collection, in rank order, rows filled with NO_DOCUMENT.
    system: retriever, label and setting (None for a reference system). truncated: {"n": queries
    whose evidence lies beyond the model's cut, "of": those with a known end}, for models only.
    """
    judged, names = collection.judged, collection.names
    kept = list(_kept(collection, indices, scores, settings.depth))
    run = make_run(
        [query.query_id for query in judged.queries],
        names.names,
        [found for found, _, _ in kept],
        [values for _, values, _ in kept],
    )
    write_run(run_file, run, tag="-".join(filter(None, (system["retriever"], system["setting"]))))
    values = ndcg_per_query(judged.qrels, run, settings.cutoff)
    grouped = groupings(judged, collection.groups)
    rng = keyed_generator(seed, "bootstrap", system["retriever"], system["setting"])
    measure = measure_name(settings.cutoff)
    record = {
        **system,
        "benchmark": collection.name,
        "measure": measure,
        "seed": seed,
        **summarise(values, grouped, settings.resamples, settings.level, settings.min_group, rng),
        "counts": {
            **count_queries(judged.qrels, run, names.present, names.documents),
            **grouping_counts(grouped),
        },
    }
    if collection.corpus_note is not None:
        record["corpus_note"] = collection.corpus_note
    if judged.excluded:
        record["excluded"] = {
            "queries": len(judged.excluded),
            "documents": sum(len(set(doc_ids)) for doc_ids in judged.excluded.values()),
            "hits": sum(dropped for _, _, dropped in kept),
        }
    if truncated is not None:
        record["evidence_truncated"] = dict(truncated)
    write_query_scores(scores_file, judged, run, values, measure)
    write_json(measures_file, record)
    return record
