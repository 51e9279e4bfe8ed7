"""Queries of a collection: paraphrased cloze queries, or titles that ask for their lead section."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from posbias.benchmarks.records import BenchmarkQuery
from posbias.corpus.leads import Passage
from posbias.errors import ConfigError, DataError
from posbias.keyed import keyed_order
from posbias.options import check_options
from posbias.queries.cloze import ClozeGenerator
from posbias.queries.paraphrase import paraphrase, word_neighbours

PLACE = "listwise.queries"
Encode = Callable[[list[str]], np.ndarray]


def cloze_queries(
    passages: Sequence[Passage],
    encode: Encode,
    options: dict[str, Any],
    swap_share: float,
    least_texts: int,
    seed: int,
    dropped: Counter,
) -> list[BenchmarkQuery]:
    """Return paraphrased cloze queries, the passage each was made from as its relevant one.

    options: those of ClozeGenerator; least_texts: passages that a word must stand in to be a
    neighbour; `dropped` counts segments without a query.
    """
    from bm25s.stopwords import STOPWORDS_EN

    stopwords = frozenset(STOPWORDS_EN)
    own = {"seed": seed, "stopwords": stopwords}
    check_options(f"{PLACE}.options", ClozeGenerator, options, own=own)
    generator = ClozeGenerator(**own, **options)
    neighbours = word_neighbours(
        (passage.text for passage in passages),
        encode,
        stopwords,
        options["min_word_chars"],
        least_texts,
    )
    documents = [{"doc_id": p.doc_id, "text": p.text, "bin": ""} for p in passages]
    rewritten = (
        paraphrase(candidate, neighbours, swap_share, seed)
        for candidate in generator.generate(documents, dropped)
    )
    return [
        BenchmarkQuery(c.query_id, c.query, c.doc_id, (c.position,), c.answer_start, c.answer_end)
        for c in rewritten
    ]


def title_queries(passages: Sequence[Passage]) -> list[BenchmarkQuery]:
    """Return each passage's title as the query for it; its evidence is the passage's beginning."""
    return [
        BenchmarkQuery(f"{p.doc_id}-title", p.title, p.doc_id, ("begin",), None, None)
        for p in passages
    ]


def make_queries(
    kind: str,
    passages: Sequence[Passage],
    encode: Encode,
    cloze: dict[str, Any],
    limit: int,
    seed: int,
    dropped: Counter,
) -> list[BenchmarkQuery]:
    """Return up to `limit` queries of a kind ("cloze" or "titles"), chosen by keyed hash.

    cloze: options, swap_share and least_texts of `cloze_queries`. Raises ConfigError for another
    kind, DataError where the passages yield no query.
    """
    if kind == "cloze":
        queries = cloze_queries(passages, encode, **cloze, seed=seed, dropped=dropped)
    elif kind == "titles":
        queries = title_queries(passages)
    else:
        raise ConfigError(f"listwise.collections: queries {kind!r} are neither cloze nor titles.")
    if not queries:
        raise DataError(f"no query could be made from {len(passages)} passages; see {PLACE}.")
    chosen = keyed_order(queries, seed, key=lambda query: query.query_id)[:limit]
    dropped["above the limit"] += len(queries) - len(chosen)
    return chosen
