"""Not conda: answers the calls that Snakemake makes to it, and fills a venv with pip instead.

`PATH=tests/conda/bin:$PATH snakemake --sdm conda ...` then runs every rule in an environment of its
own where no conda is installed. That shows that an environment's file is well formed, that its pins
exist and agree, and that its rules need nothing that it does not name. It does not show that a
channel of conda has these builds.

STANDIN_LENT names packages, separated by spaces, that are not installed but linked from the
site-packages folder STANDIN_LENDER, with all that they need: PyTorch, which is large.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import yaml
from links import lend, normal

VERSION = "24.7.1"  # the least that Snakemake takes
# Names in the channel that are not those of the same package for pip.
PIP_NAMES = {"pytorch": "torch", "matplotlib-base": "matplotlib"}
REFUSED = 2


class Refused(Exception):
    """What this stand-in does not do; the message says why."""


def requirements(file: Path) -> tuple[str, list[str]]:
    """Return the Python version of an environment file, and its packages as pip requirements.

    Raises:
        Refused: the file is not the plain kind with one channel and exact versions.
    """
    said = yaml.safe_load(file.read_text(encoding="utf-8"))
    if sorted(said) != ["channels", "dependencies"]:
        raise Refused(f"{file} says {', '.join(said)}, not channels and dependencies")
    if said["channels"] != ["conda-forge", "nodefaults"]:
        raise Refused(f"{file} has the channels {said['channels']}")
    python, wanted = "", []
    for entry in said["dependencies"]:
        if isinstance(entry, dict):
            wanted += entry["pip"]
            continue
        spec = re.fullmatch(r"([a-z][\w.-]*)=([\w.]+)", entry)
        if spec is None:
            raise Refused(f"{file}: {entry} is not name=version")
        if spec[1] == "python":
            python = spec[2]
        else:
            wanted.append(f"{PIP_NAMES.get(spec[1], spec[1])}=={spec[2]}")
    if inexact := [spec for spec in wanted if not re.fullmatch(r"[\w.\[\]-]+==[\w.]+", spec)]:
        raise Refused(f"{file}: {inexact[0]} is not an exact version")
    if not python:
        raise Refused(f"{file} names no Python")
    return python, wanted


def interpreter(version: str) -> str:
    """Return a Python of this version.

    Raises:
        Refused: neither this process nor PATH has one.
    """
    if version == "{}.{}".format(*sys.version_info):
        return sys.executable
    found = shutil.which(f"python{version}")
    if found is None:
        raise Refused(f"Python {version} is wanted, and PATH has no python{version}")
    return found


def create(file: Path, prefix: Path) -> None:
    """Make the environment of a file as a venv at `prefix`."""
    version, wanted = requirements(file)
    if os.environ.get("STANDIN_LENT") and "STANDIN_LENDER" not in os.environ:
        raise Refused("STANDIN_LENT is set, and STANDIN_LENDER does not say where to lend from")
    subprocess.run([interpreter(version), "-m", "venv", prefix], check=True)
    named = {normal(re.split(r"[\[=]", spec)[0]) for spec in wanted}
    if lent := sorted(named & set(os.environ.get("STANDIN_LENT", "").split())):
        packages = sysconfig.get_path("purelib", "venv", vars={"base": str(prefix)})
        lend(lent, Path(os.environ["STANDIN_LENDER"]), Path(packages))
    pip = [prefix / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    # Bytecode is made of what a rule imports, when it does.
    subprocess.run([*pip, "install", "--quiet", "--no-compile", *wanted], check=True)


def answer(arguments: list[str]) -> str:
    """Do what one call asks for and return what it prints.

    Raises:
        Refused: Snakemake makes no such call.
    """
    match arguments:
        case ["--version"]:
            return f"conda {VERSION}"
        case ["info", "--json"]:
            here = Path(__file__).resolve().parent  # bin/activate is looked for in it
            return json.dumps({"conda_prefix": str(here), "platform": "linux-64"})
        case ["config", "--get", "channel_priority", "--json"]:
            return json.dumps({"get": {"channel_priority": "strict"}})
        case ["env", "create", "--quiet", "--no-default-packages", "--file", file, "--prefix", to]:
            create(Path(file), Path(to))
            return f"made {to}"
        case ["clean", "-y", *_]:
            return ""
    raise Refused(f"conda {' '.join(arguments)} is not a call that Snakemake makes for a run")


if __name__ == "__main__":
    try:
        print(answer(sys.argv[1:]))
    except (Refused, subprocess.CalledProcessError, LookupError) as fault:
        print(f"stand-in for conda: {fault}", file=sys.stderr)
        sys.exit(REFUSED)
