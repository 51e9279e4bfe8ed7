"""nDCG@k of every judged query, by ir_measures (retriever study, section 4.3)."""

from collections.abc import Iterable, Sequence

import numpy as np

from posbias.retrieval.trec import Qrels, Run, check_run


def measure_name(cutoff: int) -> str:
    """Return the measure as ir_measures and the tables write it."""
    return f"nDCG@{cutoff}"


def ndcg_per_query(qrels: Qrels, run: Run, cutoff: int) -> dict[str, float]:
    """Return nDCG@cutoff of each judged query in the order of the judgements.

    A judged query that the run lacks counts 0, and so does a negative grade. Raises DataError
    naming query and document where a score is not a number or equals the one before: the value
    would depend on names alone.
    """
    import ir_measures

    check_run(run)
    measure = ir_measures.nDCG @ cutoff
    # The library below ends the whole process for a query that has grades below -1 only.
    judged = {
        query_id: {doc_id: max(grade, 0) for doc_id, grade in grades.items()}
        for query_id, grades in qrels.items()
    }
    found = {row.query_id: row.value for row in ir_measures.iter_calc([measure], judged, run)}
    return {query_id: float(found[query_id]) for query_id in qrels}


def count_queries(
    qrels: Qrels, run: Run, doc_ids: Iterable[str], documents: int | None = None
) -> dict[str, int]:
    """Count what a mean rests on: queries judged, ranked and unjudged; documents; dead judgements.

    doc_ids: of the corpus, all of them, or where `documents` says how many there are, at least
    those that are judged. ranked: judged queries with at least one hit; unjudged: queries of the
    run without a judgement; judgements_outside_corpus: judgements on documents that nothing could
    retrieve.
    """
    known = set(doc_ids)
    return {
        "judged": len(qrels),
        "ranked": sum(bool(run.get(query_id)) for query_id in qrels),
        "unjudged": sum(query_id not in qrels for query_id in run),
        "documents": len(known) if documents is None else documents,
        "judgements_outside_corpus": sum(
            doc_id not in known for judged in qrels.values() for doc_id in judged
        ),
    }


def ndcg_of_grades(grades: Sequence[int], judged: Sequence[int], cutoff: int) -> float:
    """Return nDCG@cutoff of one ranking by the grades along its ranks, as ir_measures counts it.

    judged: the grades of all judged documents, ranked or not; negative ones count 0. For the many
    short lists of the listwise study, where no run with names and scores is at hand.
    """
    discounts = 1 / np.log2(np.arange(2, cutoff + 2))
    gains = np.maximum(np.asarray(grades[:cutoff], dtype=np.float64), 0)
    ideal = np.sort(np.maximum(np.asarray(judged, dtype=np.float64), 0))[::-1][:cutoff]
    best = ideal @ discounts[: len(ideal)]
    return float(gains @ discounts[: len(gains)] / best) if best else 0.0


def ndcg_of_rank(ranks: np.ndarray, cutoff: int) -> np.ndarray:
    """Return nDCG@cutoff where the one relevant document stands at these ranks (from 1)."""
    ranks = np.asarray(ranks)
    return np.where(ranks <= cutoff, 1 / np.log2(ranks + 1), 0.0)
