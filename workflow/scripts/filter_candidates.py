"""Keep the candidates whose consensus margin reaches delta; count them as the paper does."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from adapter import start
from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError
from posbias.files import read_jsonl, whole_file, write_json, write_jsonl
from posbias.queries.filter_statistics import filter_statistics, pool_table

log = logging.getLogger("filter")


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
        summary: delta, panel, pair scores spent and spared
        delta: least consensus margin, on the activated scale
        thresholds: strata of Table 6
        panel: the members, from the verification block of the config
        bins: names of the length bins in order
    """
    scored = [
        record
        for path in scores
        for record in read_jsonl(path, ("query_id", "bin", "position", "consensus", "raw"))
    ]
    if not scored:
        raise DataError(f"{scores[0]}: no scored candidate; run the scoring again.")
    consensus = np.array([record["consensus"] for record in scored])
    positions = [record["position"] for record in scored]
    kept = {record["query_id"] for record in scored if record["consensus"] >= delta}
    verified = [c for c in read_jsonl(candidates, ("query_id",)) if c["query_id"] in kept]
    if len(verified) != len(kept):
        raise DataError(
            f"{candidates}: lacks {len(kept) - len(verified)} of the scored queries; "
            "delete the scores and run the scoring again."
        )
    write_jsonl(pool, verified)
    with whole_file(statistics) as part:
        table = filter_statistics(consensus, positions, thresholds)
        table.round(2).to_csv(part, index=False)
    with whole_file(cells) as part:
        table = pool_table([q["bin"] for q in verified], [q["position"] for q in verified], bins)
        table.to_csv(part, index=False)
    spent = sum(len(raw) for record in scored for raw in record["raw"].values() if raw is not None)
    full = len(POSITIONS) * len(scored) * len(panel)
    write_json(
        summary,
        {
            "delta": delta,
            "panel": [{k: m[k] for k in ("name", "kind", "activation")} for m in panel],
            "candidates": len(scored),
            "kept": len(verified),
            "kept_percent": round(100 * len(verified) / len(scored), 2),
            "pairs_scored": spent,
            "pairs_without_cascade": full,
            "pairs_spared_percent": round(100 * (full - spent) / full, 2),
        },
    )
    log.info(
        "kept %d of %d candidates (%.1f %%); the cascade spared %d of %d pair scores",
        len(verified), len(scored), 100 * len(verified) / len(scored), full - spent, full,
    )  # fmt: skip


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
