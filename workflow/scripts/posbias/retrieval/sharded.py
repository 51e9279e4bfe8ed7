"""A search whose corpus is cut into shards: which lines a shard has, its hits, and their merger."""

import contextlib
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from posbias.errors import ConfigError, DataError
from posbias.files import whole_file
from posbias.retrieval.running_top_k import NO_DOCUMENT, best_first

MERGE_BLOCK = 4096  # queries
AGAIN = "delete the file and search again"


def shard_lines(n_documents: int, shard: int, shards: int, block: int) -> range:
    """Return the lines of a corpus, from 0, that a shard has: whole blocks, so that the number of
    shards changes no block. The last block may be short, and a shard may have no block at all.

    Raises ConfigError for a shard (from 0) that is none of `shards`, or a block below 1 document.
    """
    if not 0 <= shard < shards:
        raise ConfigError(f"shard {shard} (from 0) is none of {shards}.")
    if block < 1:
        raise ConfigError(f"evaluation: block_documents must be at least 1, is {block}.")
    blocks = -(-n_documents // block)
    first, last = (blocks * number // shards * block for number in (shard, shard + 1))
    return range(min(first, n_documents), min(last, n_documents))


@dataclass(frozen=True)
class HitsOrigin:
    """Whose hits a file holds. shard: from 0; lines: of the corpus that was searched."""

    retriever: str
    setting: str
    shard: int
    shards: int
    lines: int


@dataclass(frozen=True)
class Hits:
    """Document indices (int64) and scores (float32), both (queries, k), as RunningTopK has them."""

    indices: np.ndarray
    scores: np.ndarray


def write_hits(path: Path, origin: HitsOrigin, hits: Mapping[str, Hits]) -> None:
    """Write the hits of one shard under one setting, by benchmark, as npz.

    Arrays: <benchmark>.indices, <benchmark>.scores, and `origin` as JSON.
    """
    arrays = {"origin": np.array(json.dumps(asdict(origin)))}
    for benchmark, of_benchmark in hits.items():
        arrays[f"{benchmark}.indices"] = of_benchmark.indices
        arrays[f"{benchmark}.scores"] = of_benchmark.scores
    # An open file, since numpy would put its own ending behind a name.
    with whole_file(path) as part, part.open("wb") as file:
        np.savez(file, **arrays)


@contextlib.contextmanager
def _arrays(path: Path, what: str) -> Iterator[Mapping[str, np.ndarray]]:
    if not Path(path).is_file():
        raise DataError(f"{path}: no such file; run the search that makes it.")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            yield arrays
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile, EOFError) as fault:
        raise DataError(f"{path}: no {what} ({fault}); {AGAIN}.") from fault


def read_hits(path: Path, benchmark: str, n_queries: int) -> Hits:
    """Read a benchmark's hits from one file; raises DataError naming file and fault."""
    with _arrays(path, f"hits of {benchmark!r}") as arrays:
        hits = Hits(arrays[f"{benchmark}.indices"], arrays[f"{benchmark}.scores"])
    if hits.indices.shape != hits.scores.shape or hits.indices.shape[:-1] != (n_queries,):
        raise DataError(
            f"{path}: indices {hits.indices.shape} and scores {hits.scores.shape} of "
            f"{benchmark!r}, which has {n_queries} queries; {AGAIN}."
        )
    return hits


def whole_searches(
    paths: Sequence[Path], retriever: str, settings: Sequence[str]
) -> dict[str, list[Path]]:
    """Return the files of each setting's shards, in the order of the shards.

    paths: hits of all settings and shards, in any order; each says itself what it holds. Raises
    DataError naming a file of another search, and a setting whose shards are not all there once.
    """
    origins: dict[str, list[tuple[HitsOrigin, Path]]] = {setting: [] for setting in settings}
    for path in paths:
        with _arrays(path, "origin of hits") as arrays:
            origin = HitsOrigin(**json.loads(str(arrays["origin"])))
        if origin.retriever != retriever or origin.setting not in origins:
            raise DataError(
                f"{path}: hits of {origin.retriever}, {origin.setting}; expected {retriever}, "
                f"{' or '.join(settings)}; {AGAIN}."
            )
        origins[origin.setting].append((origin, path))
    for setting, found in origins.items():
        found.sort(key=lambda one: one[0].shard)
        numbers = [origin.shard for origin, _ in found]
        same = len({(origin.shards, origin.lines) for origin, _ in found}) == 1
        if not same or numbers != list(range(found[0][0].shards)):
            told = ", ".join(f"{o.shard + 1}/{o.shards} of {o.lines} lines" for o, _ in found)
            raise DataError(
                f"hits of {retriever}, {setting}: {told or 'none'} is no whole search; "
                "search all shards again."
            )
    return {setting: [path for _, path in found] for setting, found in origins.items()}


def merge_hits(parts: Sequence[Hits], k: int) -> Hits:
    """Return the k best over all parts, equal scores by index: the hits of an uncut search.

    parts: of disjoint documents, each at least min(k, its documents) deep; at least one.
    """
    n_queries = len(parts[0].indices)
    indices = np.full((n_queries, k), NO_DOCUMENT, dtype=np.int64)
    scores = np.full((n_queries, k), -np.inf, dtype=np.float32)
    for at in range(0, n_queries, MERGE_BLOCK):
        rows = slice(at, at + MERGE_BLOCK)
        best, values = best_first(
            np.hstack([part.indices[rows] for part in parts]),
            np.hstack([part.scores[rows] for part in parts]),
            k,
        )
        indices[rows, : best.shape[1]], scores[rows, : best.shape[1]] = best, values
    return Hits(indices, scores)


def deepest_exclusion(excluded: Mapping[str, Iterable[str]]) -> int:
    """Return how many documents more than its depth a search must find to make up for them."""
    return max((len(set(doc_ids)) for doc_ids in excluded.values()), default=0)
