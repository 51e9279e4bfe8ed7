"""How near the embedding of a document is to those of its segments (section 6, Figs. 3 and 7).

No query takes part, so that a model can be measured before it is trained for retrieval. The paper
does not name the documents, nor how many; what is drawn and dropped here is counted.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from posbias.corpus.segments import equal_ranges
from posbias.errors import ConfigError, DataError
from posbias.keyed import keyed_digest
from posbias.logs import Heartbeat
from posbias.measures.intervals import percentile_interval, resampled_column_means
from posbias.measures.truncation import readable_range
from posbias.retrieval.dense import normalise

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

DOCUMENTS_AT_A_TIME = 64  # whose vectors, and those of their segments, are in memory
REASONS = ("too_short", "blank_segment", "not_drawn")


class Drawn(NamedTuple):
    """The texts to measure, and how many documents were dropped for which of REASONS."""

    texts: list[str]
    dropped: dict[str, int]


def segments_of_text(text: str, count: int) -> list[str]:
    """Cut a text into `count` contiguous parts whose code points differ by one at most.

    Raises DataError for a text of less code points than parts.
    """
    return [text[start:end] for start, end in equal_ranges(len(text), count)]


def why_dropped(text: str, count: int) -> str | None:
    """Say why a text cannot be measured in `count` segments, None if it can.

    A segment of blanks alone has an embedding of the special tokens, which is about no text.
    """
    if len(text) < count:
        return "too_short"
    blank = any(not segment.strip() for segment in segments_of_text(text, count))
    return "blank_segment" if blank else None


def draw_documents(
    documents: Iterable[tuple[str, str]], number: int, count: int, seed: int
) -> Drawn:
    """Draw `number` of the documents that can be cut in `count` segments, all if there are less.

    documents: pairs of doc_id and text, which may stream past; the sample depends on the seed and
    the ids alone. Raises ConfigError for a number or count below 1, DataError where all documents
    are dropped.
    """
    if number < 1 or count < 1:
        raise ConfigError(
            f"{number} documents in {count} segments cannot be measured; set both to 1 or more."
        )
    dropped = dict.fromkeys(REASONS, 0)
    usable = 0

    def candidates() -> Iterator[tuple[bytes, str, str]]:
        nonlocal usable
        for doc_id, text in documents:
            reason = why_dropped(text, count)
            if reason:
                dropped[reason] += 1
            else:
                usable += 1
                yield keyed_digest(seed, doc_id), doc_id, text

    drawn = heapq.nsmallest(number, candidates())
    if not drawn:
        raise DataError(
            f"none of {sum(dropped.values())} documents can be cut into {count} segments with "
            "text; lower the count or take longer documents."
        )
    dropped["not_drawn"] = usable - len(drawn)
    return Drawn([text for _, _, text in drawn], dropped)


def segment_cosines(
    encode: Callable[[list[str]], np.ndarray], texts: Sequence[str], count: int, name: str
) -> np.ndarray:
    """Return the cosine of each text's vector with those of its segments: (texts, count).

    encode: texts to vectors, (n, width); name: heads the lines of progress. Raises DataError for
    a text or segment whose vector has no direction.
    """
    heartbeat = Heartbeat(name, len(texts))
    cosines = np.empty((len(texts), count))
    for at in range(0, len(texts), DOCUMENTS_AT_A_TIME):
        some = list(texts[at : at + DOCUMENTS_AT_A_TIME])
        parts = [segment for text in some for segment in segments_of_text(text, count)]
        whole = normalise(encode(some), f"{name}: document", at)
        pieces = normalise(encode(parts), f"{name}: segment", at * count)
        pieces = pieces.reshape(len(some), count, -1)
        cosines[at : at + len(some)] = np.einsum("dw,dsw->ds", whole, pieces, dtype=np.float64)
        heartbeat.beat(at + len(some))
    return cosines


def count_cut(tokenizer: "PreTrainedTokenizerBase", texts: Sequence[str], max_tokens: int) -> int:
    """Count the texts that a model does not read whole, but for blanks, at `max_tokens` tokens."""
    ranges = readable_range(tokenizer, texts, max_tokens)
    return sum(
        bool((text[:start] + text[end:]).strip())
        for text, (start, end) in zip(texts, ranges, strict=True)
    )


def segment_records(
    cosines: Mapping[str, np.ndarray], resamples: int, level: float, rng: np.random.Generator
) -> dict[str, list[dict[str, Any]]]:
    """Return mean, low and high per setting and segment (from 1): percentiles over documents.

    cosines: (documents, count) by setting, the same documents in each; a resample draws the same
    ones for all settings and segments.
    """
    drawn = resampled_column_means(np.hstack(list(cosines.values())), resamples, rng)
    columns = iter(drawn.T)
    records: dict[str, list[dict[str, Any]]] = {}
    for setting, values in cosines.items():
        records[setting] = []
        for segment, mean in enumerate(values.mean(axis=0), start=1):
            low, high = percentile_interval(next(columns), level)
            record = {"segment": segment, "mean": float(mean), "low": low, "high": high}
            records[setting].append(record)
    return records
