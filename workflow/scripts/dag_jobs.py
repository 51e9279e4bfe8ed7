"""The jobs of the workflow, done or not, as Snakemake sees them; nothing is run or written."""

import contextlib
import io
import logging
import os
from collections.abc import Sequence
from pathlib import Path

from posbias.errors import PosbiasError
from posbias.report.run_jobs import Job


def _as_job(job, pending: bool) -> Job:
    return Job(
        rule=job.rule.name,
        station=Path(job.rule.snakefile).stem,
        outputs=tuple(str(name) for name in job.output),
        log=str(job.log[0]) if job.log else None,
        resume_dir=job.params.get("resume_dir"),
        threads=int(job.threads),
        pending=pending,
        missing=not any(Path(name).exists() for name in job.output),
    )


def workflow_jobs(
    snakefile: Path, configs: Sequence[Path], targets: Sequence[str]
) -> tuple[list[str], list[Job]]:
    """Return the stations, in the order in which the workflow names them, and all jobs for targets.

    A station is a file of rules. Without targets, what `snakemake` would make by itself. Its own
    summary is asked for in this process, which takes no lock and writes no log; the graph behind
    it then also knows logs, parameters and threads, which a printed summary lacks. Whether the
    software environment has changed is left out, as that depends on how a run deploys it. Raises
    PosbiasError if the workflow cannot be read as it is.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.exceptions import RuleException
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        OutputSettings,
        Quietness,
        RerunTrigger,
        ResourceSettings,
    )
    from snakemake_interface_common.exceptions import ApiError, WorkflowError

    os.environ["GIT_OPTIONAL_LOCKS"] = "0"  # the rules ask git for the commit
    try:
        with SnakemakeApi(
            OutputSettings(
                quiet={Quietness.ALL}, enable_file_logging=False, log_level_override=logging.ERROR
            )
        ) as snakemake:
            asked = snakemake.workflow(
                resource_settings=ResourceSettings(cores=1),
                config_settings=ConfigSettings(configfiles=list(configs)),
                snakefile=snakefile,
            )
            triggers = RerunTrigger.all() - {RerunTrigger.SOFTWARE_ENV}
            graph = asked.dag(DAGSettings(targets=set(targets), rerun_triggers=triggers))
            with contextlib.redirect_stdout(io.StringIO()):
                graph.summary()
            workflow = asked._workflow  # the summary has built its graph
            stations = dict.fromkeys(Path(rule.snakefile).stem for rule in workflow.rules)
            jobs = [
                _as_job(job, workflow.dag.needrun(job)) for job in workflow.dag.jobs if job.output
            ]
    except (WorkflowError, RuleException, ApiError, OSError) as fault:
        raise PosbiasError(
            f"Snakemake cannot read the workflow now: {fault}. See snakemake -n with the same "
            "configuration; during a run a file may just have been replaced, so try again."
        ) from fault
    return list(stations), jobs
