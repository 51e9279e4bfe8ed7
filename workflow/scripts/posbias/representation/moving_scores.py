"""The scores that a retriever gives documents whose evidence is moved (section 6)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from posbias.logs import Heartbeat
from posbias.measures.truncation import loss_of, readable_range
from posbias.representation.evidence_cut import EvidencePair
from posbias.representation.evidence_moving import Moved, insertion_offsets, move_evidence
from posbias.retrieval.dense import normalise

if TYPE_CHECKING:
    from posbias.models.retriever import Retriever

PAIRS_AT_ONCE = 32  # pairs whose documents, one a position, are in memory at once


class Scores(NamedTuple):
    """Cosines (pairs, positions), and per position how many texts a model cuts.

    cut: {"position", "texts": cut at all, "evidence_partly", "evidence_wholly": of those whose
    evidence lies beyond the cut}.
    """

    cosines: np.ndarray
    cut: list[dict[str, int]]


def _count_cut(model: "Retriever", moved: Sequence[Sequence[Moved]], cut: list[dict]) -> None:
    texts = [document.text for of_pair in moved for document in of_pair]
    encoder = model.encoder
    ranges = iter(readable_range(encoder.tokenizer, texts, encoder.max_seq_length))
    for of_pair in moved:
        for document, counts in zip(of_pair, cut, strict=True):
            read = next(ranges)
            counts["texts"] += read != (0, len(document.text))
            loss = loss_of(document.text, (document.start, document.end), read)
            if loss is not None:
                counts[f"evidence_{loss}"] += 1


def score_pairs(
    model: "Retriever", pairs: Sequence[EvidencePair], positions: int, snap: str, name: str
) -> Scores:
    """Return the cosine of each query and its document, its evidence at each of the positions.

    Queries carry the retriever's prefix, documents none. name: heads the lines of progress.
    Raises ConfigError for positions or a snap that do not exist, DataError for a text without a
    vector. Section 6, Tables 5 and 13.
    """
    queries = normalise(model.encode_queries([pair.query for pair in pairs]), f"{name}: query")
    cosines = np.empty((len(pairs), positions))
    cut = [
        {"position": number, "texts": 0, "evidence_partly": 0, "evidence_wholly": 0}
        for number in range(1, positions + 1)
    ]
    heartbeat = Heartbeat(name, len(pairs))
    for at in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[at : at + PAIRS_AT_ONCE]
        moved = [
            move_evidence(pair.rest, pair.passage, pair.home, positions, snap) for pair in some
        ]
        texts = [document.text for of_pair in moved for document in of_pair]
        vectors = normalise(model.encode_documents(texts), f"{name}: document")
        own = queries[at : at + len(some)].astype(np.float64)
        cosines[at : at + len(some)] = np.einsum(
            "nw,npw->np", own, vectors.reshape(len(some), positions, -1).astype(np.float64)
        )
        _count_cut(model, moved, cut)
        heartbeat.beat(at + len(some))
    return Scores(cosines, cut)


def pair_counts(pairs: Sequence[EvidencePair], positions: int, snap: str) -> dict[str, Any]:
    """Count pairs and their documents, and the pairs whose document is too short for `positions`.

    places_coincide: pairs of which two positions are the same place of the rest.
    """
    offsets = [insertion_offsets(pair.rest, positions, snap) for pair in pairs]
    return {
        "pairs": len(pairs),
        "documents": len({pair.doc_id for pair in pairs}),
        "places_coincide": sum(len(set(places)) < positions for places in offsets),
    }
