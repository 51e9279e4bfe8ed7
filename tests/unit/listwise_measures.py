"""Made-up measures of the listwise study: the claims of the paper hold in them."""

import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np

PROVENANCE = {
    "scale": "mini",
    "note": "mini scale: not the paper's models",
    "config_hash": "0f3a9c5d1e2b",
    "seed": 42,
    "commit": "abc1234",
}
SEEDS = (42, 43, 44)
SLOTS = 20
MODELS = {
    "first": ("FIRST", "none", False, True),
    "noaug_ips": ("NoAug + IPS", "none", True, True),
    "randaug": ("RandAug", "random", False, True),
    "randaug_ips": ("RandAug + IPS", "random", True, True),
    "posaug": ("PosAug", "rotation", False, True),
    "debiasfirst": ("DebiasFirst", "rotation", True, True),
    "debiasfirst_no_lm": ("DebiasFirst without LM", "rotation", True, False),
}
SYSTEMS = {
    **{key: (label, key, "plain") for key, (label, *_) in MODELS.items()},
    "first+calibration": ("FIRST + calibration", "first", "calibrated"),
    "debiasfirst+calibration": ("DebiasFirst + calibration", "debiasfirst", "calibrated"),
    "minilm_l6": ("MiniLM-L6 cosine (sees no order)", None, "reference"),
    "first_stage": ("first stage alone", None, "none"),
}
MAIN = ("first", "debiasfirst", "first+calibration", "debiasfirst+calibration", "minilm_l6")
COLLECTIONS = {
    "wiki": ("Wikipedia, held-out articles", "in"),
    "leads": ("lead sections", "out"),
    "titles": ("title to lead", "out"),
}
STAGES = {"bm25": "BM25", "minilm_l3": "MiniLM-L3", "minilm_l6": "MiniLM-L6", "rrf": "RRF"}
# nDCG@10 with the relevant passage in the first and in the last slot.
ENDS = {
    "first": (0.79, 0.52),
    "noaug_ips": (0.77, 0.55),
    "randaug": (0.73, 0.68),
    "randaug_ips": (0.725, 0.69),
    "posaug": (0.72, 0.69),
    "debiasfirst": (0.71, 0.70),
    "debiasfirst_no_lm": (0.70, 0.68),
    "first+calibration": (0.74, 0.60),
    "debiasfirst+calibration": (0.71, 0.695),
    "minilm_l6": (0.66, 0.66),
}
# nDCG@10 in the first stage's order and its loss in random orders.
LEVELS = {
    "first_stage": (0.52, 0.27),
    "first": (0.600, 0.045),
    "noaug_ips": (0.601, 0.040),
    "randaug": (0.611, 0.008),
    "randaug_ips": (0.612, 0.007),
    "posaug": (0.614, 0.007),
    "debiasfirst": (0.622, 0.004),
    "debiasfirst_no_lm": (0.605, 0.006),
    "first+calibration": (0.603, 0.030),
    "debiasfirst+calibration": (0.621, 0.003),
    "minilm_l6": (0.58, 0.0),
}


def estimate(value: float, half: float = 0.02, middle: str = "mean") -> dict[str, float]:
    """Return a value with an interval of this half width."""
    return {middle: value, "low": value - half, "high": value + half}


def curve(first: float, last: float) -> np.ndarray:
    """Return means over the slots that fall fast, then slowly, with a small wave."""
    slots = np.arange(1, SLOTS + 1)
    return last + (first - last) * np.exp(-(slots - 1) / 4) + 0.002 * np.sin(slots)


def slots_part() -> dict[str, Any]:
    """Return the curves of all systems, and the paired differences of the ablation."""
    systems, variances = {}, {}
    for key, ends in ENDS.items():
        means = curve(*ends)
        variances[key] = float(means.var())
        systems[key] = {
            "curve": [{"slot": s, **estimate(float(m))} for s, m in enumerate(means, start=1)],
            "mean": estimate(float(means.mean()), 0.015),
            "variance": {
                "value": variances[key],
                "low": 0.8 * variances[key],
                "high": 1.3 * variances[key],
            },
            "variance_per_seed": [variances[key] * f for f in (0.9, 1.0, 1.1)],
        }
    pairs = [("first", "debiasfirst"), ("first", "randaug"), ("first", "posaug")]
    differences = [
        {"a": a, "b": b, "what": "variance", "n": 400}
        | estimate(variances[a] - variances[b], 0.0004, "difference")
        for a, b in pairs
    ]
    return {
        "collection": "wiki",
        "first_stage": "minilm_l3",
        "window": SLOTS,
        "n": 400,
        "dropped": {"relevant passage not in the window": 12},
        "systems": systems,
        "differences": differences,
    }


def orders_part(shift: float) -> dict[str, Any]:
    """Return one collection's systems in both orders, all moved by `shift`."""
    systems = {}
    for key in ("first_stage", *MODELS, *MAIN[2:]):
        original, drop = LEVELS[key][0] + shift, LEVELS[key][1]
        systems[key] = {
            "original": estimate(original),
            "shuffled": estimate(original - drop),
            "drop": estimate(drop, 0.003),
            "variance_over_shuffles": 2e-4 * drop + 1e-6,
            "tau_psi": 4 * drop,
            "per_seed": {"original": [original] * 3, "shuffled": [original - drop] * 3},
        }
    systems["first_stage"]["tau_psi"] = None
    comparisons = []
    for order in ("original", "shuffled"):
        for key in systems:
            if key in ("first_stage", "debiasfirst"):
                continue
            gain = systems["debiasfirst"][order]["mean"] - systems[key][order]["mean"]
            comparisons.append(
                {
                    "order": order,
                    "first": "debiasfirst",
                    "second": key,
                    "n": 300,
                    "mean_difference": gain,
                    "low": gain - 0.012,
                    "high": gain + 0.012,
                    "p": 0.001 if gain > 0.012 else 0.4,
                    "p_holm": 0.002 if gain > 0.012 else 0.8,
                }
            )
    return {
        "first_stage": "minilm_l3",
        "n": 300,
        "shuffles": 5,
        "systems": systems,
        "comparisons": comparisons,
    }


def permutations_part(shift: float, depth: int) -> dict[str, Any]:
    """Return 20 single orders and their aggregates; the proposed model needs fewer orders."""
    systems = {}
    counts = range(1, SLOTS + 1)
    for key, single, best, pace, wave in (
        ("first", 0.555, 0.600, 2.5, 0.008),
        ("debiasfirst", 0.618, 0.626, 1.2, 0.002),
    ):
        means = [best - (best - single) * float(np.exp(-(m - 1) / pace)) for m in counts]
        systems[key] = {
            "kemeny_window": SLOTS,
            "single": [
                {"order": i, **estimate(single + shift + wave * float(np.sin(i)))} for i in counts
            ],
            "borda": [
                {"m": m, **estimate(mean + shift)} for m, mean in zip(counts, means, strict=True)
            ],
            "kemeny": None,
        }
        if depth == SLOTS:
            systems[key]["kemeny"] = [
                {"m": m, **estimate(mean + shift + 0.003)}
                for m, mean in zip(counts, means, strict=True)
            ]
    return {"n": 100, "depth": depth, "systems": systems}


def propensity_part() -> dict[str, Any]:
    """Return counts per seed, more of the first slots on the first ranks, one cell empty."""
    seeds = {}
    place = np.arange(SLOTS)
    for seed in SEEDS:
        noise = np.random.default_rng(seed).normal(0, 0.04, (SLOTS, SLOTS))
        likely = np.exp(-0.07 * np.abs(np.subtract.outer(place, place)) + noise)
        likely[SLOTS - 1, 0] = 0
        counts = np.round(1500 * likely / likely.mean()).astype(int)
        seeds[str(seed)] = {
            "k": SLOTS,
            "lists": 30000,
            "zero_cells": int((counts == 0).sum()),
            "counts": counts.tolist(),
        }
    weights = {str(seed): {"floored": 1, "capped": 0} for seed in SEEDS}
    return {"seeds": seeds, "weights": weights}


def coverage_row(kind: str, variants: int, share: float) -> dict[str, Any]:
    """Return a row of the coverage table."""
    return {
        "kind": kind,
        "variants": variants,
        "lists": 5585,
        "orders": 5585 * variants,
        "slots_least": max(1, int(share * SLOTS - 0.5)),
        "slots_mean": share * SLOTS,
        "slots_most": max(1, variants),
        "share": share,
        "rarest": 0.0 if kind == "none" else 0.91,
        "commonest": 20.0 if kind == "none" else 1.08,
    }


def training_part() -> dict[str, Any]:
    """Return the slots of the source passages, early ones first unless augmented."""
    front = np.round(2400 * np.exp(-np.arange(SLOTS) / 3) + 40).astype(int)
    return {
        "lists": int(front.sum()),
        "dropped": {"the source passage was not retrieved": 120},
        "first_stage": "bm25",
        "source_slots": {
            "none": front.tolist(),
            "random": [1130 - 7 * (slot % 3) for slot in range(SLOTS)],
            "rotation": [1110 + 9 * (slot % 2) for slot in range(SLOTS)],
        },
        "teacher": {"label": "MiniLM-L6 cosine", "ndcg": 0.756, "first_stage_ndcg": 0.654},
        "coverage": [
            coverage_row("none", 1, 0.05),
            coverage_row("random", 4, 0.185),
            coverage_row("rotation", 4, 0.2),
            coverage_row("rotation", 20, 1.0),
        ],
    }


def made_up() -> dict[str, Any]:
    """Return a whole record in which every claim of the paper holds."""
    slots = slots_part()
    wiki = orders_part(0.0)
    ablation = [
        {
            "model": key,
            "augmentation": augmentation,
            "ips": ips,
            "lm": lm,
            "original": wiki["systems"][key]["original"],
            "shuffled": wiki["systems"][key]["shuffled"],
            "slot_mean": slots["systems"][key]["mean"],
            "slot_variance": slots["systems"][key]["variance"],
        }
        for key, (_, augmentation, ips, lm) in MODELS.items()
    ]
    ips_only = [
        {"augmentation": kind, "what": what} | estimate(value, half, "difference")
        for kind in ("none", "random", "rotation")
        for what, value, half in (
            ("original nDCG", 0.002, 0.003),
            ("shuffled nDCG", 0.005, 0.003),
            ("slot mean", 0.004, 0.003),
            ("slot variance", -0.0006, 0.0004),
        )
    ]
    return {
        "study": "listwise",
        "measure": "nDCG@10",
        "cutoff": 10,
        "seeds": list(SEEDS),
        "interval": {
            "kind": "bootstrap over queries, of the mean over seeds",
            "resamples": 10000,
            "level": 0.95,
        },
        "models": {
            key: dict(zip(("label", "augmentation", "ips", "lm"), values, strict=True))
            for key, values in MODELS.items()
        },
        "roles": {"baseline": "first", "proposed": "debiasfirst"},
        "systems": {
            key: dict(zip(("label", "model", "inference"), values, strict=True))
            for key, values in SYSTEMS.items()
        },
        "collections": {
            key: {"label": label, "domain": domain} for key, (label, domain) in COLLECTIONS.items()
        },
        "first_stages": dict(STAGES),
        "slots": slots,
        "orders": {"wiki": wiki, "leads": orders_part(0.05), "titles": orders_part(-0.08)},
        "first_stage_table": {
            collection: {
                stage: {
                    "alone": estimate(0.50 + shift),
                    "first": estimate(0.60 + shift),
                    "debiasfirst": estimate(0.60 + shift + gain),
                }
                for stage, gain in zip(STAGES, (0.04, 0.022, 0.015, 0.02), strict=True)
            }
            for collection, shift in (("wiki", 0.0), ("leads", 0.05), ("titles", -0.08))
        },
        "permutations": {
            "wiki": permutations_part(0.0, SLOTS),
            "leads": permutations_part(0.05, SLOTS),
        },
        "permutations_sliding": {
            "wiki": permutations_part(-0.04, 100),
            "leads": permutations_part(0.01, 100),
        },
        "propensity": propensity_part(),
        "training": training_part(),
        "ablation": ablation,
        "ips_only": ips_only,
        "windows": {"windows": 125000, "flat": 0},
    }


def write_record(folder: Path, record: dict[str, Any] | None = None) -> Path:
    """Write a record (the whole one if none is given) as measures.json; return its path."""
    path = folder / "measures.json"
    path.write_text(json.dumps(made_up() if record is None else record))
    return path


FIGURES = (
    "causal_graph",
    "propensity",
    "training_positions",
    "position_curves",
    "permutations",
    "ablation_curves",
)
TABLES = ("table1", "table2", "table3", "coverage")


def make(name: str, measures: Path, folder: Path) -> dict[str, Path]:
    """Run the script of a figure or table; return its files by kind."""
    script = importlib.import_module(f"make_listwise_{name}")
    files = {kind: folder / f"{name}.{kind}" for kind in ("pdf", "csv", "tex", "meta")}
    arguments = {**files, "measures": measures, "provenance": PROVENANCE, "alpha": 0.05}
    wanted = inspect.signature(script.main).parameters
    script.main(**{key: value for key, value in arguments.items() if key in wanted})
    return {kind: path for kind, path in files.items() if kind in wanted}
