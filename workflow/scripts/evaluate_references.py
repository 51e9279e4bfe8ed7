"""Evaluate the reference systems that no training setting touches: BM25 and a public encoder."""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from adapter import start
from posbias.benchmarks.evaluation import (
    EvaluationSettings,
    evaluate_ranking,
    evaluation_settings,
    evidence_truncated,
    rank_by_cosine,
)
from posbias.benchmarks.records import Benchmark, read_benchmark
from posbias.errors import ConfigError
from posbias.models.encoder import load_encoder, set_threads
from posbias.models.retriever import Retriever
from posbias.retrieval.bm25 import Bm25

Ranked = tuple[Iterable[np.ndarray], Iterable[np.ndarray], dict[str, int] | None]


def rank_bm25(
    benchmark: Benchmark, encoder: Path, settings: EvaluationSettings, options: dict[str, Any]
) -> Ranked:
    """Rank by BM25; options: those of posbias.retrieval.bm25.Bm25."""
    index = Bm25([document.text for document in benchmark.documents], **options)
    return *index.search([query.text for query in benchmark.queries], settings.depth), None


def rank_encoder(
    benchmark: Benchmark, encoder: Path, settings: EvaluationSettings, options: dict[str, Any]
) -> Ranked:
    """Rank by the cosine of a SentenceTransformer's vectors, with the prompts of its own folder."""
    if options:
        raise ConfigError(
            f"references: sentence_transformer takes no options, found {', '.join(options)}."
        )
    model = Retriever(load_encoder(encoder), settings.batch_size)
    ranking = rank_by_cosine(model, benchmark, settings.depth)
    return *ranking, evidence_truncated(model, benchmark)


RANKERS = {"bm25": rank_bm25, "sentence_transformer": rank_encoder}


def main(
    corpus: Path,
    queries: Path,
    qrels: Path,
    encoder: Path,
    runs: list[Path],
    measures: list[Path],
    scores: list[Path],
    references: list[dict[str, Any]],
    evaluation: dict[str, Any],
) -> None:
    """Evaluate reference systems on the test collection (paper: section 4.3, equation 3).

    Args:
        corpus: documents to search, as JSON lines
        queries: queries and where their evidence lies, as JSON lines
        qrels: judgements, in TREC format
        encoder: a SentenceTransformer folder
        runs: the rankings, in TREC format, one per reference
        measures: the measures record, as JSON, one per reference
        scores: the value of each query, as CSV, one per reference
        references: name, label, kind (bm25 or sentence_transformer) and options of each
        evaluation: benchmark, depth, cutoff, character_edges, resamples, level, min_group,
            seed, batch_size, threads
    """
    settings = evaluation_settings(evaluation)
    set_threads(settings.threads)
    benchmark = read_benchmark(corpus, queries, qrels)
    for reference, *files in zip(references, runs, measures, scores, strict=True):
        if reference["kind"] not in RANKERS:
            raise ConfigError(
                f"references: kind {reference['kind']!r} does not exist; "
                f"known: {', '.join(RANKERS)}."
            )
        rank = RANKERS[reference["kind"]]
        indices, values, truncated = rank(
            benchmark, encoder, settings, reference.get("options") or {}
        )
        record = evaluate_ranking(
            benchmark,
            indices,
            values,
            settings,
            {"retriever": reference["name"], "label": reference["label"], "setting": None},
            *files,
            truncated=truncated,
        )
        logging.info("%s: %s %.3f", reference["label"], record["measure"], record["micro_mean"])


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
