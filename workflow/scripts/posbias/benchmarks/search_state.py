"""What a search has found so far, kept in a file so that a killed one goes on from there."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from posbias.kept_arrays import keep_arrays, kept_arrays

if TYPE_CHECKING:
    from posbias.benchmarks.corpus_search import BenchmarkSearch

log = logging.getLogger("search")


def save_state(path: Path, key: str, done: int, searches: Sequence["BenchmarkSearch"]) -> None:
    """Write the state of searches after `done` documents, whole or not at all.

    key: says what was searched for, where, and with what.
    """
    arrays = {"key": np.array(key), "done": np.array(done)}
    for search in searches:
        of_search = {
            "indices": search.best.indices,
            "scores": search.best.scores,
            "counts": np.array(
                [
                    search.best.seen,
                    search.documents,
                    search.truncated["n"],
                    search.truncated["of"],
                ]
            ),
        }
        arrays |= {f"{search.member}.{name}": array for name, array in of_search.items()}
    keep_arrays(path, **arrays)


def load_state(path: Path, key: str, searches: Sequence["BenchmarkSearch"]) -> int:
    """Put a state into new searches and return how many documents it covers.

    0, and nothing changed, where there is no state, one of another search, or a damaged one.
    """
    if not Path(path).is_file():
        return 0
    held = kept_arrays(path, ("key",))
    if held is None:
        return 0
    if str(held["key"]) != key:
        log.info("%s: of another search; searching from the start", path)
        return 0
    of_search = [f"{s.member}.{name}" for s in searches for name in ("indices", "scores", "counts")]
    arrays = kept_arrays(path, ("done", *of_search))
    if arrays is None:
        return 0
    for search in searches:
        search.best.indices = arrays[f"{search.member}.indices"]
        search.best.scores = arrays[f"{search.member}.scores"]
        seen, documents, cut, known = arrays[f"{search.member}.counts"].tolist()
        search.best.seen, search.documents = seen, documents
        search.truncated = {"n": cut, "of": known}
    return int(arrays["done"])
