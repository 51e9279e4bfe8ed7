"""Evaluate one retriever on one benchmark under every training setting, from what it found."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from adapter import start
from posbias.benchmarks.evaluation import evaluate_ranking, make_collection, read_judged
from posbias.benchmarks.settings import measure_settings
from posbias.errors import DataError
from posbias.files import read_json
from posbias.retrieval.running_top_k import NO_DOCUMENT
from posbias.retrieval.sharded import (
    Hits,
    deepest_exclusion,
    merge_hits,
    read_hits,
    whole_searches,
)


def merged(paths: list[Path], benchmark: str, n_queries: int, depth: int) -> Hits:
    """Return the `depth` best documents over all shards; raises DataError if one kept fewer."""
    parts = [read_hits(path, benchmark, n_queries) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        if part.indices.shape[1] < depth:
            raise DataError(
                f"{path}: the search kept {part.indices.shape[1]} documents a query, needed are "
                f"{depth}; search again."
            )
    return merge_hits(parts, depth)


def cut_evidence(infos: list[dict], benchmark: str, setting: str) -> dict[str, int]:
    """Add up over shards the queries whose evidence a model cuts, and those it is known of."""
    of_shards = [info["evidence_truncated"][benchmark][setting] for info in infos]
    return {name: sum(counts[name] for counts in of_shards) for name in ("n", "of")}


def main(
    corpus: Path,
    queries: Path,
    qrels: Path,
    excluded: Path,
    summary: Path,
    hits: list[Path],
    infos: list[Path],
    runs: list[Path],
    measures: list[Path],
    scores: list[Path],
    retriever: str,
    label: str,
    settings: list[str],
    benchmark: str,
    groups: dict[str, Any],
    evaluation: dict[str, Any],
    seed: int,
) -> None:
    """Merge the shards of a retriever's search and measure it (paper: section 4.3, equation 3).

    Args:
        corpus: the benchmark's own documents, as JSON lines
        queries: queries and where their evidence lies, as JSON lines
        qrels: judgements, in TREC format
        excluded: documents that a query's run must not hold, as JSON
        summary: what the benchmark is, as JSON; its corpus_note goes into the measures
        hits: npz of search_corpus, every shard and setting
        infos: what search_corpus told of each shard, as JSON
        runs: the rankings, in TREC format, one per setting
        measures: the measures record, as JSON, one per setting
        scores: the value of each query, as CSV, one per setting
        retriever: its key in the config
        label: its name in tables
        settings: training settings, such as begin, middle, end, uniform
        benchmark: its key in the config
        groups: position groupings and their options; {} where evidence has no position
        evaluation: depth, cutoff, resamples, level, min_group
        seed: seed of the bootstrap
    """
    options = measure_settings(evaluation)
    judged = read_judged(queries, qrels, excluded)
    shards = whole_searches(hits, retriever, settings)
    told = [read_json(path) for path in infos]
    depth = options.depth + deepest_exclusion(judged.excluded)

    def found(setting: str) -> Hits:
        return merged(shards[setting], benchmark, len(judged.queries), depth)

    # Each setting's hits are read twice, so that those of one setting are in memory at a time.
    indices = [np.unique(found(setting).indices) for setting in settings]
    known = np.setdiff1d(np.concatenate(indices), [NO_DOCUMENT])
    collection = make_collection(benchmark, judged, corpus, known, groups, summary)
    searched = sum(info["documents"][benchmark] for info in told)
    if searched != collection.names.documents:
        raise DataError(
            f"{corpus}: {collection.names.documents} documents, of which {searched} were searched "
            f"for {retriever}; search all shards again."
        )
    for setting, *files in zip(settings, runs, measures, scores, strict=True):
        best = found(setting)
        record = evaluate_ranking(
            collection,
            best.indices,
            best.scores,
            options,
            seed,
            {"retriever": retriever, "label": label, "setting": setting},
            *files,
            truncated=cut_evidence(told, benchmark, setting),
        )
        logging.info("%s, %s: %s %.3f", label, setting, record["measure"], record["micro_mean"])


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
