"""Evaluate one retriever under every training setting: runs, measures, values of each query."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.benchmarks.evaluation import (
    evaluate_ranking,
    evaluation_settings,
    evidence_truncated,
    rank_by_cosine,
)
from posbias.benchmarks.records import read_benchmark
from posbias.models.checkpoints import checked_settings
from posbias.models.encoder import set_threads
from posbias.models.retriever import load_retriever


def main(
    corpus: Path,
    queries: Path,
    qrels: Path,
    checkpoints: list[Path],
    runs: list[Path],
    measures: list[Path],
    scores: list[Path],
    retriever: str,
    label: str,
    settings: list[str],
    evaluation: dict[str, Any],
) -> None:
    """Evaluate the checkpoints of one retriever (paper: section 4.3, equation 3).

    Args:
        corpus: documents to search, as JSON lines
        queries: queries and where their evidence lies, as JSON lines
        qrels: judgements, in TREC format
        checkpoints: one trained model per setting, in the order of `settings`
        runs: the rankings, in TREC format, one per setting
        measures: the measures record, as JSON, one per setting
        scores: the value of each query, as CSV, one per setting
        retriever: its key in the config
        label: its name in tables
        settings: training settings, such as begin, middle, end, uniform
        evaluation: benchmark, depth, cutoff, character_edges, resamples, level, min_group,
            seed, batch_size, threads
    """
    options = evaluation_settings(evaluation)
    set_threads(options.threads)
    benchmark = read_benchmark(corpus, queries, qrels)
    for setting, checkpoint, *files in zip(
        settings, checkpoints, runs, measures, scores, strict=True
    ):
        checked_settings(checkpoint, {"retriever": retriever, "setting": setting})
        model = load_retriever(checkpoint, batch_size=options.batch_size)
        record = evaluate_ranking(
            benchmark,
            *rank_by_cosine(model, benchmark, options.depth),
            options,
            {"retriever": retriever, "label": label, "setting": setting},
            *files,
            truncated=evidence_truncated(model, benchmark),
        )
        logging.info("%s, %s: %s %.3f", label, setting, record["measure"], record["micro_mean"])


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
