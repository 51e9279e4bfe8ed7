"""Rerank the candidates in the first stage's order and in shuffled ones, on every test set."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adapter import start
from posbias.errors import ConfigError, DataError
from posbias.files import whole_directory, whole_file, write_json
from posbias.listwise.aggregation import item_orders
from posbias.listwise.collection import Collection
from posbias.listwise.lists import lists_run, read_collections, run_lists
from posbias.listwise.orders import Lists, ndcg_of_lists, shuffled_lists, with_every_query
from posbias.listwise.score_tape import tape_of
from posbias.listwise.systems import ALONE, SEEDLESS, System, reading_record, trained_systems
from posbias.listwise.windows import Score, rerank_sliding
from posbias.measures.rank_stability import tau_psi
from posbias.models.encoder import set_threads
from posbias.retrieval.trec import Qrels, Run, read_run, write_run
from posbias.training.resumption import forget_states

log = logging.getLogger("orders")
ORIGINAL = 0  # the number of the first stage's own order; shuffled ones count from 1


class Evaluation:
    """Collects the values of one system after another, and what was scored for them."""

    def __init__(self, evaluation: dict[str, Any], seed: int) -> None:
        self.options, self.seed = evaluation, seed
        self.values: list[pd.DataFrame] = []
        self.stability: list[pd.DataFrame] = []
        self.tallies: list[dict[str, Any]] = []
        self.runs: dict[str, Run] = {}

    def _reranked(self, score: Score, lists: Lists, seed: int, name: str) -> list[np.ndarray]:
        ranked, tally = rerank_sliding(
            lists,
            score,
            self.options["window"],
            self.options["stride"],
            self.options["batch_size"],
            name,
        )
        self.tallies.append({"name": name, "seed": seed, **tally.record()})
        return ranked

    def add(
        self,
        system: System | None,
        score: Score | None,
        place: dict[str, str],
        collection: Collection,
        qrels: Qrels,
        lists: Lists,
        shuffles: int,
    ) -> None:
        """Evaluate one system on one collection and first stage; None is the first stage alone.

        score: the system's for this collection, the same for all its lists: what a calibration
        has read of a query, it need not read again.
        """
        queries = [query for query, _ in lists]
        outputs = []
        who = {"system": system.name if system else ALONE,
               "seed": system.seed if system else SEEDLESS}  # fmt: skip
        for order in range(shuffles + 1):
            shown = lists
            if order != ORIGINAL:
                shown = shuffled_lists(lists, collection, order, self.seed)
            name = f"{who['system']}/{place['collection']}/{place['first_stage']}/{order}"
            ranked = [passages for _, passages in shown]
            if score:
                ranked = self._reranked(score, shown, who["seed"], name)
            ndcg = ndcg_of_lists(
                list(zip(queries, ranked, strict=True)), collection, qrels, self.options["cutoff"]
            )
            ids = [collection.query_ids[query] for query in queries]
            row = {**who, **place, "order": order, "query_id": ids, "ndcg": ndcg}
            self.values.append(pd.DataFrame(row))
            if order != ORIGINAL:
                outputs.append(ranked)
            elif system and shuffles:
                name = f"{place['collection']}.{system.name}.{system.seed}.txt"
                self.runs[name] = lists_run(collection, queries, ranked)
        if len(outputs) > 1:
            taus = [
                tau_psi(item_orders([output[number] for output in outputs]))
                if len(outputs[0][number]) > 1
                else np.nan
                for number in range(len(queries))
            ]
            row = {**who, **place, "query_id": ids, "tau_psi": taus}
            self.stability.append(pd.DataFrame(row))


def main(
    passages: list[Path],
    queries: list[Path],
    qrels: list[Path],
    vectors: list[Path],
    query_vectors: list[Path],
    runs: list[Path],
    checkpoints: list[Path],
    values: Path,
    stability: Path,
    reranked: Path,
    summary: Path,
    model: str,
    seeds: list[int],
    inferences: list[str],
    scorer: dict[str, Any],
    collections: list[str],
    stages: list[str],
    main_stage: str,
    evaluation: dict[str, Any],
    seed: int,
    resume_dir: Path | None = None,
) -> None:
    """Evaluate one reranker by windows that slide over the candidates (Tables 1 to 3).

    Args:
        passages: per collection, JSON lines with doc_id and text
        queries: per collection, JSON lines with query_id and text
        qrels: per collection, judgements in TREC format
        vectors: per collection, the passages' vectors, by encoder
        query_vectors: per collection, the queries' vectors, by encoder
        runs: all first stages of the first collection, then of the second, and so on
        checkpoints: the reranker, one folder per seed; none for the cosine reference, which also
            brings the first stages alone
        values: Parquet to write: system, seed, collection, first_stage, order (0 is the first
            stage's own, from 1 shuffled), query_id, ndcg
        stability: Parquet to write: system, seed, collection, first_stage, query_id, tau_psi
        reranked: folder to write: TREC runs of the main first stage's lists, reranked
        summary: windows scored and flat ones, as JSON
        model: its key in the config
        seeds: of the checkpoints
        inferences: ways of inference: plain, calibrated
        scorer: the listwise.scorer block of the config
        collections: names of the test sets
        stages: names of the first stages
        main_stage: the first stage whose orders are shuffled too
        evaluation: window, stride, depth, shuffles, queries, cutoff, batch_size, threads
        seed: seed of the shuffled orders
        resume_dir: folder for scores to go on from; removed at the end
    """
    set_threads(evaluation["threads"])
    loaded = read_collections(passages, queries, qrels, vectors, query_vectors, scorer["encoders"])
    found = Evaluation(evaluation, seed)
    settings = ["orders", model, seeds, inferences, scorer, stages, main_stage, evaluation, seed]
    inputs = [*passages, *queries, *qrels, *vectors, *query_vectors, *runs, *checkpoints]
    tape = tape_of(resume_dir, settings, inputs)
    batch = evaluation["batch_size"]
    systems: list[System | None] = list(
        trained_systems(model, checkpoints, seeds, scorer, inferences, batch, tape)
    )
    if not checkpoints:
        systems.append(None)
    empty = []
    for at, (name, (collection, judged)) in enumerate(zip(collections, loaded, strict=True)):
        of_collection = runs[at * len(stages) : (at + 1) * len(stages)]
        scores = [system and system.score(collection) for system in systems]
        for stage, run in zip(stages, of_collection, strict=True):
            lists = with_every_query(
                run_lists(read_run(run), collection, evaluation["depth"]),
                collection,
                judged,
                evaluation["queries"],
            )
            place = {"collection": name, "first_stage": stage}
            empty.append({**place, "queries": sum(len(passages) == 0 for _, passages in lists)})
            if empty[-1]["queries"] == len(lists):
                raise DataError(f"{run}: no query has a candidate; run the search again.")
            shuffles = evaluation["shuffles"] if stage == main_stage else 0
            for system, score in zip(systems, scores, strict=True):
                found.add(system, score, place, collection, judged, lists, shuffles)
            log.info("%s: %s, %s done", model, name, stage)
    if not found.stability:
        raise ConfigError(
            f"main_stage {main_stage!r} is none of {', '.join(stages)}, or shuffles is below 2: "
            "there is no shuffled order to evaluate."
        )
    for path, frames in ((values, found.values), (stability, found.stability)):
        table = pd.concat(frames)
        with whole_file(path) as part:
            table.to_parquet(part, index=False)
    with whole_directory(reranked) as part:
        for name, run in found.runs.items():
            write_run(part / name, run, model)
    write_json(
        summary,
        {"tallies": found.tallies, "without_candidates": empty, "reading": reading_record(systems)},
    )
    if resume_dir:
        forget_states(resume_dir)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
