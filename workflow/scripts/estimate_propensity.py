"""Count where a reranker puts the passages of each slot when lists are shuffled."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from adapter import start
from posbias.errors import DataError
from posbias.files import write_json
from posbias.keyed import keyed_order
from posbias.listwise.lists import read_collection, run_lists
from posbias.listwise.ordering import count_flat, order_by_score
from posbias.listwise.propensity import Propensity, count_placements, shuffled
from posbias.listwise.reranking import window_score
from posbias.listwise.score_tape import tape_of
from posbias.listwise.systems import load_reranker
from posbias.listwise.windows import warn_flat
from posbias.logs import Heartbeat
from posbias.models.encoder import set_threads
from posbias.retrieval.trec import read_run
from posbias.training.resumption import forget_states

log = logging.getLogger("propensity")
BLOCK = 1000  # lists ordered at a time


def main(
    passages: Path,
    queries: Path,
    qrels: Path,
    vectors: Path,
    query_vectors: Path,
    run: Path,
    checkpoint: Path,
    propensity: Path,
    model: str,
    model_seed: int,
    scorer: dict[str, Any],
    window: int,
    n_queries: int,
    shuffles: int,
    seed: int,
    batch_size: int,
    threads: int,
    resume_dir: Path | None = None,
) -> None:
    """Estimate the propensity matrix (equation 5).

    Args:
        passages: JSON lines with doc_id and text
        queries: JSON lines with query_id and text
        qrels: judgements in TREC format
        vectors: the passages' vectors, by encoder
        query_vectors: the queries' vectors, by encoder
        run: the first stage's run on the training queries
        checkpoint: the reranker whose bias is estimated
        propensity: counts, ratios and what they rest on, as JSON
        model: key of the reranker, to check the checkpoint by
        model_seed: its seed, to check the checkpoint by
        scorer: the listwise.scorer block of the config
        window: passages of a list, and rows and columns of the matrix
        n_queries: queries wanted, by keyed hash
        shuffles: shuffled orders per query
        seed: seed of the keyed hash and the shuffles
        batch_size: windows scored at a time
        threads: CPU threads
        resume_dir: folder for scores to go on from; removed at the end
    """
    set_threads(threads)
    collection, _ = read_collection(
        passages, queries, qrels, vectors, query_vectors, scorer["encoders"]
    )
    lists = run_lists(read_run(run), collection, window)
    full = [(query, rows) for query, rows in lists if len(rows) == window]
    if not full:
        raise DataError(f"{run}: no query has {window} candidates; raise the first stage's depth.")
    chosen = keyed_order(full, seed, key=lambda pair: collection.query_ids[pair[0]])[:n_queries]
    if len(chosen) < n_queries:
        log.warning("only %d of %d wanted queries have %d candidates",
                    len(chosen), n_queries, window)  # fmt: skip
    asked = np.repeat([query for query, _ in chosen], shuffles)
    shown = np.stack(
        [
            rows[shuffled(seed, collection.query_ids[query], repeat, window)]
            for query, rows in chosen
            for repeat in range(shuffles)
        ]
    )
    settings = [model, model_seed, scorer, window, n_queries, shuffles, seed, batch_size, threads]
    inputs = [passages, queries, vectors, query_vectors, run, checkpoint]
    tape = tape_of(resume_dir, settings, inputs)
    reranker = load_reranker(checkpoint, model, model_seed, scorer)
    score = window_score(reranker, collection, batch_size, tape)
    counts = np.zeros((window, window), dtype=np.int64)
    heartbeat, flat = Heartbeat("propensity", len(shown)), 0
    for at in range(0, len(shown), BLOCK):
        block = slice(at, at + BLOCK)
        scores = score(asked[block], shown[block])
        counts += count_placements(order_by_score(scores, shown[block]))
        flat += count_flat(scores)
        heartbeat.beat(min(at + BLOCK, len(shown)))
    warn_flat("propensity", flat, len(shown))
    found = Propensity(counts)
    found.check()
    write_json(
        propensity,
        {
            **found.to_record(),
            "ratios": found.joint.tolist(),
            "queries": len(chosen),
            "shuffles": shuffles,
            "seed": seed,
            "model": model,
            "model_seed": model_seed,
            "dropped": {
                "no candidates": len(collection.query_ids) - len(lists),
                f"fewer than {window} candidates": len(lists) - len(full),
                "above the limit": len(full) - len(chosen),
            },
            "flat": flat,
        },
    )
    if resume_dir:
        forget_states(resume_dir)
    log.info("counted %d lists, %d cells empty", found.n_lists, found.zero_cells)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
