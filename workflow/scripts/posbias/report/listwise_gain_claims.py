"""Verdicts on what the proposed model gains: by first stage (RQ3), and against PermSC (RQ4)."""

from collections.abc import Mapping, Sequence
from typing import Any

from posbias.report.claim_records import compared, separation, status_of
from posbias.report.listwise_cells import excludes_zero, known, signed
from posbias.report.listwise_records import permutation_sets, stage_gain, stage_label
from posbias.report.listwise_verdicts import Study, summary
from posbias.report.printed import fraction
from posbias.report.records import lies_above

LEXICAL = "bm25"  # the first stage on which the paper's gain is larger
PAPER_RUNS = "the paper: 20 of 20 runs on one data set, 17 of 20 on another"
PAPER_ORDERS = "the paper: 4-6 and 6-8"
SLACK = 1e-9  # so that a shortfall of exactly the tolerance is not lost to rounding


def _gains(study: Study, stages: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], str]:
    """Return the gain on each first stage, and what lacks ("" if nothing does)."""
    gains = {stage: stage_gain(found or {}, *study.keys) for stage, found in stages.items()}
    lacking = [stage_label(study.record, s) for s, g in gains.items() if not known(g["difference"])]
    return gains, f"no gain on {', '.join(lacking)}" if lacking else ""


def _gains_text(study: Study, gains: Mapping[str, Mapping[str, Any]]) -> str:
    return ", ".join(
        f"{stage_label(study.record, stage)} {signed(gain['difference'])}"
        for stage, gain in gains.items()
    )


def _stages(study: Study, collection: str, stages: Mapping[str, Any]) -> dict[str, Any]:
    gains, lacking = _gains(study, stages)
    if lacking or not gains:
        return study.unmeasured("stages", lacking or "no first stage was measured", collection)
    paired = all(known(gain["low"]) and known(gain["high"]) for gain in gains.values())
    if paired:
        bounds = {stage: [gain["low"], gain["high"]] for stage, gain in gains.items()}
        above = [excludes_zero(low, high) and low > 0 for low, high in bounds.values()]
        interval = compared(bounds, all(above))
    else:
        above = [gain["difference"] > 0 for gain in gains.values()]
        bounds = {
            f"{stage}, {key}": [(stages[stage].get(key) or {}).get(end) for end in ("low", "high")]
            for stage in stages
            for key in study.keys
        }
        apart = [
            lies_above(bounds[f"{stage}, {study.keys[1]}"], bounds[f"{stage}, {study.keys[0]}"])
            for stage in stages
        ]
        interval = compared(bounds, all(apart))
    words = "interval of the gain above 0" if paired else "above"
    return study.verdict(
        "stages",
        collection,
        status=status_of(all(above)),
        value=sum(above),
        threshold=len(above),
        interval=interval,
        explanation=(
            f"{_gains_text(study, gains)}; {words} on {sum(above)} of {len(above)}"
            + ("" if paired else f"; {separation(interval)}")
        ),
    )


def _bm25_gain(study: Study, collection: str, stages: Mapping[str, Any]) -> dict[str, Any]:
    gains, lacking = _gains(study, stages)
    if LEXICAL not in gains:
        lacking = "BM25 is none of the first stages"
    elif len(gains) < 2:
        lacking = "there is no other first stage"
    if lacking:
        return study.unmeasured("bm25_gain", lacking, collection) | {"threshold": LEXICAL}
    most = max(gain["difference"] for gain in gains.values())
    largest = [stage for stage, gain in gains.items() if gain["difference"] == most]
    bounds = {stage: [gain["low"], gain["high"]] for stage, gain in gains.items()}
    others = [pair for stage, pair in bounds.items() if stage != LEXICAL]
    interval = compared(bounds, all(lies_above(bounds[LEXICAL], other) for other in others))
    return study.verdict(
        "bm25_gain",
        collection,
        status=status_of(largest == [LEXICAL] and most > 0),
        value=largest[0],
        threshold=LEXICAL,
        interval=interval,
        explanation=f"{_gains_text(study, gains)}; {separation(interval)}",
    )


def _means(entries: Sequence[Mapping[str, Any]] | None) -> list[float] | None:
    """Return the means of a series; None if it is empty or one is unknown."""
    means = [entry.get("mean") for entry in entries or []]
    return means if means and all(known(mean) for mean in means) else None


def _systems(study: Study, found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    systems = found.get("systems") or {}
    return [systems.get(key) or {} for key in study.keys]


def _single_order(study: Study, collection: str, found: Mapping[str, Any]) -> dict[str, Any]:
    baseline, proposed = _systems(study, found)
    singles = _means(proposed.get("single"))
    names = study.labels
    if singles is None or _means(baseline.get("borda")) is None:
        lacking = names["proposed"] if singles is None else f"{names['baseline']} + PermSC"
        return study.unmeasured("single_order", f"no means of {lacking}", collection)
    orders, threshold = max((entry["m"], entry["mean"]) for entry in baseline["borda"])
    above = sum(mean > threshold for mean in singles)
    needed = study.thresholds.single_share * len(singles)
    optimal = _means(baseline.get("kemeny"))
    kemeny = f", its best Kemeny {fraction(max(optimal))}" if optimal else ""
    return study.verdict(
        "single_order",
        collection,
        status=status_of(above >= needed - SLACK),
        value=above,
        threshold=needed,
        explanation=(
            f"{above} of {len(singles)} orders ({fraction(min(singles))} to "
            f"{fraction(max(singles))}) above {names['baseline']} + PermSC over {orders}, "
            f"{fraction(threshold)}{kemeny}; {PAPER_RUNS}"
        ),
    )


def saturation(entries: Sequence[Mapping[str, Any]] | None, tolerance: float) -> int | None:
    """Return the fewest orders whose mean is within `tolerance` of the best; None if unknown."""
    means = _means(entries)
    if means is None:
        return None
    enough = max(means) - tolerance - SLACK
    return min(
        entry["m"] for entry, mean in zip(entries or [], means, strict=True) if mean >= enough
    )


def _saturation(study: Study, collection: str, found: Mapping[str, Any]) -> dict[str, Any]:
    tolerance = study.thresholds.saturation_tolerance
    needed = [saturation(system.get("borda"), tolerance) for system in _systems(study, found)]
    names = study.labels
    if None in needed:
        lacking = [name for name, m in zip(names.values(), needed, strict=True) if m is None]
        why = f"no means of {' and '.join(lacking)} + PermSC"
        return study.unmeasured("saturation", why, collection)
    return study.verdict(
        "saturation",
        collection,
        status=status_of(needed[1] < needed[0]),
        value=needed[1],
        threshold=needed[0],
        explanation=(
            f"orders until Borda is within {tolerance:g} of its best: {needed[1]} with "
            f"{names['proposed']}, {needed[0]} with {names['baseline']}; {PAPER_ORDERS}"
        ),
    )


def gain_claims(study: Study) -> list[dict[str, Any]]:
    """Return the verdicts of RQ3 (Table 2) and RQ4 (Fig. 5), a missing part as not measurable.

    Those of RQ4 are told apart by collection and number of candidates, as "wiki.top100".
    """
    stages = list((study.record.get("first_stage_table") or {}).items())
    orders = [
        (f"{collection}.top{found.get('depth')}", found)
        for collection, found in permutation_sets(study.record)
    ]
    claims = []
    for kind, judge, members in (
        ("stages", _stages, stages),
        ("bm25_gain", _bm25_gain, stages),
        ("single_order", _single_order, orders),
        ("saturation", _saturation, orders),
    ):
        if not members:
            missing = "first stages" if members is stages else "answers to several orders"
            claims.append(study.unmeasured(kind, f"the measures hold no {missing}"))
            continue
        judged = [judge(study, key, found or {}) for key, found in members]
        claims += [*judged, summary(study, kind, "collections", judged)]
    return claims
