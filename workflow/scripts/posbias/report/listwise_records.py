"""The listwise study's measures as the report reads them: one record for all models."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from posbias.errors import DataError
from posbias.files import read_json

STUDY = "listwise"
REQUIRED = ("study", "measure", "seeds", "interval", "models", "roles", "systems")
ROLES = ("baseline", "proposed")
FIRST_STAGE = "first_stage"  # stands for the list as it was before reranking
FIRST_STAGE_LABEL = "first stage alone"
REFERENCE = "reference"  # the inference of a system that sees no order
# How a difference by IPS alone is called in the measures, and the column that it belongs to.
IPS_MEASURES = {
    "original nDCG": "original",
    "shuffled nDCG": "shuffled",
    "slot mean": "slot_mean",
    "slot variance": "slot_variance",
}
AGAIN = "summarise the listwise study again."
Record = Mapping[str, Any]


def read_listwise(path: Path) -> dict[str, Any]:
    """Read the measures of the listwise study; raises DataError naming the file and the fault."""
    record = read_json(path)
    missing = [name for name in REQUIRED if not isinstance(record, dict) or name not in record]
    if missing:
        raise DataError(f"{path}: the field(s) {', '.join(missing)} are missing; {AGAIN}")
    if record["study"] != STUDY:
        raise DataError(f"{path}: measures of the study {record['study']!r}, not {STUDY!r}.")
    for role in ROLES:
        if record["roles"].get(role) not in record["models"]:
            raise DataError(
                f"{path}: the {role} is {record['roles'].get(role)!r}, which is none of the models "
                f"{', '.join(record['models'])}; {AGAIN}"
            )
    return record


def part(record: Record, name: str) -> Any:
    """Return a part that a figure cannot do without; raises DataError if there is none."""
    found = record.get(name)
    if not found:
        raise DataError(f"the measures of the listwise study hold no {name}; {AGAIN}")
    return found


def role_keys(record: Record) -> tuple[str, str]:
    """Return the keys of the baseline and of the proposed model, as models and as systems."""
    return record["roles"]["baseline"], record["roles"]["proposed"]


def label_of(record: Record, key: str) -> str:
    """Return the name to print for a system or model; its key if it has none."""
    if key == FIRST_STAGE and key not in record["systems"]:
        return FIRST_STAGE_LABEL
    return record["systems"].get(key, record["models"].get(key, {})).get("label", key)


def collection_label(record: Record, collection: str) -> str:
    """Return the name to print for a collection; its key if it has none."""
    return ((record.get("collections") or {}).get(collection) or {}).get("label", collection)


def stage_label(record: Record, stage: str | None) -> str:
    """Return the name to print for a first stage; its key if it has none."""
    return (record.get("first_stages") or {}).get(stage, stage)


def printed_systems(record: Record, found: Iterable[str]) -> list[str]:
    """Return the systems found, in print order: the first stage, then as in `systems`."""
    found = list(found)
    order = dict.fromkeys([FIRST_STAGE, *record["systems"], *found])
    return [key for key in order if key in found]


def main_systems(record: Record, found: Iterable[str]) -> list[str]:
    """Return, of the systems found, the two roles' models in every way of use, and references."""
    roles = role_keys(record)
    return [
        key
        for key in printed_systems(record, found)
        if record["systems"].get(key, {}).get("model") in roles
        or record["systems"].get(key, {}).get("inference") == REFERENCE
    ]


def is_trained(record: Record, key: str) -> bool:
    """Say whether a system is one of the models trained here, in whatever way it is used."""
    return record["systems"].get(key, {}).get("model") is not None


def estimate(values: Mapping[str, Any] | None, prefix: str, middle: str = "mean") -> dict[str, Any]:
    """Return the columns prefix, prefix_low, prefix_high of an estimate; None where unknown."""
    values = values or {}
    return {
        prefix: values.get(middle),
        f"{prefix}_low": values.get("low"),
        f"{prefix}_high": values.get("high"),
    }


def paired_difference(
    entries: Iterable[Mapping[str, Any]] | None, a: str, b: str, what: str
) -> dict[str, float | None] | None:
    """Return difference, low and high of a less b, from the entry of that pair either way round.

    None if no entry has the pair, or its difference is unknown.
    """
    for entry in entries or []:
        if entry.get("what") != what or entry.get("difference") is None:
            continue
        low, high = entry.get("low"), entry.get("high")
        if (entry["a"], entry["b"]) == (a, b):
            return {"difference": entry["difference"], "low": low, "high": high}
        if (entry["a"], entry["b"]) == (b, a):
            turned = [None if value is None else -value for value in (high, low)]
            return {"difference": -entry["difference"], "low": turned[0], "high": turned[1]}
    return None


def comparison(
    entries: Iterable[Mapping[str, Any]] | None, order: str, first: str, second: str
) -> dict[str, Any] | None:
    """Return the comparison of first less second on an order, stored either way round, or None."""
    for entry in entries or []:
        if entry.get("order") != order or entry.get("mean_difference") is None:
            continue
        if (entry["first"], entry["second"]) == (first, second):
            return dict(entry)
        if (entry["first"], entry["second"]) == (second, first):
            low, high = entry.get("low"), entry.get("high")
            return dict(entry) | {
                "first": first,
                "second": second,
                "mean_difference": -entry["mean_difference"],
                "low": None if high is None else -high,
                "high": None if low is None else -low,
            }
    return None


def stage_gain(found: Mapping[str, Any], baseline: str, proposed: str) -> dict[str, Any]:
    """Return difference, low and high of the proposed model less the baseline on one first stage.

    From the paired `difference` if the measures have one, else from the means, without interval.
    """
    paired = found.get("difference") or {}
    if paired.get("difference") is not None:
        return {name: paired.get(name) for name in ("difference", "low", "high")}
    means = [(found.get(key) or {}).get("mean") for key in (proposed, baseline)]
    difference = None if None in means else means[0] - means[1]
    return {"difference": difference, "low": None, "high": None}


def ips_measure(what: str) -> str | None:
    """Return the measure that a difference by IPS alone is about, None for one we do not print."""
    for start, measure in IPS_MEASURES.items():
        if what.startswith(start):
            return measure
    return None


def permutation_sets(record: Record) -> list[tuple[str, Mapping[str, Any]]]:
    """Return (collection, what was measured) of single windows, then of sliding ones."""
    return [
        (collection, found)
        for name in ("permutations", "permutations_sliding")
        for collection, found in (record.get(name) or {}).items()
        if found
    ]
