"""What a search has found so far, kept in a file so that a killed one goes on from there."""

import logging
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from posbias.files import whole_file

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
    with whole_file(path) as part, part.open("wb") as file:
        np.savez(file, **arrays)


def load_state(path: Path, key: str, searches: Sequence["BenchmarkSearch"]) -> int:
    """Put a state into new searches and return how many documents it covers.

    0, and nothing changed, where there is no state, one of another search, or a damaged one.
    """
    if not Path(path).is_file():
        return 0
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        held = str(arrays["key"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError) as fault:
        log.info("%s: cannot be read (%s); searching from the start", path, fault)
        return 0
    if held != key:
        log.info("%s: of another search; searching from the start", path)
        return 0
    for search in searches:
        search.best.indices = arrays[f"{search.member}.indices"]
        search.best.scores = arrays[f"{search.member}.scores"]
        seen, documents, cut, known = arrays[f"{search.member}.counts"].tolist()
        search.best.seen, search.documents = seen, documents
        search.truncated = {"n": cut, "of": known}
    return int(arrays["done"])
