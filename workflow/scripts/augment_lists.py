"""Write the orders in which each kind of augmentation shows the training lists."""

import csv
import logging
from collections import Counter
from pathlib import Path

from adapter import start
from posbias.files import read_jsonl, whole_file, write_json, write_jsonl
from posbias.listwise.augment import coverage_table, presentations

log = logging.getLogger("augment")


def main(
    lists: Path,
    shown: list[Path],
    coverage: Path,
    summary: Path,
    kinds: dict[str, int],
    seed: int,
) -> None:
    """Augment by position: none, random shuffle, shuffle and group rotation (section 3.3).

    Args:
        lists: training lists with the teacher's orders, JSON lines
        shown: JSON lines to write, one file per kind: query_id, and shown: orders of places
        coverage: CSV to write: how many slots a passage visits under each kind
        summary: where the source stands in what each kind shows, as JSON
        kinds: variants of each list by kind, in the order of `shown`
        seed: seed of the keyed shuffles
    """
    records = read_jsonl(lists, ("query_id", "doc_ids", "source_slot"))
    window = len(records[0]["doc_ids"])
    slots = {}
    for path, (kind, variants) in zip(shown, kinds.items(), strict=True):
        counts: Counter = Counter()
        rows = []
        for record in records:
            orders = presentations(kind, record["query_id"], window, seed, variants)
            rows.append(
                {"query_id": record["query_id"], "shown": [order.tolist() for order in orders]}
            )
            counts.update(order.tolist().index(record["source_slot"]) for order in orders)
        write_jsonl(path, rows)
        slots[kind] = [counts[slot] for slot in range(window)]
        log.info("%s: %d variants of %d lists", kind, variants, len(records))
    table = coverage_table(
        [record["query_id"] for record in records],
        window,
        seed,
        {kind: [variants] for kind, variants in kinds.items()},
    )
    with whole_file(coverage) as part, part.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, table[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    write_json(summary, {"source_slots": slots, "coverage": table})


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
