"""Measures records as the report reads them: one per retriever and setting, or per reference."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from posbias.errors import DataError
from posbias.report.objects import INTERVAL, MAYBE, TEXT_OR_NULL, Each, read_object

SETTING_LABELS = {"begin": "MB", "middle": "MM", "end": "ME", "uniform": "MU"}
SKEWS = ("begin", "middle", "end")
DIRECTION_GROUPING = "thirds"
GROUPING = {
    "groups": [{"name": str, "mean": MAYBE, "low": MAYBE, "high": MAYBE, "n": int}],
    **dict.fromkeys(("macro_mean", "macro_low", "macro_high", "psi", "psi_low", "psi_high"), MAYBE),
    "favoured": TEXT_OR_NULL,
}
REQUIRED = {
    "retriever": str,
    "label": str,
    "setting": TEXT_OR_NULL,  # null for a reference
    "groupings": Each(GROUPING),  # none on a standard benchmark
    "micro_mean": MAYBE,
    "counts": {"judged": int},
    "interval": INTERVAL,
}
REMEDY = "delete the file and run the evaluation again"


def read_measures(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Read measures files in the given order; raises DataError naming the file at fault."""
    records = []
    for path in paths:
        record = read_object(path, REQUIRED, REMEDY)
        if record["setting"] is not None and record["setting"] not in SETTING_LABELS:
            raise DataError(
                f"{path}: unknown setting {record['setting']!r}; "
                f"expected one of {', '.join(SETTING_LABELS)}, or null for a reference."
            )
        records.append(record)
    return records


def grouping_of(record: dict[str, Any], name: str) -> dict[str, Any]:
    """Return one grouping of a record; raises DataError naming retriever, setting, grouping."""
    if name not in record["groupings"]:
        raise DataError(
            f"{record['retriever']}, setting {record['setting']}: no grouping {name!r} "
            f"(found {', '.join(record['groupings']) or 'none'}); "
            "evaluate again with this grouping in the benchmark's settings."
        )
    return record["groupings"][name]


def lies_above(high: Sequence[float | None] | None, low: Sequence[float | None] | None) -> bool:
    """Say whether the first interval (low end, high end) lies wholly above the second."""
    return None not in (high[0], low[1]) and high[0] > low[1]


def favours_clearly(grouping: dict[str, Any]) -> bool:
    """Say whether the favoured group's interval lies above those of all others."""
    bounds = {group["name"]: (group["low"], group["high"]) for group in grouping["groups"]}
    favoured = bounds.pop(grouping["favoured"], None)
    return favoured is not None and all(lies_above(favoured, other) for other in bounds.values())


def identity(record: dict[str, Any]) -> dict[str, Any]:
    """Return the columns that say whose numbers a row of a table holds."""
    return {
        "retriever": record["retriever"],
        "label": record["label"],
        "setting": record["setting"],
        "setting_label": SETTING_LABELS.get(record["setting"]),
        "benchmark": record.get("benchmark"),
        "seed": record.get("seed"),
    }


def reference_records(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of untrained systems (setting null), in the given order."""
    return [record for record in records if record["setting"] is None]


def by_retriever(
    records: Iterable[dict[str, Any]], order: Sequence[str] | None = None
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return {retriever: {setting: record}} in `order`, or in order of first appearance.

    Raises DataError for a pair that occurs twice, a retriever that `order` does not name, and a
    retriever of `order` without any record.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for record in records:
        key, setting = record["retriever"], record["setting"]
        if setting is None:
            continue
        settings = found.setdefault(key, {})
        if setting in settings:
            raise DataError(
                f"{key}, setting {setting}: measured twice among the inputs; pass each file once."
            )
        settings[setting] = record
    if order is None:
        return found
    unknown = [key for key in found if key not in order]
    if unknown:
        raise DataError(
            f"measures of {', '.join(unknown)}, which the configured retrievers do not name; "
            "remove the files or add the retriever to the config."
        )
    return {key: found.get(key, {}) for key in order}


def require_all_settings(retrievers: dict[str, dict[str, Any]]) -> None:
    """Raise DataError naming each retriever and setting without measures."""
    missing = [
        f"{key}: {setting}"
        for key, settings in retrievers.items()
        for setting in SETTING_LABELS
        if setting not in settings
    ]
    if missing:
        raise DataError(
            f"no measures for {'; '.join(missing)}; "
            "train and evaluate these settings, or remove the retriever from the config."
        )


def common_interval(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the one kind of interval that all records share; raises DataError if they differ."""
    if not records:
        raise DataError("no measures given; the report needs at least one file.")
    first = records[0]["interval"]
    for record in records[1:]:
        if record["interval"] != first:
            raise DataError(
                f"{record['retriever']}, setting {record['setting']}: its interval "
                f"{record['interval']} is not {first} as for {records[0]['retriever']}; "
                "evaluate all with the same bootstrap settings."
            )
    return first
