"""The ablation: what augmentation, inverse propensities and the language-model loss each add."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from posbias.listwise.order_summary import comparisons
from posbias.listwise.slot_summary import slot_differences, slot_tables


def ablation_rows(
    models: Mapping[str, dict[str, Any]],
    by_slot: Mapping[str, dict[str, Any]],
    by_order: Mapping[str, dict[str, Any]],
) -> list[dict[str, Any]]:
    """Return a row per model: its parts, and what it reaches (Table 3)."""
    return [
        {
            "model": name,
            "augmentation": entry["augmentation"],
            "ips": entry["ips"],
            "lm": entry["lm"],
            "original": by_order[name]["original"],
            "shuffled": by_order[name]["shuffled"],
            "slot_mean": by_slot[name]["mean"],
            "slot_variance": by_slot[name]["variance"],
        }
        for name, entry in models.items()
    ]


def ips_pairs(models: Mapping[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the models that differ in IPS alone: (with, without)."""
    return [
        (name, other)
        for name, entry in models.items()
        for other, without in models.items()
        if entry["ips"]
        and not without["ips"]
        and all(entry[part] == without[part] for part in ("augmentation", "lm"))
    ]


def augmentation_pairs(models: Mapping[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the models that differ in augmentation alone, the one without any first."""
    return [
        (plain, other)
        for plain, without in models.items()
        for other, entry in models.items()
        if without["augmentation"] == "none" != entry["augmentation"]
        and all(entry[part] == without[part] for part in ("ips", "lm"))
    ]


def _shared_parts(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"augmentation": entry["augmentation"], "lm": entry["lm"]}


def ips_only(
    models: Mapping[str, dict[str, Any]],
    by_slot: pd.DataFrame,
    by_order: pd.DataFrame,
    resamples: int,
    level: float,
    seed: int,
) -> list[dict[str, Any]]:
    """Return with IPS less without it, everything else alike, with intervals and Holm's p.

    by_slot: values of the position experiment; by_order: of one collection and first stage.
    """
    pairs = ips_pairs(models)
    if not pairs:
        return []
    tables = slot_tables(by_slot)
    found = []
    for record in slot_differences(tables, pairs, resamples, level, seed):
        parts = _shared_parts(models[record["a"]])
        found.append({**parts, **record, "what": f"slot {record['what']}"})
    for record in comparisons(by_order, pairs, resamples, level, seed):
        difference = record.pop("mean_difference")
        found.append(
            {
                **_shared_parts(models[record["first"]]),
                "a": record.pop("first"),
                "b": record.pop("second"),
                "what": f"{record.pop('order')} nDCG",
                "difference": difference,
                **record,
            }
        )
    return found
