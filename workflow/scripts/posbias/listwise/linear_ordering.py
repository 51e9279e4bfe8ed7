"""The linear ordering problem as an integer program: from the cost of each pair to an order."""

from itertools import combinations

import numpy as np


def least_cost_order(cost: np.ndarray, seconds: float) -> np.ndarray:
    """Return the order of 0 to n - 1 that costs least: cost[i, j] is paid where i precedes j.

    cost: (n, n) whole numbers. Exact; of several cheapest orders it is one with the fewest pairs
    whose larger number comes first, and the same one at every call. Raises TimeoutError where
    the solver does not prove an optimum within `seconds`.
    """
    n = len(cost)
    if n < 3:
        # No triangle, so no solver: a pair stands as it is cheaper, the lower one first if equal.
        return np.array([1, 0]) if n == 2 and cost[0, 1] > cost[1, 0] else np.arange(n)
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    lower, upper = np.triu_indices(n, 1)
    # One variable a pair i < j: 1 where i precedes j. Each pair against the numbers adds 1 to
    # costs that are multiples of more than all pairs together: it decides among equals only.
    gain = (cost[upper, lower] - cost[lower, upper]).astype(np.int64) * (len(lower) + 1) + 1
    column = np.zeros((n, n), dtype=np.int64)
    column[lower, upper] = np.arange(len(lower))
    i, j, k = np.array(list(combinations(range(n), 3))).T
    columns = np.stack([column[i, j], column[j, k], column[i, k]], axis=1)
    triangles = csr_array(
        (np.tile([1.0, 1.0, -1.0], len(i)), columns.ravel(), np.arange(0, columns.size + 1, 3)),
        shape=(len(i), len(lower)),
    )
    # i before j before k makes i before k (1 + 1 - 0 = 2 is out), and so for the reverse (-1).
    solved = milp(
        -gain,
        integrality=np.ones(len(lower)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(triangles, 0, 1),
        options={"time_limit": seconds, "mip_rel_gap": 0},
    )
    if solved.status != 0:
        raise TimeoutError(f"no proven optimum for {n} items after {seconds:g} s")
    precedes = np.zeros((n, n), dtype=bool)
    precedes[lower, upper] = np.rint(solved.x) == 1
    precedes[upper, lower] = np.rint(solved.x) == 0
    return np.argsort(-precedes.sum(axis=1), kind="stable")
