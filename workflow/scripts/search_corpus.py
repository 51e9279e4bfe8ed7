"""Search one shard of a corpus for the queries of all benchmarks that share it."""

import logging
import time
from pathlib import Path
from typing import Any

from adapter import start
from posbias.benchmarks.corpus_blocks import count_lines
from posbias.benchmarks.corpus_search import search_lines, start_searches
from posbias.benchmarks.records import check_ids, check_text, read_excluded, read_queries
from posbias.benchmarks.settings import search_settings
from posbias.files import content_hash, sha256_file, write_json
from posbias.models.checkpoints import checked_settings
from posbias.models.encoder import set_threads
from posbias.models.retriever import load_retriever
from posbias.retrieval.products import products_here
from posbias.retrieval.sharded import HitsOrigin, deepest_exclusion, shard_lines, write_hits
from posbias.training.resumption import forget_states

log = logging.getLogger("search")


def read_asked(path: Path) -> list:
    """Read a benchmark's queries; raises DataError for none, an id twice, or an empty text."""
    asked = read_queries(path)
    check_ids((query.query_id for query in asked), "query", path)
    for query in asked:
        check_text(query.text, f"query {query.query_id!r}", path)
    return asked


def main(
    corpus: Path,
    queries: list[Path],
    excluded: list[Path],
    checkpoints: list[Path],
    hits: list[Path],
    info: Path,
    retriever: str,
    settings: list[str],
    benchmarks: list[str],
    shard: int,
    shards: int,
    evaluation: dict[str, Any],
    resume_dir: str | None = None,
) -> None:
    """Find the best documents of one shard under every training setting (paper: section 4.3).

    Documents are encoded once per checkpoint for all benchmarks, and their vectors are dropped
    with their block.

    Args:
        corpus: documents, as JSON lines: a benchmark's own, or joined ones
        queries: of each benchmark that shares the corpus, as JSON lines
        excluded: of each benchmark, documents that a query must not find, as JSON
        checkpoints: one trained model per setting, in the order of `settings`
        hits: npz to write, one per setting: <benchmark>.indices and <benchmark>.scores
        info: what was searched and cut evidence, as JSON to write
        retriever: its key in the config
        settings: training settings, such as begin, middle, end, uniform
        benchmarks: names, in the order of `queries`, which is that of a joined corpus' members
        shard: which part of the corpus, from 0; whole blocks of lines
        shards: number of parts
        evaluation: depth, batch_size, block_documents, autocast, threads
        resume_dir: folder for what a killed search has found; removed at the end
    """
    options = search_settings(evaluation)
    set_threads(options.threads)
    asked = {name: read_asked(path) for name, path in zip(benchmarks, queries, strict=True)}
    depths = [options.depth + deepest_exclusion(read_excluded(path)) for path in excluded]
    total = count_lines(corpus)
    lines = shard_lines(total, shard, shards, options.block_documents)
    products = products_here()
    where = {
        "lines": [lines.start, lines.stop],
        "depths": depths,
        "batch_size": options.batch_size,
        "block_documents": options.block_documents,
        "autocast": options.autocast,
        "products": type(products).__name__,
    }
    if resume_dir:
        where |= {"files": [sha256_file(path) for path in (corpus, *queries)]}
    told: dict[str, Any] = {
        "documents": {},
        "evidence_truncated": {name: {} for name in benchmarks},
    }
    for setting, checkpoint, path in zip(settings, checkpoints, hits, strict=True):
        began = time.monotonic()
        trained = checked_settings(checkpoint, {"retriever": retriever, "setting": setting})
        model = load_retriever(checkpoint, options.batch_size, options.autocast)
        searches = start_searches(model, list(asked.values()), depths, products)
        search_lines(
            model,
            corpus,
            lines,
            options.block_documents,
            searches,
            f"{retriever}, {setting}, shard {shard + 1}/{shards}",
            Path(resume_dir) / f"{setting}.npz" if resume_dir else None,
            content_hash({**where, "checkpoint": trained, "threads": options.threads}),
        )
        origin = HitsOrigin(retriever, setting, shard, shards, total)
        found = dict(zip(benchmarks, searches, strict=True))
        write_hits(path, origin, {name: search.hits() for name, search in found.items()})
        for name, search in found.items():
            told["documents"][name] = search.documents
            told["evidence_truncated"][name][setting] = search.truncated
        log.info(
            "%s, %s: %d documents searched for %d queries in %.0f s",
            retriever,
            setting,
            len(lines),
            sum(map(len, asked.values())),
            time.monotonic() - began,
        )
    write_json(info, {"retriever": retriever, "shard": shard, "shards": shards, **where, **told})
    if resume_dir:
        forget_states(Path(resume_dir))


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
