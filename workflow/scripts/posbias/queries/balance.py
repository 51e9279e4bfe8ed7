"""Balanced training sets: equal cells, four settings (retriever study, sections 3.1.4, 3.2.2)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from posbias.corpus.segments import POSITIONS
from posbias.errors import ConfigError, DataError
from posbias.keyed import keyed_order

Cell = tuple[str, str]


def cells_of(pool: Iterable[dict], bins: Sequence[str]) -> dict[Cell, list[dict]]:
    """Group verified queries by (bin, position); raises DataError on an unknown bin or position."""
    cells: dict[Cell, list[dict]] = {(b, p): [] for b in bins for p in POSITIONS}
    for query in pool:
        cell = (query["bin"], query["position"])
        if cell not in cells:
            raise DataError(
                f"query {query['query_id']}: bin {cell[0]!r} or position {cell[1]!r} is not "
                f"configured; known bins: {', '.join(bins)}. Run the corpus step again."
            )
        cells[cell].append(query)
    return cells


def smallest_cell(cells: Mapping[Cell, Sequence[dict]], least: int) -> int:
    """Return the budget, the size of the smallest cell (section 3.1.4).

    Raises DataError naming bin and position of the smallest cell if it holds fewer than `least`.
    """
    (bin_name, position), queries = min(cells.items(), key=lambda item: (len(item[1]), item[0]))
    if len(queries) < least:
        raise DataError(
            f"bin {bin_name}, position {position}: {len(queries)} verified queries, at least "
            f"{least} are needed. Lower verification.delta, raise queries.per_segment or "
            "documents.max_per_bin, or widen documents.bin_edges."
        )
    return len(queries)


def position_counts(shares: Mapping[str, float], budget: int) -> dict[str, int]:
    """Return how many queries of each position a bin gives, floor(share × budget).

    Raises ConfigError unless the shares are known positions and sum to 1.
    """
    known = set(shares) <= set(POSITIONS) and all(0 <= share <= 1 for share in shares.values())
    if not known or abs(sum(shares.values()) - 1) > 1e-9:
        raise ConfigError(
            f"balance.settings: shares must be of {', '.join(POSITIONS)} and sum to 1, "
            f"found {dict(shares)}."
        )
    return {p: int(shares.get(p, 0.0) * budget + 1e-9) for p in POSITIONS}


def sample_setting(
    cells: Mapping[Cell, Sequence[dict]],
    bins: Sequence[str],
    shares: Mapping[str, float],
    budget: int,
    seed: int,
) -> list[dict]:
    """Draw one setting's training set: in every bin the same number of queries per position.

    Each cell is put in keyed order first, spreading over documents: a document gives its second
    query only after every document of the cell has given one. So a setting that needs fewer
    queries of a cell uses the first of those that one with more uses, and rows that are added
    elsewhere move nothing.
    """
    counts = position_counts(shares, budget)
    chosen = []
    for bin_name in bins:
        for position in POSITIONS:
            ordered = spread_over_documents(cells[(bin_name, position)], seed)
            chosen += ordered[: counts[position]]
    return chosen


def spread_over_documents(queries: Sequence[dict], seed: int) -> list[dict]:
    """Order queries by keyed hash, the first of each document before any second one."""
    seen: dict[str, int] = defaultdict(int)
    ranked = []
    for query in keyed_order(queries, seed, key=lambda q: q["query_id"]):
        ranked.append((seen[query["doc_id"]], len(ranked), query))
        seen[query["doc_id"]] += 1
    return [query for _, _, query in sorted(ranked, key=lambda item: item[:2])]
