"""Measures of several benchmarks, which come in one list, apart by benchmark."""

from collections.abc import Iterable, Sequence
from typing import Any

from posbias.errors import DataError
from posbias.report.records import by_retriever, reference_records, require_all_settings

Record = dict[str, Any]
Trained = dict[str, dict[str, Record]]  # retriever, setting


def by_benchmark(records: Iterable[Record], names: Iterable[str]) -> dict[str, list[Record]]:
    """Return the records of each benchmark, in the order of the names.

    Raises DataError for a record of another benchmark, and for a benchmark without any record.
    """
    found: dict[str, list[Record]] = {name: [] for name in names}
    for record in records:
        name = record.get("benchmark")
        if name not in found:
            raise DataError(
                f"{record['retriever']}, setting {record['setting']}: measured on {name!r}, not on "
                f"{', '.join(found)}; pass only the measures of these benchmarks."
            )
        found[name].append(record)
    empty = [name for name, rows in found.items() if not rows]
    if empty:
        raise DataError(
            f"no measures on {', '.join(empty)}; evaluate there, or leave the benchmark out of the "
            "figure in the config."
        )
    return found


def check_retrievers(records: Iterable[Record], order: Sequence[str] | None) -> None:
    """Raise DataError for a retriever of `order` that no record is of."""
    found = {record["retriever"] for record in records if record["setting"] is not None}
    missing = [name for name in order or [] if name not in found]
    if missing:
        raise DataError(
            f"no measures of {', '.join(missing)} on any of the benchmarks; train and evaluate, or "
            "remove the retriever from the config."
        )


def trained_on(records: Sequence[Record], order: Sequence[str] | None) -> Trained:
    """Return one benchmark's {retriever: {setting: record}} in `order`, all settings there.

    Retrievers of `order` that the benchmark does not have are left out. Raises DataError for a
    missing setting, a repeated pair, or a retriever that `order` does not name.
    """
    here = {record["retriever"] for record in records if record["setting"] is not None}
    retrievers = by_retriever(records, order and [name for name in order if name in here])
    require_all_settings(retrievers)
    return retrievers


def references_on(records: Iterable[Record]) -> dict[str, Record]:
    """Return one benchmark's reference systems; raises DataError for one measured twice."""
    found: dict[str, Record] = {}
    for record in reference_records(records):
        if record["retriever"] in found:
            raise DataError(
                f"{record['retriever']}: measured twice on {record.get('benchmark')!r} among the "
                "inputs; pass each file once."
            )
        found[record["retriever"]] = record
    return found
