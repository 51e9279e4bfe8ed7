"""The environment of a rule holds all that the rule's script imports or reads, and nothing else."""

import functools
import re
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from links import with_needs

from imports import imported_names, library_files
from test_packaging import ENVIRONMENTS, IMPORT_NAMES, ROOT, SCRIPTS, environment_pins, normal

RULE = re.compile(r"^(?:use )?rule (\w+)(?: as (\w+) with)?:\n((?:(?: {4}.*)?\n)+)", re.MULTILINE)
# Packages that a package needs for what this project asks of it, though it does not say so itself,
# or says so only of an extra; and those that stand for a file format.
NEEDED_BY = {
    "jsonargparse": {"docstring-parser", "typeshed-client"},  # help texts and types of `main`
    "sentence-transformers": {"accelerate", "datasets"},  # its trainer
    "ir-measures": {"pytrec-eval-terrier"},
}
# By what a script's modules say: the format's reader.
NEEDED_FOR = {
    r"\.(?:to|read)_parquet\(": "pyarrow",
    r"\bgguf_file\b": "gguf",
    r"\bTrainingArguments\b": "accelerate",
}
# Packages of the configuration whose files a script reads. No module imports them.
READ_AS_DATA = {
    "build_corpus": {"wikipedia"},
    "build_benchmark": {"leads"},
    "select_passages": {"leads"},
    "prepare_encoders": {"minilm_l3", "minilm_l6"},
    "prepare_smollm2": {"smollm2"},
}


def rules() -> dict[str, tuple[str, str | None]]:
    """Return script and environment of every rule that runs a script; heirs have their parent's."""
    bodies = {}
    for file in sorted((ROOT / "rules").glob("*.smk")):
        for name, heir, body in RULE.findall(file.read_text("utf-8")):
            bodies[heir or name] = body if not heir else bodies[name] + body
    said = {
        name: [
            re.findall(rf'^ {{4}}{directive}:\n {{8}}"\.\./{folder}/([\w.]+)"$', body, re.M)
            for directive, folder in (("script", "workflow/scripts"), ("conda", "envs"))
        ]
        for name, body in bodies.items()
    }
    return {
        name: (scripts[-1], environments[-1] if environments else None)
        for name, (scripts, environments) in said.items()
        if scripts
    }


RULES = rules()


library_of = functools.cache(library_files)


@functools.cache
def needed_by_file(file: Path) -> set[str]:
    """Return the packages from outside that a file imports, also inside functions, or that it
    needs for what it asks of them."""
    own = {path.stem for path in SCRIPTS.iterdir()}
    outside = {name.split(".")[0] for name in imported_names(file)} - own - sys.stdlib_module_names
    packages = {normal(IMPORT_NAMES.get(module, module)) for module in outside}
    text = file.read_text("utf-8")
    packages |= {name for pattern, name in NEEDED_FOR.items() if re.search(pattern, text)}
    return packages.union(*(NEEDED_BY.get(package, ()) for package in packages))


def needed(script: Path) -> set[str]:
    """Return the packages that a script cannot do without."""
    modules = (file for file in library_of(script) if file.suffix == ".py")
    return set().union(*map(needed_by_file, [script, *modules]))


def data_packages(config: dict, assets: set[str]) -> set[str]:
    """Return the packages of some assets of the configuration."""
    return {normal(config["assets"][name]["package"]) for name in assets}


def direct_needs(package: str) -> set[str]:
    """Return what a package says itself that it needs, extras left out."""
    said = [need for need in metadata.requires(package) or [] if "extra ==" not in need]
    return {normal(re.match(r"[\w.-]+", need)[0]) for need in said}


def held(environment: str) -> set[str]:
    """Return the packages that an environment names, in its file or its post-deploy script."""
    file = ROOT / "envs" / environment
    script = file.with_suffix(".post-deploy.sh")
    added = re.findall(r"^([\w.-]+)==", script.read_text("utf-8"), re.M) if script.exists() else []
    return environment_pins(file).keys() | {normal(name) for name in added}


def test_every_rule_and_its_heirs_are_found():
    text = "".join(path.read_text("utf-8") for path in (ROOT / "rules").glob("*.smk"))
    assert len(RULES) == len(re.findall(r"^(?:use )?rule \w", text, re.MULTILINE)) > 60
    assert RULES["make_fine_position_curves"] == RULES["make_position_curves"]
    assert "run:" not in text and "shell:" not in text


def test_every_rule_names_an_environment_and_every_environment_is_named():
    named = {environment for _, environment in RULES.values()}
    assert named == {file.name for file in ENVIRONMENTS}


@pytest.mark.parametrize("rule", RULES)
def test_the_environment_of_a_rule_holds_what_its_script_imports(rule):
    script, environment = RULES[rule]
    assert sorted(needed(SCRIPTS / script) - held(environment)) == []


def test_the_environment_of_a_rule_holds_the_packages_whose_files_it_reads(config):
    finder = SCRIPTS / "posbias" / "assets.py"
    readers = {r for r, (script, _) in RULES.items() if finder in library_of(SCRIPTS / script)}
    assert readers == READ_AS_DATA.keys()
    missing = {
        rule: data_packages(config, assets) - held(RULES[rule][1])
        for rule, assets in READ_AS_DATA.items()
    }
    assert {rule: packages for rule, packages in missing.items() if packages} == {}


@pytest.mark.parametrize("file", ENVIRONMENTS, ids=lambda path: path.stem)
def test_an_environment_names_nothing_that_no_script_of_its_rules_needs(file, config):
    wanted: set[str] = set()
    for rule, (script, environment) in RULES.items():
        if environment == file.name:
            wanted |= needed(SCRIPTS / script)
            wanted |= data_packages(config, READ_AS_DATA.get(rule, set()))
    beyond = held(file.name) - wanted - {"python", "pip"}
    assert sorted(beyond - {need for package in wanted for need in direct_needs(package)}) == []


@pytest.mark.parametrize("file", ENVIRONMENTS, ids=lambda path: path.stem)
def test_a_conda_environment_is_written_plainly(file):
    said = yaml.safe_load(file.read_text("utf-8"))
    assert list(said) == ["channels", "dependencies"]
    *specs, pip = said["dependencies"]
    # No build strings, no ranges: builds differ between machines with and without a GPU.
    assert [spec for spec in specs if not re.fullmatch(r"[a-z][\w.-]*=[\w.]+", spec)] == []
    exact = r"[\w.-]+(?:\[\w+\])?==[\w.]+"
    assert list(pip) == ["pip"]
    assert [spec for spec in pip["pip"] if not re.fullmatch(exact, spec)] == []
    # conda brings the newest pip where none is pinned, and that is not the one that was tried.
    assert specs[0].startswith("python=") and specs[1].startswith("pip=")


PARSING = """
import importlib.abc, sys
allowed = set(sys.argv[1].split(","))
class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if path is None and top not in allowed and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"{name} comes neither with Snakemake nor numpy", name=name)
sys.meta_path.insert(0, Refuse())
import config_checks, config_files, imports, places, selection
from posbias.release import differences, unpack
"""


def test_rules_can_be_read_where_only_snakemake_and_numpy_are_installed():
    """Where rules have conda environments, the one who starts the run has nothing else."""
    site = Path(sysconfig.get_path("purelib"))
    installed = with_needs(["snakemake", "numpy"], site)
    tops = {name for name, found in metadata.packages_distributions().items()
            if {normal(one) for one in found} & installed.keys()}  # fmt: skip
    own = {path.stem for path in SCRIPTS.iterdir()}
    done = subprocess.run(
        [sys.executable, "-c", PARSING, ",".join(tops | own)],
        cwd=SCRIPTS,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_all_environments_have_the_same_python_and_pip():
    pins = [environment_pins(file) for file in ENVIRONMENTS]
    assert len({(pin["python"], pin["pip"]) for pin in pins}) == 1
