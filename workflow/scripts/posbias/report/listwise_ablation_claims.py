"""Verdicts on the ablation: the best version, augmentation, and IPS alone (Table 3, Fig. 6)."""

from collections.abc import Mapping
from typing import Any

from posbias.report.claim_records import compared, separation, status_of
from posbias.report.listwise_cells import known, signed, signed_points
from posbias.report.listwise_order_claims import lower_variance
from posbias.report.listwise_records import ips_measure, label_of
from posbias.report.listwise_verdicts import Study, p_text, summary, zero_text
from posbias.report.printed import fraction
from posbias.report.records import lies_above

CONTESTS = ("original", "shuffled")
# Measure of IPS alone: its name, how a difference is printed, the direction of an improvement.
IPS_MEASURES = {
    "original": ("nDCG@10 in the first stage's order", signed, 1),
    "shuffled": ("nDCG@10 on shuffled input", signed, 1),
    "slot_mean": ("mean over slots", signed, 1),
    "slot_variance": ("variance over slots, in squared percentage points", signed_points, -1),
}


def _best_variant(study: Study, contest: str) -> dict[str, Any]:
    proposed = study.keys[1]
    found = {
        row["model"]: row[contest]
        for row in study.record.get("ablation") or []
        if known((row.get(contest) or {}).get("mean"))
    }
    if proposed not in found or len(found) < 2:
        why = f"{study.labels['proposed']} and another version were not measured"
        return study.unmeasured("best_variant", why, contest) | {"threshold": proposed}
    best = max(found, key=lambda model: found[model]["mean"])
    rival = max((m for m in found if m != proposed), key=lambda model: found[model]["mean"])
    bounds = {model: [found[model].get(e) for e in ("low", "high")] for model in (proposed, rival)}
    interval = compared(bounds, lies_above(bounds[proposed], bounds[rival]))
    return study.verdict(
        "best_variant",
        contest,
        status=status_of(found[proposed]["mean"] > found[rival]["mean"]),
        value=best,
        threshold=proposed,
        interval=interval,
        explanation=(
            f"{contest} order: {study.labels['proposed']} {fraction(found[proposed]['mean'])}, the "
            f"best other, {label_of(study.record, rival)}, {fraction(found[rival]['mean'])}; "
            f"{separation(interval)}"
        ),
    )


def _augmentation(study: Study) -> list[dict[str, Any]]:
    """Judge each model with augmentation against the one that differs in nothing else."""
    models: Mapping[str, Any] = study.record["models"]
    claims = []
    for key, model in models.items():
        if model["augmentation"] == "none":
            continue
        for other, plain in models.items():
            same = all(plain[name] == model[name] for name in ("ips", "lm"))
            if plain["augmentation"] == "none" and same:
                claims.append(lower_variance(study, "augmentation", key, other, key))
    if not claims:
        return [study.unmeasured("augmentation", "no pair of models differs in augmentation alone")]
    return [*claims, summary(study, "augmentation", "models", claims)]


def _ips(study: Study, measure: str, found: Mapping[str, Any]) -> dict[str, Any]:
    name, digits, sign = IPS_MEASURES[measure]
    key = f"{found['augmentation']}.{measure}"
    difference, low, high = (found.get(field) for field in ("difference", "low", "high"))
    words = f"augmentation {found['augmentation']}: {name} {digits(difference)} with IPS"
    if None in (difference, low, high):
        return study.unmeasured("ips", f"{words}; no interval", key) | {"value": difference}
    tested = found.get("p_holm")
    words += "" if tested is None else f", {p_text(tested)}"
    return study.verdict(
        "ips",
        key,
        status=status_of(low > 0 if sign > 0 else high < 0),
        value=difference,
        threshold=0.0,
        interval={"low": low, "high": high},
        explanation=f"{words}; {digits(low)} to {digits(high)}, {zero_text(low, high)}",
    )


def _ips_claims(study: Study) -> list[dict[str, Any]]:
    claims = []
    for found in study.record.get("ips_only") or []:
        measure = ips_measure(found["what"])
        if measure is not None:
            claims.append(_ips(study, measure, found))
    if not claims:
        return [study.unmeasured("ips", "the measures hold no models with and without IPS")]
    return [*claims, summary(study, "ips", "differences", claims)]


def ablation_claims(study: Study) -> list[dict[str, Any]]:
    """Return the verdicts on the ablation (Table 3, Fig. 6), a missing part as not measurable.

    What IPS alone adds is told whatever it is; it is held only if its interval lies wholly on the
    side of an improvement.
    """
    best = [_best_variant(study, contest) for contest in CONTESTS]
    return [*best, *_augmentation(study), *_ips_claims(study)]
