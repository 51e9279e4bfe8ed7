"""Permutation self-consistency: aggregate what a reranker makes of several shuffled orders."""

import logging
from pathlib import Path
from typing import Any

import pandas as pd

from adapter import start
from posbias.files import whole_file, write_json
from posbias.listwise.lists import read_collections, run_lists
from posbias.listwise.orders import ndcg_of_lists, shuffled_lists, with_every_query
from posbias.listwise.permutations import answers
from posbias.listwise.score_tape import tape_of
from posbias.listwise.systems import reading_record, trained_systems
from posbias.listwise.windows import rerank_sliding
from posbias.logs import Heartbeat
from posbias.models.encoder import set_threads
from posbias.retrieval.trec import read_run
from posbias.training.resumption import forget_states

log = logging.getLogger("permutations")


def main(
    passages: list[Path],
    queries: list[Path],
    qrels: list[Path],
    vectors: list[Path],
    query_vectors: list[Path],
    runs: list[Path],
    checkpoints: list[Path],
    values: Path,
    summary: Path,
    model: str,
    seeds: list[int],
    scorer: dict[str, Any],
    collections: list[str],
    depths: list[dict[str, Any]],
    evaluation: dict[str, Any],
    orders: int,
    limit: int,
    seed: int,
    resume_dir: Path | None = None,
) -> None:
    """Evaluate PermSC with 1 to `orders` shuffled orders (Figure 5).

    Args:
        passages: per collection, JSON lines with doc_id and text
        queries: per collection, JSON lines with query_id and text
        qrels: per collection, judgements in TREC format
        vectors: per collection, the passages' vectors, by encoder
        query_vectors: per collection, the queries' vectors, by encoder
        runs: per collection, the first stage's run
        checkpoints: the reranker, one folder per seed
        values: Parquet to write: system, seed, collection, depth, aggregate (single, borda,
            kemeny), m, query_id, ndcg
        summary: windows scored and flat ones, as JSON
        model: its key in the config
        seeds: of the checkpoints
        scorer: the listwise.scorer block of the config
        collections: names of the test sets
        depths: depth (candidates to rerank) and aggregates (to make of them) of each pass
        evaluation: window, stride, cutoff, batch_size, threads
        orders: shuffled orders at most
        limit: queries of each test set
        seed: seed of the shuffled orders
        resume_dir: folder for scores to go on from; removed at the end
    """
    set_threads(evaluation["threads"])
    loaded = read_collections(passages, queries, qrels, vectors, query_vectors, scorer["encoders"])
    frames, tallies = [], []
    settings = ["permutations", model, seeds, scorer, depths, evaluation, orders, limit, seed]
    inputs = [*passages, *queries, *qrels, *vectors, *query_vectors, *runs, *checkpoints]
    tape = tape_of(resume_dir, settings, inputs)
    batch = evaluation["batch_size"]
    systems = list(trained_systems(model, checkpoints, seeds, scorer, ["plain"], batch, tape))
    heartbeat = Heartbeat(f"permutations {model}", len(systems) * len(collections) * len(depths))
    for system in systems:
        for name, (collection, judged), run in zip(collections, loaded, runs, strict=True):
            ranked_run = read_run(run)
            score = system.score(collection)
            for depth, aggregates in ((d["depth"], d["aggregates"]) for d in depths):
                lists = with_every_query(
                    run_lists(ranked_run, collection, depth), collection, judged, limit
                )
                asked = [query for query, _ in lists]
                outputs = []
                for repeat in range(1, orders + 1):
                    shown = shuffled_lists(lists, collection, repeat, seed)
                    ranked, tally = rerank_sliding(
                        shown, score, evaluation["window"], evaluation["stride"],
                        evaluation["batch_size"], f"{name}, order {repeat}",
                    )  # fmt: skip
                    outputs.append(ranked)
                    tallies.append({"name": f"{system.name}/{name}/{depth}/{repeat}",
                                    "seed": system.seed, **tally.record()})  # fmt: skip
                for aggregate, m, ranked in answers(outputs, aggregates):
                    ndcg = ndcg_of_lists(
                        list(zip(asked, ranked, strict=True)),
                        collection,
                        judged,
                        evaluation["cutoff"],
                    )
                    frames.append(
                        pd.DataFrame(
                            {
                                "system": system.name,
                                "seed": system.seed,
                                "collection": name,
                                "depth": depth,
                                "aggregate": aggregate,
                                "m": m,
                                "query_id": [collection.query_ids[query] for query in asked],
                                "ndcg": ndcg,
                            }
                        )
                    )
                heartbeat.beat(len(tallies) // orders)
    with whole_file(values) as part:
        pd.concat(frames).to_parquet(part, index=False)
    write_json(summary, {"tallies": tallies, "reading": reading_record(systems)})
    if resume_dir:
        forget_states(resume_dir)
    log.info("%s: wrote %s", model, values)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
