"""Benchmark files as Snakemake writes them per job, for tests."""

from pathlib import Path

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


def job(seconds: float, memory: str = "100.5", cpu: str = "1.5") -> str:
    """Return the row of one run: seconds, MB of memory, CPU seconds."""
    return f"{seconds}\t0:00:01\t{memory}\t1\t1\t1\t0\t0\t0\t{cpu}\n"


def benchmarks(folder: Path, files: dict[str, list[str]]) -> Path:
    """Write the rows of benchmark files below a folder, and return it."""
    for name, rows in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(HEADER + "".join(rows))
    return folder
