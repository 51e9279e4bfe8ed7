"""The rules' environments, built from their files by tests/conda, are enough to run in.

Snakemake appends its own search path to that of every script, so a package that an environment
lacks would come from the driver's without a word. The driver of these runs is therefore a bare
one, that has Snakemake and what the rules import: there is nothing to lean on.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from links import lend, normal, with_needs
from runs import LIMIT, RESULTS, environment, hashes, jobs, namespace, snakemake, succeed
from standin import requirements

from imports import imported_names, library_files
from test_environments import RULES, needed
from test_packaging import ENVIRONMENTS, SCRIPTS, environment_pins, read_pins

ROOT = Path(__file__).parents[2]
SITE = Path(sysconfig.get_path("purelib"))
# docs/environments.md installs these two for the one who starts a run.
DRIVER = ("snakemake", "numpy")
# Rules of all three environments: text, weights, judging, a training, a table.
TARGETS = ("figures/filter_table.pdf", f"{RESULTS}/models/bert/begin")
PYTHON = "3.11"  # what the environments pin

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(
        platform.python_version_tuple()[:2] != tuple(PYTHON.split("."))
        and not shutil.which(f"python{PYTHON}"),
        reason=f"the environments want Python {PYTHON}, and there is no python{PYTHON} here",
    ),
]


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Path:
    """The Python of an environment that holds Snakemake, numpy, and what these need."""
    folder = tmp_path_factory.mktemp("driver")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    vars = {"base": str(folder), "platbase": str(folder)}
    lend(list(DRIVER), SITE, Path(sysconfig.get_path("purelib", "venv", vars=vars)))
    return folder / "bin" / "python"


def settings(driver: Path) -> dict[str, str]:
    """Return the environment variables of a run of a bare driver, with the stand-in for conda."""
    own = str(Path(sys.executable).parent)
    path = [folder for folder in environment()["PATH"].split(os.pathsep) if folder != own]
    return {
        "PATH": os.pathsep.join([str(ROOT / "tests" / "conda" / "bin"), str(driver.parent), *path]),
        "PIP_CONSTRAINT": str(ROOT / "envs" / "lock.txt"),
        "STANDIN_LENT": "torch",
        "STANDIN_LENDER": str(SITE),
    }


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> None:
    """An index of packages; none of these tests runs without."""
    folder = tmp_path_factory.mktemp("index")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
    if subprocess.run([*pip, "pip==24.0"], capture_output=True).returncode:
        pytest.skip("no package index can be reached, from which environments could be made")


@pytest.fixture(scope="module")
def copy(index, snapshot, driver, tmp_path_factory):
    """A copy in which Snakemake made every environment that the targets need."""
    copy = tmp_path_factory.mktemp("conda") / "checkout"
    shutil.copytree(snapshot, copy)
    command = snakemake(*TARGETS, "--sdm", "conda", "--conda-create-envs-only")[1:]
    succeed(copy, str(driver), "-m", "snakemake", *command, limit=1500, more=settings(driver))
    yield copy
    shutil.rmtree(copy)


@pytest.fixture(scope="module")
def prefixes(copy) -> dict[str, Path]:
    """Where each environment lies, by the name of its file; Snakemake names them by a hash."""
    files = {file.read_text("utf-8"): file.stem for file in ENVIRONMENTS}
    made = (copy / ".snakemake" / "conda").glob("*.yaml")
    return {files[file.read_text("utf-8")]: file.with_suffix("") for file in made}


def ask(prefix: Path, code: str, *arguments: str, limit: float = LIMIT) -> str:
    """Run code in an environment's own Python, which sees nothing else, and return its output."""
    done = subprocess.run(
        [prefix / "bin" / "python", "-I", "-c", code, *arguments],
        env=environment() | {"PATH": f"{prefix / 'bin'}{os.pathsep}{os.defpath}"},
        capture_output=True,
        text=True,
        timeout=limit,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def test_all_environments_are_made(prefixes):
    assert prefixes.keys() == {file.stem for file in ENVIRONMENTS}


INSTALLED = """
import json
from importlib.metadata import distributions
print(json.dumps({found.name: found.version.split("+")[0] for found in distributions()}))
"""


@pytest.mark.parametrize("file", ENVIRONMENTS, ids=lambda path: path.stem)
def test_an_environment_holds_its_pins_and_beyond_them_what_the_lock_holds(prefixes, file):
    told = json.loads(ask(prefixes[file.stem], INSTALLED))
    there = {normal(name): version for name, version in told.items()}
    pins = environment_pins(file)
    assert pins.pop("python") == PYTHON
    assert {name: there.get(name) for name in pins} == pins
    beyond = {name: there[name] for name in there.keys() - pins.keys()}
    beyond.pop("setuptools")  # comes with the venv
    lock = read_pins("envs/lock.txt") | read_pins("envs/requirements-assets.txt")
    lent = {name: found.version for name, found in with_needs(["torch"], SITE).items()}
    assert {name: (lock | lent).get(name) for name in beyond} == beyond


# Imports what it is told, then names every file that a module came from.
IMPORTING = """
import importlib, sys
scripts, *names = sys.argv[1:]
sys.path.insert(0, scripts)
for name in names:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as fault:
        module, _, attribute = name.rpartition(".")
        if not module or not name.startswith(fault.name or " "):
            raise
        getattr(importlib.import_module(module), attribute)
for module in list(sys.modules.values()):
    print(getattr(module, "__file__", None) or "")
"""


def names_behind(script: Path) -> set[str]:
    """Return every name that a script and its modules import, each module of this project too."""
    files = [file for file in library_files(script) if file.suffix == ".py"]
    own = {".".join(file.relative_to(SCRIPTS).with_suffix("").parts) for file in [script, *files]}
    names = set().union(*map(imported_names, [script, *files]))
    return {name.removesuffix(".__init__") for name in own} | {
        name for name in names if name.split(".")[0] not in sys.stdlib_module_names
    }


@pytest.mark.parametrize("environment_name", [file.stem for file in ENVIRONMENTS])
def test_scripts_import_all_that_they_ever_import_from_their_own_environment(
    prefixes, environment_name
):
    scripts = {s for s, env in RULES.values() if env == f"{environment_name}.yaml"}
    names = set().union(*(names_behind(SCRIPTS / script) for script in scripts))
    assert len(names) > 40
    prefix = prefixes[environment_name]
    files = ask(prefix, IMPORTING, str(SCRIPTS), *sorted(names)).split("\n")
    library = [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")]
    mine = (f"{prefix}/", f"{SCRIPTS}/", *(f"{folder}/" for folder in library))
    site = f"{SITE}/"  # a venv's standard library is its parent's, so the tests' own lies elsewhere
    # Some modules that packages make at run time say no place, or none that could be one.
    files = [file for file in files if file.startswith("/")]
    foreign = [f for f in files if not f.startswith(mine) or f.startswith(site)]
    assert foreign == []


def test_the_bare_driver_has_next_to_nothing_that_scripts_need(driver):
    wanted = set().union(*(needed(SCRIPTS / script) for script, _ in RULES.values()))
    there = json.loads(ask(driver.parents[1], INSTALLED))
    assert wanted & {normal(name) for name in there} == {"jinja2", "numpy", "pyyaml"}


def test_rules_run_in_them_and_give_what_one_environment_for_all_gives(
    copy, driver, prefixes, reference
):
    command = snakemake(*TARGETS, "--sdm", "conda")[1:]
    # Nothing is fetched any more.
    told = succeed(
        copy, *namespace("--net"), str(driver), "-m", "snakemake", *command, more=settings(driver)
    )  # fmt: skip
    assert {RULES[rule][1] for rule in jobs(told)} == {file.name for file in ENVIRONMENTS}
    for prefix in prefixes.values():
        assert f"Activating conda environment: .snakemake/conda/{prefix.name}" in told
    made, plain = (hashes(folder, RESULTS, "figures") for folder in (copy, reference))
    made = {name: hash for name, hash in made.items() if name in plain}
    assert len(made) > 15
    assert {name: plain[name] for name in made} == made


def test_the_training_environment_resolves_to_a_build_for_gpus(index, tmp_path):
    """Nothing is installed; where the index does not tell needs apart from packages, both come."""
    _, wanted = requirements(ROOT / "envs" / "train.yaml")
    # `===` is the build without a suffix, which `==2.13.0` would let 2.13.0+cpu stand for.
    wanted = [spec.replace("torch==", "torch===") for spec in wanted]
    report = tmp_path / "report.json"
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    pip += ["--no-cache-dir", "--report", str(report)]
    done = subprocess.run(
        [*pip, "-c", ROOT / "envs" / "lock.txt", *wanted],
        capture_output=True,
        text=True,
    )
    if "No matching distribution found for torch===" in done.stderr:
        pytest.skip("the package index of this machine has no PyTorch but builds for the CPU")
    assert done.returncode == 0, done.stderr[-4000:]
    found = {
        normal(item["metadata"]["name"]): item["metadata"]["version"]
        for item in json.loads(report.read_text("utf-8"))["install"]
    }
    pins = environment_pins(ROOT / "envs" / "train.yaml")
    pins.pop("python")
    assert {name: found.get(name) for name in pins} == pins
    lock = read_pins("envs/lock.txt")
    assert {name: found[name] for name in lock.keys() & found.keys()} == {
        name: lock[name] for name in lock.keys() & found.keys()
    }
    if (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        assert any(name.startswith("nvidia-") for name in found)
