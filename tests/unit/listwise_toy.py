"""Toy collections with vectors, and scorers whose answers are known, for listwise tests."""

from collections.abc import Callable

import numpy as np

from posbias.listwise.collection import Collection
from posbias.retrieval.trec import Qrels

BODY = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "initializer_range": 0.05,
}
OPTIONS = {"largest_window": 8, "slot_scale": 0.5, "scale": 1.0, "prior": 2.0, "body": BODY}


def unit_rows(rng: np.random.Generator, rows: int, width: int) -> np.ndarray:
    """Random float32 vectors of length 1."""
    vectors = rng.normal(size=(rows, width))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def toy_collection(
    queries: int = 6, passages: int = 12, width: int = 8, seed: int = 0
) -> Collection:
    """Queries q0, q1, … and passages d0, d1, …, with random vectors."""
    rng = np.random.default_rng(seed)
    return Collection(
        query_ids=[f"q{row}" for row in range(queries)],
        queries=[f"question {row}" for row in range(queries)],
        doc_ids=[f"d{row}" for row in range(passages)],
        passages=[f"passage {row}" for row in range(passages)],
        query_vectors=unit_rows(rng, queries, width),
        passage_vectors=unit_rows(rng, passages, width),
    )


def toy_qrels(collection: Collection, relevant: dict[int, dict[int, int]]) -> Qrels:
    """Judgements by row: {query row: {passage row: grade}}."""
    return {
        collection.query_ids[query]: {collection.doc_ids[row]: grade for row, grade in rows.items()}
        for query, rows in relevant.items()
    }


def content_and_slots(
    seed: int = 0, weight: float = 1.0
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A score of content, by query and passage, plus a bonus of each slot, by query and length.

    weight: of the slots. The placeholder is the passage of the highest row, 99; its content is 0.
    """
    rng = np.random.default_rng(seed)
    content = rng.normal(size=(50, 100))
    content[:, 99] = 0
    bonus = rng.normal(size=(50, 21, 20))

    def score(queries: np.ndarray, passages: np.ndarray) -> np.ndarray:
        k = passages.shape[1]
        return content[queries[:, None], passages] + weight * bonus[queries, k, :k]

    return score
