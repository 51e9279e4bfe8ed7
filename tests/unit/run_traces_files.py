"""Traces of a run as Snakemake leaves them, for tests: marks, locks, logs, benchmark files."""

import base64
import json
import os
import time
from pathlib import Path

NOON = time.mktime((2026, 3, 2, 12, 0, 0, 0, 0, -1))
PLANNED = """Provided cores: 4
Job stats:
job                count
---------------  -------
train_retriever        3
total                  4

"""


def stamp(at: float = NOON) -> str:
    """Return a moment as Snakemake heads its messages."""
    return f"[{time.asctime(time.localtime(at))}]\n"


def mark(folder: Path, output: str, since: float = NOON, external: str | None = None) -> None:
    """Mark an output as begun since a moment."""
    coded = base64.urlsafe_b64encode(output.encode()).decode()
    parts = [coded[i : i + 254] for i in range(0, len(coded), 254)]
    path = folder.joinpath(".snakemake/incomplete", *(f"@{p}" for p in parts[:-1]), parts[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"external_jobid": external}))
    os.utime(path, (since, since))


def lock(folder: Path) -> None:
    """Lock a folder as a run does."""
    (folder / ".snakemake/locks").mkdir(parents=True, exist_ok=True)
    (folder / ".snakemake/locks/0.input.lock").write_text("a\n")


def failed(rule: str, output: str, log: str, at: float = NOON) -> str:
    """Return what Snakemake logs of a failed job."""
    return (
        f'RuleException:\nCalledProcessError in file "rules/x.smk", line 7:\n'
        f"Command 'set -e; python x.py' died with <Signals.SIGKILL: 9>.\n{stamp(at)}"
        f"Error in rule {rule}:\n    message: None\n    jobid: 4\n    input: a, b\n"
        f"    output: {output}, {output}.meta\n"
        f"    log: {log} (check log file(s) for error details)\n"
        f"Logfile {log}:\n=====\nlast words\n=====\n"
    )


def run_log(folder: Path, text: str, name: str = "2026-03-02T110000.000000") -> Path:
    """Write the log of a run."""
    path = folder / f".snakemake/log/{name}.snakemake.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def job_log(folder: Path, name: str, text: str, at: float = NOON) -> Path:
    """Write the log of a job, last at a moment."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))
    return path
