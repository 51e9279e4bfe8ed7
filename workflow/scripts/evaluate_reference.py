"""Evaluate one system that no training setting touches on one benchmark: BM25, or an encoder."""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adapter import start
from posbias.benchmarks.corpus_blocks import corpus_blocks, count_lines
from posbias.benchmarks.corpus_search import search_lines, start_searches
from posbias.benchmarks.evaluation import evaluate_ranking, make_collection, read_judged
from posbias.benchmarks.records import BenchmarkQuery
from posbias.benchmarks.settings import SearchSettings, measure_settings, search_settings
from posbias.errors import ConfigError
from posbias.models.encoder import load_encoder, set_threads
from posbias.models.retriever import Retriever
from posbias.options import check_options
from posbias.retrieval.bm25 import Bm25
from posbias.retrieval.products import products_here
from posbias.retrieval.running_top_k import NO_DOCUMENT
from posbias.retrieval.sharded import deepest_exclusion

SCORES_AT_ONCE = 2**26  # of queries by documents

Ranked = tuple[Iterable[np.ndarray], Iterable[np.ndarray], dict[str, int] | None]


def rank_bm25(
    corpus: Path,
    queries: list[BenchmarkQuery],
    depth: int,
    settings: SearchSettings,
    options: Mapping[str, Any],
    models: Mapping[str, Path],
) -> Ranked:
    """Rank by BM25, all texts in memory; options: those of posbias.retrieval.bm25.Bm25."""
    check_options("references.bm25.options", Bm25, options, given=1)
    lines = range(count_lines(corpus))
    blocks = corpus_blocks(corpus, lines, settings.block_documents)
    index = Bm25([document.text for block in blocks for document in block], **options)
    at_once = max(SCORES_AT_ONCE // len(lines), 1)
    indices, scores = [], []
    for at in range(0, len(queries), at_once):
        found = index.search([query.text for query in queries[at : at + at_once]], depth)
        indices += found[0]
        scores += found[1]
    return indices, scores, None


def rank_encoder(
    corpus: Path,
    queries: list[BenchmarkQuery],
    depth: int,
    settings: SearchSettings,
    options: Mapping[str, Any],
    models: Mapping[str, Path],
) -> Ranked:
    """Rank by the cosine of a SentenceTransformer's vectors, with the prompts of its own folder.

    options: model, the name of one of `models`.
    """
    if set(options) != {"model"} or options["model"] not in models:
        raise ConfigError(
            f"references: sentence_transformer takes one option, model, of "
            f"{', '.join(models) or 'no prepared model'}; found {dict(options)}."
        )
    set_threads(settings.threads)
    encoder = load_encoder(models[options["model"]])
    model = Retriever(encoder, settings.batch_size, settings.autocast)
    searches = start_searches(model, [queries], [depth], products_here())
    lines = range(count_lines(corpus))
    search_lines(model, corpus, lines, settings.block_documents, searches, options["model"])
    best = searches[0].best
    return best.indices, best.scores, searches[0].truncated


RANKERS = {"bm25": rank_bm25, "sentence_transformer": rank_encoder}


def main(
    corpus: Path,
    queries: Path,
    qrels: Path,
    excluded: Path,
    summary: Path,
    models: list[Path],
    run: Path,
    measures: Path,
    scores: Path,
    model_names: list[str],
    reference: dict[str, Any],
    benchmark: str,
    groups: dict[str, Any],
    evaluation: dict[str, Any],
    seed: int,
) -> None:
    """Evaluate a reference system on a test collection (paper: section 4.3, equation 3).

    Args:
        corpus: documents to search, as JSON lines
        queries: queries and where their evidence lies, as JSON lines
        qrels: judgements, in TREC format
        excluded: documents that a query's run must not hold, as JSON
        summary: what the benchmark is, as JSON; its corpus_note goes into the measures
        models: SentenceTransformer folders
        run: the ranking, in TREC format
        measures: the measures record, as JSON
        scores: the value of each query, as CSV
        model_names: names of `models`, in their order
        reference: name, label, kind (bm25 or sentence_transformer) and options
        benchmark: its key in the config
        groups: position groupings and their options; {} where evidence has no position
        evaluation: the evaluation block of the config
        seed: seed of the bootstrap
    """
    if reference["kind"] not in RANKERS:
        raise ConfigError(
            f"references: kind {reference['kind']!r} does not exist; known: {', '.join(RANKERS)}."
        )
    options, searched = measure_settings(evaluation), search_settings(evaluation)
    judged = read_judged(queries, qrels, excluded)
    indices, values, truncated = RANKERS[reference["kind"]](
        corpus,
        judged.queries,
        options.depth + deepest_exclusion(judged.excluded),
        searched,
        reference.get("options") or {},
        dict(zip(model_names, models, strict=True)),
    )
    known = np.setdiff1d(np.unique(np.concatenate(list(indices))), [NO_DOCUMENT])
    record = evaluate_ranking(
        make_collection(benchmark, judged, corpus, known, groups, summary),
        indices,
        values,
        options,
        seed,
        {"retriever": reference["name"], "label": reference["label"], "setting": None},
        run,
        measures,
        scores,
        truncated=truncated,
    )
    logging.info("%s: %s %.3f", reference["label"], record["measure"], record["micro_mean"])


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
