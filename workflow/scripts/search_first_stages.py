"""Search one listwise collection by every first stage: TREC runs, and the queries' vectors."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from adapter import start
from posbias.benchmarks.records import read_benchmark
from posbias.errors import ConfigError
from posbias.files import whole_file
from posbias.listwise.lists import read_vectors
from posbias.models.encoder import encode_unit, load_encoder, set_threads
from posbias.options import check_options
from posbias.retrieval.dense import search
from posbias.retrieval.fusion import reciprocal_rank_fusion
from posbias.retrieval.lexical import make_bm25
from posbias.retrieval.trec import Run, make_run, write_run

log = logging.getLogger("search")
PLACE = "listwise.first_stages"


def search_all(
    stages: dict[str, dict[str, Any]],
    query_ids: list[str],
    queries: list[str],
    doc_ids: list[str],
    texts: list[str],
    asked: dict[str, np.ndarray],
    offered: dict[str, np.ndarray],
    depth: int,
) -> dict[str, Run]:
    """Return the run of every first stage; a fusion takes runs of stages named before it."""
    runs: dict[str, Run] = {}
    for name, stage in stages.items():
        options = stage["options"]
        if stage["kind"] == "bm25":
            check_options(f"{PLACE}.{name}", make_bm25, options, own={"texts": texts})
            found = make_bm25(texts=texts, **options).search(queries, depth)
            runs[name] = make_run(query_ids, doc_ids, *found)
        elif stage["kind"] == "dense":
            encoder = options["encoder"]
            if encoder not in asked:
                raise ConfigError(f"{PLACE}.{name}: encoder {encoder!r} is not prepared.")
            runs[name] = make_run(
                query_ids, doc_ids, *search(asked[encoder], offered[encoder], depth)
            )
        elif stage["kind"] == "fusion":
            missing = [other for other in options["of"] if other not in runs]
            if missing:
                raise ConfigError(
                    f"{PLACE}.{name}: fuses {', '.join(missing)}, which must stand before it."
                )
            rows = {doc_id: row for row, doc_id in enumerate(doc_ids)}
            fused = [runs[other] for other in options["of"]]
            runs[name] = reciprocal_rank_fusion(fused, rows, depth, options["k"])
        else:
            raise ConfigError(
                f"{PLACE}.{name}: kind {stage['kind']!r} is none of bm25, dense, fusion."
            )
    return runs


def main(
    passages: Path,
    queries: Path,
    qrels: Path,
    vectors: Path,
    encoders: list[Path],
    query_vectors: Path,
    runs: list[Path],
    stages: dict[str, dict[str, Any]],
    depth: int,
    max_tokens: int,
    batch_size: int,
    threads: int,
) -> None:
    """Search by BM25, dense encoders and their fusion (section 4.1).

    Args:
        passages: JSON lines with doc_id and text
        queries: JSON lines with query_id and text
        qrels: judgements in TREC format; they are only checked here
        vectors: the passages' vectors, by encoder
        encoders: SentenceTransformer folders; the folder's name names its vectors
        query_vectors: safetensors file to write: per encoder (queries, width)
        runs: TREC runs to write, one per first stage
        stages: kind and options of each first stage
        depth: passages kept per query
        max_tokens: where a query is cut, in tokens
        batch_size: texts encoded at a time
        threads: CPU threads
    """
    from safetensors.numpy import save_file

    set_threads(threads)
    benchmark = read_benchmark(passages, queries, qrels)
    texts = [document.text for document in benchmark.documents]
    doc_ids = [document.doc_id for document in benchmark.documents]
    questions = [query.text for query in benchmark.queries]
    asked = {}
    for folder in encoders:
        encoder = load_encoder(folder)
        encoder.max_seq_length = max_tokens
        asked[folder.name] = encode_unit(encoder, questions, batch_size, f"queries {folder.name}")
    offered = read_vectors(vectors, dict.fromkeys(asked, len(texts)))
    query_ids = [query.query_id for query in benchmark.queries]
    found = search_all(stages, query_ids, questions, doc_ids, texts, asked, offered, depth)
    for path, (name, run) in zip(runs, found.items(), strict=True):
        write_run(path, run, name)
        log.info("%s: %d of %d queries found something", name, len(run), len(questions))
    with whole_file(query_vectors) as part:
        save_file(asked, str(part))


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
