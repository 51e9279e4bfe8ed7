"""Put the relevant passage at every slot of the window and see what the reranker makes of it."""

import logging
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adapter import start
from posbias.files import whole_file, write_json
from posbias.listwise.lists import read_collection, run_lists
from posbias.listwise.score_tape import tape_of
from posbias.listwise.slots import eligible_lists, ranks_by_slot
from posbias.listwise.systems import reading_record, trained_systems
from posbias.measures.ndcg import ndcg_of_rank
from posbias.models.encoder import set_threads
from posbias.retrieval.trec import read_run
from posbias.training.resumption import forget_states

log = logging.getLogger("slots")


def main(
    passages: Path,
    queries: Path,
    qrels: Path,
    vectors: Path,
    query_vectors: Path,
    run: Path,
    checkpoints: list[Path],
    values: Path,
    summary: Path,
    model: str,
    seeds: list[int],
    inferences: list[str],
    scorer: dict[str, Any],
    window: int,
    limit: int,
    cutoff: int,
    batch_size: int,
    threads: int,
    resume_dir: Path | None = None,
) -> None:
    """Evaluate one reranker by the slot of the relevant passage (Figures 4 and 6).

    Args:
        passages: JSON lines with doc_id and text
        queries: JSON lines with query_id and text
        qrels: judgements in TREC format
        vectors: the passages' vectors, by encoder
        query_vectors: the queries' vectors, by encoder
        run: the first stage's run
        checkpoints: the reranker, one folder per seed; none for the cosine reference
        values: Parquet to write: system, seed, query_id, slot (from 1), rank, ndcg
        summary: queries kept and dropped, windows scored and flat ones, as JSON
        model: its key in the config
        seeds: of the checkpoints
        inferences: ways of inference: plain, calibrated
        scorer: the listwise.scorer block of the config
        window: passages of a window
        limit: queries to evaluate
        cutoff: of nDCG
        batch_size: windows scored at a time
        threads: CPU threads
        resume_dir: folder for scores to go on from; removed at the end
    """
    set_threads(threads)
    collection, judged = read_collection(
        passages, queries, qrels, vectors, query_vectors, scorer["encoders"]
    )
    dropped: Counter = Counter()
    lists = run_lists(read_run(run), collection, window)
    dropped["no candidates"] += len(collection.query_ids) - len(lists)
    chosen = eligible_lists(lists, collection, judged, window, limit, dropped)
    query_ids = [collection.query_ids[query] for query, _, _ in chosen]
    frames, tallies = [], []
    settings = ["slots", model, seeds, scorer, inferences, batch_size, window, limit, threads]
    inputs = [passages, queries, qrels, vectors, query_vectors, run, *checkpoints]
    tape = tape_of(resume_dir, settings, inputs)
    systems = list(trained_systems(model, checkpoints, seeds, scorer, inferences, batch_size, tape))
    for system in systems:
        label = f"slots {system.name}/{system.seed}"
        ranks, tally = ranks_by_slot(chosen, system.score(collection), label)
        tallies.append({"system": system.name, "seed": system.seed, **tally.record()})
        frames.append(
            pd.DataFrame(
                {
                    "system": system.name,
                    "seed": system.seed,
                    "query_id": np.repeat(query_ids, window),
                    "slot": np.tile(np.arange(1, window + 1), len(chosen)),
                    "rank": ranks.ravel(),
                    "ndcg": ndcg_of_rank(ranks.ravel(), cutoff),
                }
            )
        )
        log.info("%s: nDCG@%d %.3f at slot 1, %.3f at slot %d", label, cutoff,
                 *(ndcg_of_rank(ranks[:, slot], cutoff).mean() for slot in (0, -1)),
                 window)  # fmt: skip
    with whole_file(values) as part:
        pd.concat(frames).to_parquet(part, index=False)
    write_json(
        summary,
        {
            "queries": len(chosen),
            "window": window,
            "dropped": dict(sorted(dropped.items())),
            "tallies": tallies,
            "reading": reading_record(systems),
        },
    )
    if resume_dir:
        forget_states(resume_dir)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
