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


def compare(found: float | None, expected: float | None, tolerance: float) -> str:
    """Say whether a number is equal in print, near (within the tolerance), or differs."""
    if found is None or expected is None:
        return EQUAL if found is expected else MISSING
    difference = abs(found - expected)
    if difference < PRINTED:
        return EQUAL
    return NEAR if difference <= tolerance else DIFFERS


def compare_all(
    records: Sequence[Mapping[str, Any]], expected: Mapping[str, Any], wanted: Sequence[str]
) -> dict[str, Any]:
    """Compare the numbers that `expected` names of the wanted retrievers and references.

    expected: {"tolerance": {"ndcg": …, "psi": …}, "numbers": as from `key_numbers`}; numbers
    without a reference are passed over. Raises DataError if it has another form or names none
    of the wanted systems.
    """
    absent = {"tolerance", "numbers"} - set(expected)
    if absent:
        raise DataError(f"the reference numbers lack {', '.join(sorted(absent))}; {RECORD_AGAIN}.")
    found = key_numbers(records)
    rows = []
    for system, values in expected["numbers"].items():
        if system.rsplit("/", 1)[0] not in wanted:
            continue
        for name, value in values.items():
            tolerance = expected["tolerance"]["psi" if name == "psi" else "ndcg"]
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
