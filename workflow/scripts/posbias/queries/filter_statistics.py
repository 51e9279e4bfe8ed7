"""Counts of the filter per margin stratum and of the pool per cell (Tables 1, 6 and 8)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from posbias.corpus.segments import POSITIONS


def filter_statistics(
    consensus: np.ndarray, positions: Sequence[str], thresholds: Sequence[float]
) -> pd.DataFrame:
    """Return the paper's Table 6: how many candidates reach each margin, by position.

    One row each for all candidates, those that failed (margin < 0) and each threshold; columns
    are counts and percentages: `share` of all candidates, `<position>_share` of the row.
    """
    positions = np.asarray(positions)
    rows = [("generated", np.ones(len(consensus), bool)), ("failed (margin < 0)", consensus < 0)]
    rows += [(f"margin >= {threshold:g}", consensus >= threshold) for threshold in thresholds]
    table = []
    for name, chosen in rows:
        kept = int(chosen.sum())
        row = {"filter": name, "kept": kept, "share": 100 * kept / max(1, len(consensus))}
        for position in POSITIONS:
            count = int((chosen & (positions == position)).sum())
            row[position] = count
            row[f"{position}_share"] = 100 * count / max(1, kept)
        table.append(row)
    return pd.DataFrame(table)


def pool_table(
    bins: Sequence[str], positions: Sequence[str], bin_names: Sequence[str]
) -> pd.DataFrame:
    """Return the paper's Tables 1 and 8: retained queries per bin and position, with totals."""
    counts = pd.crosstab(pd.Series(bins, dtype=str), pd.Series(positions, dtype=str))
    counts = counts.reindex(index=list(bin_names), columns=list(POSITIONS), fill_value=0)
    counts.loc["total"] = counts.sum()
    counts["total"] = counts.sum(axis=1)
    return counts.rename_axis(index="bin", columns=None).reset_index()
