"""Gather everything the listwise study measured into one record that figures and tables read."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.files import read_json, write_json
from posbias.listwise.ablation import ablation_rows, augmentation_pairs, ips_only
from posbias.listwise.order_summary import first_stage_table, summarise_orders
from posbias.listwise.permutation_summary import summarise_permutations
from posbias.listwise.propensity import inverse_weights, read_propensity
from posbias.listwise.slot_summary import end_differences, slot_tables, summarise_slots
from posbias.listwise.systems import ALONE, SEEDLESS, system_name
from posbias.listwise.value_table import check_seeds, read_values
from posbias.measures.ndcg import measure_name

log = logging.getLogger("summary")
WHO = ("system", "seed", "query_id")
SUFFIXES = {"plain": "", "calibrated": " + calibration"}  # of labels, by way of inference


def system_labels(
    models: dict[str, dict[str, Any]], references: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return label, model and way of inference of every system, in the order to print."""
    labels = {
        system_name(model, inference): {
            "label": f"{entry['label']}{suffix}",
            "model": model,
            "inference": inference,
        }
        for model, entry in models.items()
        for inference, suffix in SUFFIXES.items()
        if inference == "plain" or entry["calibrate"]
    }
    for name, entry in references.items():
        labels[name] = {"label": entry["label"], "model": None, "inference": "reference"}
    alone = {"label": "first stage alone", "model": None, "inference": "none"}
    return {**labels, ALONE: alone}


def propensity_record(
    paths: list[Path], seeds: list[int], window: int, ips: dict[str, Any]
) -> dict[str, Any]:
    """Return the propensity matrices by seed, and what bounds did to their inverses."""
    record: dict[str, Any] = {"seeds": {}, "weights": {}}
    for path, seed in zip(paths, seeds, strict=True):
        found = read_propensity(path, window)
        weights = inverse_weights(found, **ips)
        record["seeds"][str(seed)] = found.to_record()
        record["weights"][str(seed)] = {"floored": weights.floored, "capped": weights.capped}
    return record


def flat_windows(paths: list[Path]) -> dict[str, int]:
    """Return the windows scored in all evaluations, and how many of them were flat."""
    tallies = [tally for path in paths for tally in read_json(path)["tallies"]]
    return {name: sum(tally[name] for tally in tallies) for name in ("windows", "flat")}


def main(
    slots: list[Path],
    slot_summaries: list[Path],
    orders: list[Path],
    stability: list[Path],
    order_summaries: list[Path],
    permutations: list[Path],
    permutation_summaries: list[Path],
    propensity: list[Path],
    teacher: Path,
    shown: Path,
    measures: Path,
    study: dict[str, Any],
    first_slots: int,
    resamples: int,
    level: float,
    seed: int,
) -> None:
    """Summarise the listwise study with intervals and paired tests (Figures 3 to 6, Tables 1 to 3).

    Args:
        slots: values by slot, Parquet, one file per model
        slot_summaries: what these rest on, as JSON
        orders: values by order, Parquet, one file per model
        stability: tau_psi of shuffled orders, Parquet, one file per model
        order_summaries: windows scored, as JSON
        permutations: values of PermSC, Parquet, one file per model
        permutation_summaries: windows scored, as JSON
        propensity: propensity matrices, one per seed
        teacher: summary of the teacher's step
        shown: summary of the augmentation's step
        measures: the record to write, as JSON
        study: names, labels and roles, and what was evaluated, from the config
        first_slots: slots at either end of the window that count as first and as last
        resamples: of the bootstrap over queries
        level: of the intervals
        seed: seed of the resampling
    """
    how = {"resamples": resamples, "level": level, "seed": seed}
    baseline, proposed = study["roles"]["baseline"], study["roles"]["proposed"]
    labels = system_labels(study["models"], study["references"])
    others = [name for name in labels if name not in (proposed, ALONE)]
    pairs = [(proposed, other) for other in others]
    by_slot = read_values(slots, (*WHO, "slot", "ndcg"))
    by_order = read_values(orders, (*WHO, "collection", "first_stage", "order", "ndcg"))
    taus = read_values(stability, (*WHO, "collection", "tau_psi"))
    by_m = read_values(permutations, (*WHO, "collection", "depth", "aggregate", "m", "ndcg"))
    for values in (by_slot, by_order, by_m):
        check_seeds(values, study["seeds"], SEEDLESS)
    main_stage = study["main_stage"]
    of_slots = read_json(slot_summaries[0])
    unaided = [p for p in augmentation_pairs(study["models"]) if p[1] != proposed]
    slot_pairs = [*((other, proposed) for other in others), *unaided]
    slot_record = summarise_slots(by_slot, slot_pairs, **how)
    slot_record["differences"] += end_differences(
        slot_tables(by_slot), baseline, proposed, first_slots, **how
    )
    order_record = summarise_orders(by_order, taus, main_stage, pairs, **how)
    deep, window = max(study["depths"]), study["window"]
    taught = read_json(teacher)
    augmented = read_json(shown)
    main_collection = study["slots_collection"]
    main_orders = by_order[
        (by_order["collection"] == main_collection) & (by_order["first_stage"] == main_stage)
    ]
    write_json(
        measures,
        {
            "study": "listwise",
            "measure": measure_name(study["cutoff"]),
            "cutoff": study["cutoff"],
            "seeds": study["seeds"],
            "interval": {
                "kind": "bootstrap over queries, of the mean over seeds",
                "resamples": resamples,
                "level": level,
            },
            "roles": study["roles"],
            "models": study["models"],
            "systems": labels,
            "collections": study["collections"],
            "first_stages": study["first_stages"],
            "slots": {
                "collection": main_collection,
                "first_stage": main_stage,
                "window": of_slots["window"],
                "dropped": of_slots["dropped"],
                **slot_record,
            },
            "orders": {
                name: {"depth": study["depth"], **record} for name, record in order_record.items()
            },
            "without_candidates": [
                row for row in read_json(order_summaries[0])["without_candidates"] if row["queries"]
            ],
            "first_stage_table": first_stage_table(by_order, baseline, proposed, **how),
            "permutations": summarise_permutations(by_m, window, window, **how),
            "permutations_sliding": summarise_permutations(by_m, deep, window, **how),
            "propensity": propensity_record(propensity, study["seeds"], window, study["ips"]),
            "training": {
                "lists": taught["lists"],
                "first_stage": taught["first_stage"],
                "dropped": taught["dropped"],
                "source_slots": augmented["source_slots"],
                "coverage": augmented["coverage"],
                "teacher": {
                    "label": " + ".join(taught["members"]) + ", the source first",
                    "ndcg": taught["ndcg"]["teacher_alone"],
                    "first_stage_ndcg": taught["ndcg"]["first_stage"],
                },
            },
            "ablation": ablation_rows(
                study["models"], slot_record["systems"],
                order_record[main_collection]["systems"],
            ),
            "ips_only": ips_only(study["models"], by_slot, main_orders, **how),
            "windows": flat_windows(slot_summaries + order_summaries + permutation_summaries),
        },
    )  # fmt: skip
    log.info("wrote %s", measures)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
