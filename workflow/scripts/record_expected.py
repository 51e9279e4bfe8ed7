"""Write a run's numbers as the reference numbers of its scale (not a rule: done by hand)."""

import logging
from pathlib import Path

from adapter import start
from posbias.files import read_json, write_json
from posbias.report.expected import key_numbers, listwise_numbers
from posbias.report.records import read_measures

log = logging.getLogger("expected")


def main(
    measures: list[Path],
    listwise: Path,
    expected: Path,
    scale: str,
    ndcg_tolerance: float,
    psi_tolerance: float,
    variance_tolerance: float,
) -> None:
    """Record reference numbers for check_expected.py.

    Args:
        measures: one measures.json per retriever and setting, and per reference system
        listwise: measures.json of the listwise study
        expected: the reference numbers, JSON to write
        scale: name of the run's scale
        ndcg_tolerance: difference of a group's nDCG@10 that still counts as near
        psi_tolerance: difference of a PSI that still counts as near
        variance_tolerance: difference of a variance over slots that still counts as near
    """
    found = {**key_numbers(read_measures(measures)), **listwise_numbers(read_json(listwise))}
    numbers = {
        system: {name: None if v is None else round(v, 6) for name, v in values.items()}
        for system, values in found.items()
    }
    tolerance = {"ndcg": ndcg_tolerance, "psi": psi_tolerance, "slot_variance": variance_tolerance}
    write_json(expected, {"scale": scale, "tolerance": tolerance, "numbers": numbers})
    log.info("wrote %d systems to %s", len(numbers), expected)


if __name__ == "__main__":
    start(main)
