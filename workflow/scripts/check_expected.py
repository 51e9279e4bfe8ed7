"""Compare a run with the reference numbers of its scale."""

import logging
from pathlib import Path

from adapter import start
from posbias.files import read_json, write_json
from posbias.report.expected import compare_all, key_numbers, listwise_numbers
from posbias.report.records import read_measures

log = logging.getLogger("expected")


def main(
    measures: list[Path],
    listwise: list[Path],
    report: Path,
    scale: str,
    wanted: list[str],
    expected: Path | list | None = None,
) -> None:
    """Compare a run with the reference numbers; a difference is reported, never an error.

    Args:
        measures: one measures.json per retriever and setting, and per reference system
        listwise: measures.json of the listwise study; none in a run without it
        report: verdict, counts and one row per number, as JSON
        scale: name of this run's scale
        wanted: the run's retrievers and references, and "listwise" in a run with that study
        expected: the reference numbers as JSON; none where the scale has none
    """
    reference = read_json(expected) if expected else {}
    if reference.get("scale") != scale:
        write_json(report, {"verdict": "no reference numbers", "counts": {}, "rows": []})
        log.info("the scale %s has no reference numbers (expected in the config)", scale)
        return
    numbers = key_numbers(read_measures(measures))
    for path in listwise:
        numbers |= listwise_numbers(read_json(path))
    result = compare_all(numbers, reference, wanted)
    write_json(report, result)
    counts = ", ".join(f"{n} {status}" for status, n in result["counts"].items())
    log.info("this run against the reference numbers: %s (%s)", result["verdict"], counts)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
