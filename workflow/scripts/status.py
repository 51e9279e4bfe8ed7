"""Print how a run stands: done, running, pending and failed jobs by station, time left, disk."""

import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from adapter import start
from config_files import merged
from dag_jobs import workflow_jobs
from places import DOWNLOADS, results_folder, size_below
from posbias.files import write_json
from posbias.report.run_logs import read_run_logs
from posbias.report.run_status import status_of
from posbias.report.run_status_text import status_record, status_text
from posbias.report.run_traces import read_traces

CONFIG = Path("config.yaml")  # the Snakefile reads it by itself


def main(
    configs: Sequence[Path] = (CONFIG,),
    targets: Sequence[str] = (),
    json: Path | None = None,
) -> None:
    """Print how a run stands, as often as you like: nothing is written where the run works.

    Args:
        configs: the complete config, then the overlays that the run was given
        targets: what the run was asked for; by itself everything
        json: file to write the same to, for machines
    """
    # Read twice, it would come to another order of keys, which Snakemake takes for a change.
    overlays = [file for file in configs if file != CONFIG]
    config = merged([CONFIG, *overlays])
    stations, jobs = workflow_jobs(Path("Snakefile"), overlays, targets)
    logs = read_run_logs(Path(".snakemake/log"))
    traces = read_traces(Path(), [log.slurm_run for log in logs[-1:] if log.slurm_run])
    now = time.time()
    status = status_of(
        jobs,
        stations,
        traces,
        logs,
        Path("benchmarks") / config["scale"],
        now,
        os.cpu_count() or 1,
    )
    sizes = {place: size_below(place) for place in (results_folder(config), str(DOWNLOADS))}
    title = f"Scale {config['scale']}: {', '.join(targets) or 'everything'}"
    told = (title, status, sizes, shutil.disk_usage(Path()).free, now)
    sys.stdout.write(status_text(*told))
    if json is not None:
        write_json(json, status_record(*told))


if __name__ == "__main__":
    start(main)
