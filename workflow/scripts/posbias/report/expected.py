"""A run's numbers beside the reference numbers of its scale, with stated tolerances."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from posbias.errors import DataError

EQUAL, NEAR, DIFFERS, MISSING = "equal", "near", "differs", "missing"
RECORD_AGAIN = "record them again with workflow/scripts/record_expected.py"
PRINTED = 5e-4  # half a unit of the last printed decimal: equal in print


def key_numbers(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float | None]]:
    """Return {"retriever/setting": {"begin", "middle", "end", "psi"}} of measures records."""
    numbers = {}
    for record in records:
        thirds = record["groupings"]["thirds"]
        values = {group["name"]: group["mean"] for group in thirds["groups"]}
        numbers[f"{record['retriever']}/{record['setting'] or 'reference'}"] = {
            **values,
            "psi": thirds["psi"],
        }
    return numbers


def listwise_numbers(measures: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Return {"listwise/system": {slot_mean, slot_variance, and per collection its orders}}."""
    numbers = {
        f"listwise/{name}": {
            "slot_mean": system["mean"]["mean"],
            "slot_variance": system["variance"]["value"],
        }
        for name, system in measures["slots"]["systems"].items()
    }
    for collection, record in measures["orders"].items():
        for name, system in record["systems"].items():
            for order in ("original", "shuffled"):
                of_system = numbers.setdefault(f"listwise/{name}", {})
                of_system[f"{collection}_{order}"] = system[order]["mean"]
    return numbers


def compare(found: float | None, expected: float | None, tolerance: float) -> str:
    """Say whether a number is equal in print, near (within the tolerance), or differs."""
    if found is None or expected is None:
        return EQUAL if found is expected else MISSING
    difference = abs(found - expected)
    if difference < PRINTED:
        return EQUAL
    return NEAR if difference <= tolerance else DIFFERS


def compare_all(
    found: Mapping[str, Mapping[str, float | None]],
    expected: Mapping[str, Any],
    wanted: Sequence[str],
) -> dict[str, Any]:
    """Compare the numbers that `expected` names of the wanted retrievers, references and studies.

    found: as from `key_numbers` and `listwise_numbers`. expected: {"tolerance", "numbers": as
    found}; a number without a tolerance of its name has that of "ndcg", and numbers without a
    reference are passed over. Raises DataError if it has another form or names none
    of the wanted systems.
    """
    absent = {"tolerance", "numbers"} - set(expected)
    if absent:
        raise DataError(f"the reference numbers lack {', '.join(sorted(absent))}; {RECORD_AGAIN}.")
    rows = []
    for system, values in expected["numbers"].items():
        if system.rsplit("/", 1)[0] not in wanted:
            continue
        for name, value in values.items():
            tolerance = expected["tolerance"].get(name, expected["tolerance"]["ndcg"])
            ours = found.get(system, {}).get(name)
            rows.append(
                {
                    "system": system,
                    "number": name,
                    "expected": value,
                    "found": ours,
                    "tolerance": tolerance,
                    "status": compare(ours, value, tolerance),
                }
            )
    if not rows:
        raise DataError(f"the reference numbers name none of {', '.join(wanted)}; {RECORD_AGAIN}.")
    counts = Counter(row["status"] for row in rows)
    verdict = EQUAL
    if counts[NEAR]:
        verdict = NEAR
    if counts[DIFFERS] or counts[MISSING]:
        verdict = DIFFERS
    return {
        "verdict": verdict,
        "counts": {status: counts[status] for status in (EQUAL, NEAR, DIFFERS, MISSING)},
        "rows": rows,
    }
