"""The kinds of sources of evidence pairs, the options of each, and a sample of its pairs."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from posbias.benchmarks.inputs import named
from posbias.benchmarks.option_checks import Check, check_values
from posbias.errors import ConfigError, DataError
from posbias.files import stream_jsonl
from posbias.keyed import keyed_digest
from posbias.options import check_options
from posbias.representation.benchmark_evidence import OPTIONS as BENCHMARK_OPTIONS
from posbias.representation.benchmark_evidence import benchmark_pairs
from posbias.representation.evidence_cut import FIELDS, EvidencePair, checked
from posbias.representation.msmarco_evidence import OPTIONS as MSMARCO_OPTIONS
from posbias.representation.msmarco_evidence import msmarco_pairs
from posbias.representation.table_evidence import OPTIONS as TABLE_OPTIONS
from posbias.representation.table_evidence import table_pairs


class Kind(NamedTuple):
    """A function of files, counts and options that yields pairs, and the check of each option."""

    pairs: Callable[..., Iterator[EvidencePair]]
    options: Mapping[str, Check]


KINDS: dict[str, Kind] = {
    "benchmark": Kind(benchmark_pairs, BENCHMARK_OPTIONS),
    "msmarco": Kind(msmarco_pairs, MSMARCO_OPTIONS),
    "table": Kind(table_pairs, TABLE_OPTIONS),
}


class Sample(NamedTuple):
    """The pairs kept, how many there were, how many records were read, and why some dropped."""

    pairs: list[EvidencePair]
    found: int
    read: int
    dropped: dict[str, int]


def check_kind(place: str, kind: str, options: Mapping[str, Any]) -> None:
    """Check a source of evidence pairs in the config, without a look at its data.

    place: in the config, such as analyses.evidence_moving.known.msmarco. Raises ConfigError for a
    kind that KINDS lacks, an option that the kind does not take, and a value it cannot have.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(f"{place}: kind {kind!r} is not one of {', '.join(KINDS)}.")
    check_options(f"{place}.options", KINDS[kind].pairs, options, given=2)
    check_values(f"{place}.options", KINDS[kind].options, options)


def sample_pairs(
    kind: str, files: Sequence[Path], options: Mapping[str, Any], limit: int | None, seed: int
) -> Sample:
    """Read the pairs of a source and keep `limit` of them by keyed hash of their ids, None: all.

    At most `limit` pairs are in memory. Raises ConfigError as `check_kind`, and for a limit below
    1; DataError naming the file for data that does not hold what its format promises, or for a
    source without any pair.
    """
    check_kind("evidence_moving", kind, options)
    if limit is not None and (type(limit) is not int or limit < 1):
        raise ConfigError(f"evidence_moving: limit must be null or at least 1, is {limit!r}.")
    counts: Counter = Counter()
    found = 0

    def all_pairs() -> Iterator[EvidencePair]:
        nonlocal found
        for pair in KINDS[kind].pairs(files, counts, **options):
            found += 1
            yield pair

    def key(pair: EvidencePair) -> tuple[bytes, str, str]:
        return keyed_digest(seed, pair.query_id, pair.doc_id), pair.query_id, pair.doc_id

    pairs = all_pairs()
    chosen = sorted(pairs, key=key) if limit is None else heapq.nsmallest(limit, pairs, key=key)
    read = counts.pop("read")
    if not chosen:
        raise DataError(
            f"{named(files)}: no pair of a query and a document that holds its evidence; of {read} "
            f"read, {', '.join(f'{count} {reason}' for reason, count in counts.items())}."
        )
    return Sample([checked(pair, named(files)) for pair in chosen], found, read, dict(counts))


def read_pairs(path: Path) -> list[EvidencePair]:
    """Read pairs from JSON lines; raises DataError naming file and line, or the query."""
    pairs = []
    for record in stream_jsonl(path, (*FIELDS, "home")):
        home, rest = record["home"], record["rest"]
        if type(home) is not int or not 0 <= home <= len(rest):
            raise DataError(
                f"{path}: query {record['query_id']!r}: home {home!r} is no place of its rest of "
                f"{len(rest)} code points; run the step that makes the pairs again."
            )
        pairs.append(EvidencePair(**{name: record[name] for name in FIELDS}, home=home))
    return pairs
