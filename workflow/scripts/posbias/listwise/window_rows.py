"""The rows and orders that a scorer is asked for, checked before it goes to work."""

import numpy as np

from posbias.errors import DataError
from posbias.listwise.collection import Collection
from posbias.listwise.losses import check_lists


def checked_windows(
    collection: Collection, queries: np.ndarray, passages: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return queries (B,) and passages (B, k) as arrays of rows that the collection has.

    Raises DataError for other shapes or rows: a negative one would quietly count from the end.
    """
    queries, passages = np.asarray(queries), np.asarray(passages)
    if passages.ndim != 2 or queries.shape != passages.shape[:1]:
        raise DataError(
            f"queries {queries.shape} and passages {passages.shape}: expected (B,) and (B, k)."
        )
    for name, rows, texts in (
        ("query", queries, collection.queries),
        ("passage", passages, collection.passages),
    ):
        if rows.size and not 0 <= rows.min() <= rows.max() < len(texts):
            raise DataError(
                f"{name} rows {rows.min()} to {rows.max()}, but the collection has {len(texts)}; "
                "count them from 0."
            )
    return queries, passages


def checked_orders(orders: np.ndarray, passages: np.ndarray) -> np.ndarray:
    """Return orders (B, k) of windows (B, k) as an array.

    Raises DataError unless each names every slot once, counted from 0.
    """
    import torch

    orders = np.asarray(orders)
    if orders.shape != passages.shape:
        raise DataError(f"orders {orders.shape} of windows {passages.shape}: one slot a passage.")
    check_lists(torch.as_tensor(orders), first=0, name="order")
    return orders
