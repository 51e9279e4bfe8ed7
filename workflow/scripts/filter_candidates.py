"""Keep the candidates whose consensus margin reaches delta; count them as the paper does."""

import logging
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from adapter import start
from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError
from posbias.files import stream_jsonl, whole_file, write_json, write_jsonl
from posbias.keyed import keyed_digest
from posbias.queries.filter_statistics import filter_statistics, pool_table
from posbias.queries.panel_counts import PanelCounts

log = logging.getLogger("filter")


def read_scores(
    scores: list[Path], delta: float, counts: PanelCounts
) -> tuple[np.ndarray, list[str], set[str]]:
    """Return consensus margins and positions of all candidates, and the ids that reach delta.

    Millions of candidates are never in memory as records. Raises DataError if there is none, or
    if one stands twice.
    """
    consensus, digests, positions, kept = array("d"), array("Q"), [], set()
    for path in scores:
        for record in stream_jsonl(path, ("query_id", "position", "consensus", "raw", "cut")):
            consensus.append(record["consensus"])
            digests.append(int.from_bytes(keyed_digest(0, record["query_id"])[:8], "big"))
            positions.append(sys.intern(record["position"]))
            counts.add(record)
            if record["consensus"] >= delta:
                kept.add(record["query_id"])
    if not consensus:
        raise DataError(f"{scores[0]}: no scored candidate; run the scoring again.")
    # 64 bits of a hash: among three million ids, two meet by chance once in four million runs.
    twice = len(digests) - len(np.unique(np.frombuffer(digests, dtype=np.uint64)))
    if twice:
        raise DataError(
            f"{scores[0].parent}: {twice} of {len(digests)} scored queries stand twice; "
            "delete the scores and run the scoring again."
        )
    return np.frombuffer(consensus), positions, kept


def verified(
    candidates: Path, kept: set[str], bins: list[str], positions: list[str]
) -> Iterator[dict]:
    """Yield the kept candidates in their order, and note bin and position of each.

    Raises DataError at the end if one was not there.
    """
    for candidate in stream_jsonl(candidates, ("query_id", "bin", "position")):
        if candidate["query_id"] in kept:
            bins.append(sys.intern(candidate["bin"]))
            positions.append(sys.intern(candidate["position"]))
            yield candidate
    if len(bins) != len(kept):
        raise DataError(
            f"{candidates}: holds {len(bins)} of the {len(kept)} verified queries; "
            "delete the scores and run the scoring again."
        )


def main(
    candidates: Path,
    scores: list[Path],
    pool: Path,
    statistics: Path,
    cells: Path,
    summary: Path,
    delta: float,
    thresholds: list[float],
    panel: list[dict[str, Any]],
    bins: list[str],
) -> None:
    """Apply the verification rule (section 3.1.3; Tables 1, 6 and 8).

    Args:
        candidates: query candidates, JSON lines
        scores: margins of all shards, JSON lines
        pool: verified queries, JSON lines to write
        statistics: Table 6 as CSV
        cells: Tables 1 and 8 as CSV, verified queries per bin and position
        summary: delta, panel, pair scores spent and spared, tokens that members did not read
        delta: least consensus margin, on the activated scale
        thresholds: strata of Table 6
        panel: the members, from the verification block of the config
        bins: names of the length bins in order
    """
    counts = PanelCounts([member["name"] for member in panel])
    consensus, positions, kept = read_scores(scores, delta, counts)
    pool_bins: list[str] = []
    pool_positions: list[str] = []
    write_jsonl(pool, verified(candidates, kept, pool_bins, pool_positions))
    with whole_file(statistics) as part:
        table = filter_statistics(consensus, positions, thresholds)
        table.round(2).to_csv(part, index=False)
    with whole_file(cells) as part:
        pool_table(pool_bins, pool_positions, bins).to_csv(part, index=False)
    spent, full = counts.pairs_scored, len(POSITIONS) * len(consensus) * len(panel)
    write_json(
        summary,
        {
            "delta": delta,
            "panel": [{k: m[k] for k in ("name", "kind", "activation")} for m in panel],
            "candidates": len(consensus),
            "kept": len(kept),
            "kept_percent": round(100 * len(kept) / len(consensus), 2),
            "pairs_scored": spent,
            "pairs_without_cascade": full,
            "pairs_spared_percent": round(100 * (full - spent) / full, 2),
            "cut": counts.cut(),
        },
    )
    log.info(
        "kept %d of %d candidates (%.1f %%); the cascade spared %d of %d pair scores",
        len(kept), len(consensus), 100 * len(kept) / len(consensus), full - spent, full,
    )  # fmt: skip


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
