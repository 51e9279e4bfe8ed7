"""Write the teacher's order of every training list, once, and where the relevant passages stand."""

import logging
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from adapter import start
from posbias.benchmarks.records import read_benchmark
from posbias.errors import DataError
from posbias.files import write_json, write_jsonl
from posbias.listwise.lists import read_vectors
from posbias.listwise.teacher import mean_scores, teacher_order
from posbias.measures.ndcg import ndcg_of_grades
from posbias.queries.activations import make_activation
from posbias.retrieval.lexical import make_bm25
from posbias.retrieval.trec import read_run

log = logging.getLogger("teacher")
PLACE = "listwise.teacher"


def scores_of_list(members: list[dict[str, Any]], raw: dict[str, np.ndarray]) -> np.ndarray:
    """Return the mean of the members' activated scores of one list."""
    activated = {
        m["name"]: make_activation(m["activation"], PLACE)(raw[m["name"]]) for m in members
    }
    return mean_scores(activated)


def main(
    passages: Path,
    queries: Path,
    qrels: Path,
    vectors: Path,
    query_vectors: Path,
    run: Path,
    lists: Path,
    summary: Path,
    members: list[dict[str, Any]],
    window: int,
    first_stage: str,
    cutoff: int,
) -> None:
    """Order the first candidates of every training query as a teacher would (section 4.1).

    Args:
        passages: JSON lines with doc_id and text
        queries: JSON lines with query_id and text
        qrels: judgements: the passage that a query was made from
        vectors: the passages' vectors, by encoder
        query_vectors: the queries' vectors, by encoder
        run: the first stage's run
        lists: JSON lines to write: query_id, doc_ids in first-stage order, order (the teacher's,
            as 0-based places in doc_ids, best first), source_slot (0-based)
        summary: counts, quality of teacher and first stage, and where the source stands
        members: the teacher's scorers: name, kind (bm25 or cosine), activation, options
        window: passages of a list
        first_stage: name of the run, for the summary
        cutoff: of nDCG
    """
    benchmark = read_benchmark(passages, queries, qrels)
    rows = {document.doc_id: row for row, document in enumerate(benchmark.documents)}
    texts = [document.text for document in benchmark.documents]
    encoders = {m["options"]["encoder"] for m in members if m["kind"] == "cosine"}
    offered = read_vectors(vectors, dict.fromkeys(encoders, len(texts)))
    asked = read_vectors(query_vectors, dict.fromkeys(encoders, len(benchmark.queries)))
    indices = {
        m["name"]: make_bm25(texts=texts, **m["options"]) for m in members if m["kind"] == "bm25"
    }
    ranked = read_run(run)
    dropped: Counter = Counter()
    slots, records = Counter(), []
    quality: dict[str, list[float]] = {"teacher_alone": [], "first_stage": []}
    for number, query in enumerate(benchmark.queries):
        doc_ids = list(ranked.get(query.query_id, ()))[:window]
        if len(doc_ids) < window:
            dropped[f"fewer than {window} candidates"] += 1
            continue
        judged = benchmark.qrels[query.query_id]
        relevant = {doc_id for doc_id, grade in judged.items() if grade > 0}
        source = next((place for place, doc_id in enumerate(doc_ids) if doc_id in relevant), None)
        if source is None:
            dropped[f"source not among the first {window}"] += 1
            continue
        places = np.array([rows[doc_id] for doc_id in doc_ids])
        raw = {
            m["name"]: indices[m["name"]].scores(query.text, places)
            if m["kind"] == "bm25"
            else offered[m["options"]["encoder"]][places] @ asked[m["options"]["encoder"]][number]
            for m in members
        }
        scores = scores_of_list(members, raw)
        alone = teacher_order(scores, places, [])
        for name, order in (("teacher_alone", alone), ("first_stage", np.arange(window))):
            grades = [judged.get(doc_ids[place], 0) for place in order]
            quality[name].append(ndcg_of_grades(grades, list(judged.values()), cutoff))
        slots[source] += 1
        records.append(
            {
                "query_id": query.query_id,
                "doc_ids": doc_ids,
                "order": teacher_order(scores, places, [rows[d] for d in relevant]).tolist(),
                "source_slot": source,
            }
        )
    if not records:
        raise DataError(f"{run}: no list of {window} holds its source ({dict(dropped)}).")
    write_jsonl(lists, records)
    write_json(
        summary,
        {
            "lists": len(records),
            "window": window,
            "first_stage": first_stage,
            "members": [m["name"] for m in members],
            "source_slots": [slots[slot] for slot in range(window)],
            "ndcg": {name: fmean(values) for name, values in quality.items()},
            "dropped": dict(sorted(dropped.items())),
        },
    )
    log.info("wrote %d lists; dropped %s", len(records), dict(dropped))


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
