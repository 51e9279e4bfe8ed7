"""Record what is known of a run: machine, versions, run times, seeds, revisions, licences."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.files import write_json
from posbias.logs import clock
from posbias.report.run_provenance import run_record

log = logging.getLogger("provenance")


def main(
    measured: list[Path],
    lock: Path,
    record: Path,
    benchmarks_folder: str,
    downloads_folder: str,
    config: dict[str, Any],
    stamp: dict[str, Any],
    used: list[str],
    rules: list[str],
) -> None:
    """Record what is known of a run, once its measures are there.

    Args:
        measured: every file of measures, so that all that is timed has run
        lock: the exact versions of all packages
        record: the provenance of the run to write, JSON
        benchmarks_folder: folder of Snakemake's benchmark files, one per job
        downloads_folder: folder of downloaded models and data with their manifests
        config: the merged configuration
        stamp: scale, note, config_hash, seed, commit and retrievers
        used: names of the assets, downloads and paths that the run read
        rules: names of the rules that make up the run; benchmark files of others do not count
    """
    found = run_record(
        measured, config, stamp, used, lock, Path(benchmarks_folder), Path(downloads_folder),
        rules,
    )  # fmt: skip
    write_json(record, found)
    total = found["total"]
    log.info(
        "%d stations, %d jobs, %s of job time",
        len(found["stations"]), total["jobs"], clock(total["seconds"] or 0),
    )  # fmt: skip
    left = found["left_out"]
    if left["files"]:
        log.info(
            "left out %d benchmark files of rules that this run does not have: %s",
            left["files"], ", ".join(left["names"]),
        )  # fmt: skip


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
