"""The position sensitivity index (retriever study, equation 3)."""

import math
from collections.abc import Sequence

from posbias.errors import DataError


def psi(means: Sequence[float]) -> float:
    """Return 1 - min/max over the means of the position groups; 0 says that position is no matter.

    Raises DataError for fewer than two groups, a mean that is negative or not a number, and
    where all means are 0.
    """
    if len(means) < 2:
        raise DataError(f"PSI compares at least two position groups, found {len(means)}.")
    if not all(math.isfinite(mean) and mean >= 0 for mean in means):
        raise DataError(f"PSI needs means that are numbers of at least 0, found {list(means)}.")
    if max(means) == 0:
        raise DataError("PSI is not defined where every group's mean is 0.")
    return 1 - min(means) / max(means)
