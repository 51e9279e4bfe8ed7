"""Write what the jobs of a dry run ask for: `python asked.py FILE arguments-of-snakemake`.

A dry run prints no resources of a job that has a message, so the run is stopped where it would
begin to print, and its graph is read.
"""

import json
import sys
from pathlib import Path

from snakemake import cli
from snakemake.scheduling.job_scheduler import JobScheduler


def requests(dag) -> list[dict]:
    """Return what each job asks for: memory in MB, time in minutes; a number for its group."""
    return [
        {
            "rule": job.rule.name,
            "group": id(dag.get_job_group(job)) if job.group else None,
            "local": job.rule.norun or job.rule.name in dag.workflow._localrules,
            "partition": job.resources.get("slurm_partition"),
            "gres": job.resources.get("gres"),
            "cpus": job.threads,
            "memory": job.resources.get("mem_mb"),
            "time": job.resources.get("runtime"),
            "accelerators": job.resources.get("accelerators", 0),
        }
        for job in dag.needrun_jobs()
    ]


def write_instead(scheduler: JobScheduler) -> bool:
    """Take the place of the scheduler: write, and say that all went well."""
    Path(sys.argv[1]).write_text(json.dumps(requests(scheduler.workflow.dag)), encoding="utf-8")
    return True


if __name__ == "__main__":
    JobScheduler.schedule = write_instead
    cli.main(["--dry-run", *sys.argv[2:]])
