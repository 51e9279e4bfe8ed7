"""What all rules share: names from the config, the files of the library, the provenance stamp."""

import shutil
import subprocess
import sys

from snakemake.exceptions import WorkflowError

SCRIPTS = Path(workflow.basedir, "workflow/scripts")
sys.path.insert(0, str(SCRIPTS))

from config_files import merged
from config_checks import check_consistency, check_schema
from imports import library_files
from posbias.corpus.bins import length_bins
from posbias.errors import PosbiasError
from posbias.files import content_hash
from posbias.release.differences import check_same_config
from posbias.release.unpack import read_manifest
from places import (
    DOWNLOADS,
    WITH_PERSONA,
    data_files,
    files_below,
    models_of,
    place_of,
    results_folder,
    size_below,
)
from selection import chosen, select

try:
    check_schema(config, Path(workflow.basedir, "workflow/schemas/config.schema.yaml"))
    check_consistency(config)
    BINS = [b.name for b in length_bins(config["documents"]["bin_edges"])]
    RETRIEVERS = select("retrievers", config["retrievers"])
    BENCHMARKS = select("benchmarks", config["benchmarks"])
    RELEASED = config["metrics_from"] == "released"
    RELEASE = read_manifest(Path(config["release"]["archive"])) if RELEASED else None
    if RELEASED:  # figures must say what was measured, so all else is as in the run that measured
        check_same_config(RELEASE, config, config["release"]["archive"], ["free_disk_gb"])
except PosbiasError as fault:
    raise WorkflowError(str(fault)) from None

# What is unpacked from a release stands apart from what a run of the same scale measured.
RESULTS = results_folder(config)
STUDIES = config["studies"]
SEED = config["seed"]
ASSETS = {
    name: {key: value for key, value in asset.items() if key != "licence"}
    for name, asset in config["assets"].items()
}
SCALE = {"name": config["scale"], "note": config["scale_note"]}
MAIN = config["benchmarks"]["main"]
POSITIONED = [n for n in BENCHMARKS if config["benchmarks"]["known"][n]["psi_groups"]]
SETTINGS = list(config["balance"]["settings"])
REFERENCES = {reference["name"]: reference for reference in config["references"]}
SHARDS = list(range(config["verification"]["shards"]))


def one_of(names):
    """The pattern of these names; of none, one that nothing matches."""
    return "|".join(names) or r"(?!)"


wildcard_constraints:
    setting="|".join(SETTINGS),
    benchmark="|".join(BENCHMARKS),
    positioned=one_of(POSITIONED),
    reference="|".join(REFERENCES),
    artefact=one_of(config["downloads"]),
    searched=r"[a-z0-9_]+",
    shard=r"\d+",


def sources(script):
    """The modules that a script imports, so that editing one reruns just what uses it."""
    return [str(path.relative_to(workflow.basedir)) for path in library_files(SCRIPTS / script)]


def growing(first):
    """A resource that a job submitted again gets more of: twice, then three times the first."""
    return lambda wildcards, attempt: first * attempt


def files_in(names):
    """The files of users' folders, since a folder's own time tells nothing of what lies deep in it."""
    return [file for name in names for file in files_below(name)]


def commit():
    """The short commit of the checkout, marked if files differ from it, or "unknown"."""
    git = shutil.which("git")
    if not git:
        return "unknown"
    told = subprocess.run(
        [git, "-C", workflow.basedir, "describe", "--always", "--dirty", "--abbrev=7"],
        capture_output=True,
        text=True,
    )
    return told.stdout.strip() or "unknown"


PROVENANCE = (
    RELEASE.provenance()
    if RELEASED
    else {
        "scale": config["scale"],
        "note": config["scale_note"],
        "config_hash": content_hash(config),
        "seed": SEED,
        "commit": commit(),
        "retrievers": RETRIEVERS,
    }
)


def check_disk():
    """Stop before anything runs if the results' disk is nearly full."""
    folder = Path("results")
    folder.mkdir(exist_ok=True)
    free = shutil.disk_usage(folder).free / 1e9
    made = sum(size_below(place) for place in (folder / config["scale"], DOWNLOADS)) / 1e9
    if free + made < config["free_disk_gb"]:
        raise WorkflowError(
            f"{folder.resolve()}: {free:.1f} GB free on this disk and {made:.1f} GB made so far, a "
            f"whole run needs {config['free_disk_gb']} GB (free_disk_gb in the config). Free some "
            "space, or link the folder results to another disk, and run again; to make a part "
            "only: --config free_disk_gb=0."
        )


onstart:
    if not RELEASED:
        check_disk()


def forget_failed():
    """Make every output that a failed run lacks due again.

    Snakemake deletes the outputs of a failed job, but records its new parameters all the same, so
    that the next run would pass the job over where older files that depend on it exist.
    """
    for job in workflow.dag.jobs:
        for file in job.output:
            record = workflow.persistence._read_record(str(file))
            if record and not Path(file).exists():
                record.params = ["made nothing"]
                workflow.persistence._write_record(str(file), record)


onerror:
    forget_failed()
