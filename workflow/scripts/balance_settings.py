"""Draw the balanced training sets of the four settings from the verified pool."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.errors import ConfigError
from posbias.files import read_jsonl, write_json, write_jsonl
from posbias.queries.balance import cells_of, position_counts, sample_setting, smallest_cell

log = logging.getLogger("balance")


def main(
    pool: Path,
    pairs: list[Path],
    budget: Path,
    settings: dict[str, dict[str, float]],
    bins: list[str],
    least: int,
    seed: int,
    max_budget: int | None = None,
) -> None:
    """Draw MB, MM, ME and MU with equal cells (sections 3.1.4 and 3.2.2, Tables 1 and 8).

    Args:
        pool: verified queries, JSON lines
        pairs: JSON lines to write, one file per setting in the order of `settings`
        budget: the budget and the counts per setting, JSON
        settings: share of each position per setting
        bins: names of the length bins
        least: smallest budget that is accepted, queries per bin
        seed: seed of the keyed hashes
        max_budget: at most so many queries per bin, null for the smallest cell
    """
    cells = cells_of(read_jsonl(pool, ("query_id", "doc_id", "bin", "position")), bins)
    smallest = smallest_cell(cells, least)
    size = min(smallest, max_budget or smallest)
    counts: dict[str, Any] = {}
    for (name, shares), path in zip(settings.items(), pairs, strict=True):
        chosen = sample_setting(cells, bins, shares, size, seed)
        if not chosen:
            raise ConfigError(
                f"setting {name}: {size} queries per bin give none for the shares {shares}; raise "
                "balance.least and balance.max_budget to 3 or more."
            )
        write_jsonl(path, chosen)
        counts[name] = {"per_bin": position_counts(shares, size), "total": len(chosen)}
        log.info("setting %s: %d queries", name, len(chosen))
    write_json(
        budget,
        {
            "budget_per_bin": size,
            "smallest_cell": smallest,
            "pool_per_cell": {f"{b} {p}": len(queries) for (b, p), queries in cells.items()},
            "settings": counts,
        },
    )


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
