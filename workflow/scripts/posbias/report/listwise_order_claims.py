"""Verdicts on what the order of the input does: over slots (RQ1), and when shuffled (RQ2)."""

from collections.abc import Mapping
from typing import Any

from posbias.report.claim_records import HELD, NOT_MEASURABLE, status_of
from posbias.report.listwise_cells import known, points, signed_points
from posbias.report.listwise_records import comparison, label_of, paired_difference
from posbias.report.listwise_verdicts import Study, summary
from posbias.report.printed import fraction

PAPER_SETS, PAPER_SIGNIFICANT = 12, 6  # data sets: better on all, significantly on so many
OTHERS = "the paper: slightly below RankZephyr and ListT5 in slots 1 to 3 or 4"


def _system(study: Study, key: str) -> Mapping[str, Any]:
    return ((study.record.get("slots") or {}).get("systems") or {}).get(key) or {}


def _edge(study: Study, key: str, last: bool = False) -> dict[str, float | None] | str:
    """Return the mean over the first (or last) slots, with its bounds averaged; or what lacks."""
    count = study.thresholds.first_slots
    curve = _system(study, key).get("curve") or []
    if len(curve) < 2 * count:
        return f"{label_of(study.record, key)}: {len(curve)} slots, {2 * count} are needed"
    edge = {}
    for name in ("mean", "low", "high"):
        values = [at.get(name) for at in (curve[-count:] if last else curve[:count])]
        edge[name] = sum(values) / count if all(map(known, values)) else None
    if edge["mean"] is None:
        return f"{label_of(study.record, key)}: a slot has no mean"
    return edge


def _slot_difference(study: Study, a: str, b: str, what: str) -> dict[str, float | None] | None:
    """Return the paired difference over as many slots as the thresholds say, if measured."""
    entries = (study.record.get("slots") or {}).get("differences") or []
    count = study.thresholds.first_slots
    return paired_difference([e for e in entries if e.get("slots") == count], a, b, what)


def _edges(
    study: Study,
    kind: str,
    higher: tuple[str, Mapping[str, float | None] | str],
    lower: tuple[str, Mapping[str, float | None] | str],
    paired: Mapping[str, float | None] | None,
    more: str = "",
) -> dict[str, Any]:
    """Judge whether the mean over one edge of the input is above that over another."""
    for _, found in (higher, lower):
        if isinstance(found, str):
            return study.unmeasured(kind, found)
    words = ", ".join(f"{name} {fraction(found['mean'])}" for name, found in (higher, lower))
    words += f"; {more}" if more else ""
    if paired is not None:
        return study.by_interval(kind, "", paired, words)
    return study.by_means(kind, "", higher, lower, words)


def _early_slots(study: Study) -> dict[str, Any]:
    count, baseline = study.thresholds.first_slots, study.keys[0]
    return _edges(
        study,
        "early_slots",
        (f"slots 1-{count}", _edge(study, baseline)),
        (f"the last {count}", _edge(study, baseline, last=True)),
        _slot_difference(study, baseline, baseline, "first less last slots"),
    )


def _first_slots(study: Study) -> dict[str, Any]:
    baseline, proposed = study.keys
    names = study.labels
    return _edges(
        study,
        "first_slots",
        (names["baseline"], _edge(study, baseline)),
        (names["proposed"], _edge(study, proposed)),
        _slot_difference(study, baseline, proposed, "first slots"),
        f"slots 1-{study.thresholds.first_slots}; {OTHERS}",
    )


def lower_variance(study: Study, kind: str, key: str, higher: str, lower: str) -> dict[str, Any]:
    """Judge whether the system `lower` varies less over the slots than the system `higher`."""
    found = {name: _system(study, name).get("variance") or {} for name in (higher, lower)}
    labels = {name: label_of(study.record, name) for name in found}
    missing = [labels[name] for name, variance in found.items() if not known(variance.get("value"))]
    if missing:
        return study.unmeasured(kind, f"no variance over slots of {', '.join(missing)}", key)
    parts = [f"{labels[name]} {points(variance['value'])}" for name, variance in found.items()]
    words = f"{', '.join(parts)} squared percentage points"
    entries = (study.record.get("slots") or {}).get("differences")
    paired = paired_difference(entries, higher, lower, "variance")
    if paired is not None:
        less = signed_points(-paired["difference"])
        return study.by_interval(kind, key, paired, f"{words} ({less})")
    estimates = [
        (labels[name], {**variance, "mean": variance["value"]}) for name, variance in found.items()
    ]
    return study.by_means(kind, key, estimates[0], estimates[1], words)


def _drop(study: Study, collection: str, found: Mapping[str, Any]) -> dict[str, Any]:
    baseline, proposed = study.keys
    names = study.labels
    systems = found.get("systems") or {}
    drops = [(systems.get(key) or {}).get("drop") or {} for key in (baseline, proposed)]
    if not all(known(drop.get("mean")) for drop in drops):
        return study.unmeasured("drop", "no drop of both models", collection)
    words = ", ".join(
        f"{name} {fraction(drop['mean'])}"
        for name, drop in zip((names["baseline"], names["proposed"]), drops, strict=True)
    )
    paired = comparison(found.get("comparisons"), "drop", baseline, proposed)
    if paired is not None:
        return study.by_test("drop", collection, paired, words)
    higher, lower = (names["baseline"], drops[0]), (names["proposed"], drops[1])
    return study.by_means("drop", collection, higher, lower, words)


def _shuffled(study: Study, collection: str, found: Mapping[str, Any]) -> dict[str, Any]:
    baseline, proposed = study.keys
    tested = comparison(found.get("comparisons"), "shuffled", proposed, baseline)
    if tested is None:
        why = "the two models were not compared on shuffled input"
        return study.unmeasured("shuffled", why, collection)
    systems = found.get("systems") or {}
    words = ", ".join(
        f"{study.labels[role]} "
        f"{fraction(((systems.get(key) or {}).get('shuffled') or {}).get('mean'))}"
        for role, key in zip(("baseline", "proposed"), study.keys, strict=True)
    )
    return study.by_test("shuffled", collection, tested, words)


def _shuffled_summary(study: Study, claims: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the claim over all collections: above on each, significantly on the paper's share."""
    better = sum(known(claim["value"]) and claim["value"] > 0 for claim in claims)
    significant = sum(claim["status"] == HELD for claim in claims)
    enough = PAPER_SETS * significant >= PAPER_SIGNIFICANT * len(claims)
    measured = any(claim["status"] != NOT_MEASURABLE for claim in claims)
    return study.verdict(
        "shuffled",
        "all",
        status=status_of(better == len(claims) and enough) if measured else NOT_MEASURABLE,
        value=significant,
        threshold=len(claims) * PAPER_SIGNIFICANT / PAPER_SETS,
        explanation=(
            f"better on {better} of {len(claims)} collections, significantly on {significant}; "
            f"the paper: on {PAPER_SETS} of {PAPER_SETS}, significantly on {PAPER_SIGNIFICANT}"
        ),
    )


def order_claims(study: Study) -> list[dict[str, Any]]:
    """Return the verdicts of RQ1 (Fig. 4) and RQ2 (Table 1), a missing part as not measurable."""
    baseline, proposed = study.keys
    claims = [
        _early_slots(study),
        lower_variance(study, "slot_variance", "", baseline, proposed),
        _first_slots(study),
    ]
    orders = study.record.get("orders") or {}
    if not orders:
        why = "the measures hold no shuffled orders"
        return claims + [study.unmeasured(kind, why) for kind in ("drop", "shuffled")]
    drops = [_drop(study, name, found or {}) for name, found in orders.items()]
    shuffled = [_shuffled(study, name, found or {}) for name, found in orders.items()]
    claims += [*drops, summary(study, "drop", "collections", drops)]
    return [*claims, *shuffled, _shuffled_summary(study, shuffled)]
