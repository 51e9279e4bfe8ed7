"""Both container recipes install exactly what `make install` does. No container is run here."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from test_packaging import ENVIRONMENTS, ROOT, environment_pins, read_pins, run_time_pins

DOCKERFILE = ROOT / "container" / "Dockerfile"
APPTAINER = ROOT / "container" / "apptainer.def"
ENVIRONMENT = "/opt/venv"


def lines(file: Path) -> list[str]:
    """Return the lines of a recipe, less comments; continued lines joined."""
    text = re.sub(r"^ *#.*\n", "", file.read_text("utf-8"), flags=re.MULTILINE)
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def dockerfile() -> list[tuple[str, str]]:
    """Return instruction and argument of each step of the Dockerfile."""
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines(DOCKERFILE)]


def apptainer() -> dict[str, list[str]]:
    """Return the lines of each section of the apptainer recipe; the head's are under ""."""
    sections: dict[str, list[str]] = {"": []}
    for line in lines(APPTAINER):
        if line.startswith("%"):
            sections[line.removeprefix("%").strip()] = []
        else:
            list(sections.values())[-1].append(line.strip())
    return sections


def shell_steps(recipe: str) -> list[str]:
    """Return the commands that build an image, one by one."""
    if recipe == "docker":
        chains = [argument for step, argument in dockerfile() if step == "RUN"]
    else:
        chains = apptainer()["post"]
    return [" ".join(step.split()) for chain in chains for step in chain.split("&&")]


def copied(recipe: str) -> set[str]:
    """Return the names of the checkout's files and folders that the installation can see."""
    if recipe == "docker":
        return {argument.split()[0] for step, argument in dockerfile() if step == "COPY"}
    return {line.split()[0] for line in apptainer()["files"]}


RECIPES = ("docker", "apptainer")


def test_recipes_have_no_other_parts_than_those_that_are_looked_at():
    assert [step for step, _ in dockerfile()] == [
        "FROM", "RUN", "ARG", "WORKDIR", "COPY", "COPY", "RUN", "ENV", "RUN", "WORKDIR", "CMD",
    ]  # fmt: skip
    told = {step: argument for step, argument in dockerfile()}
    assert told["ARG"] == "TORCH_ARGS="
    assert told["CMD"] == '["snakemake", "--cores", "all"]'
    names = [word.split("=")[0] for word in told["ENV"].split()]
    assert names == ["PATH", "HOME", "MPLBACKEND"]
    assert [argument for step, argument in dockerfile() if step == "COPY"] == [
        "Makefile ./", "envs ./envs",
    ]  # fmt: skip
    assert list(apptainer()) == ["", "files", "post", "environment", "runscript", "test"]
    assert len(apptainer()["environment"]) == 2
    assert apptainer()["files"] == ["Makefile /opt/posbias/Makefile", "envs /opt/posbias/envs"]


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipes_commands_are_one_after_the_other_and_nothing_more(recipe):
    hidden = re.compile(r"[;|`]|\$\(|&(?!&)")
    assert [step for step in shell_steps(recipe) if hidden.search(step)] == []


@pytest.mark.parametrize("recipe", RECIPES)
def test_packages_come_from_the_makefile_alone(recipe):
    programs = {shlex.split(step)[0] for step in shell_steps(recipe)}
    assert programs <= {"apt-get", "cd", "git", "make", "rm"}
    [install] = [step for step in shell_steps(recipe) if step.startswith("make ")]
    assert shlex.split(install)[:3] == ["make", "install", f"VENV={ENVIRONMENT}"]
    [system] = [step for step in shell_steps(recipe) if step.startswith("apt-get install")]
    assert system == "apt-get install -y --no-install-recommends git make"


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_is_copied_suffices_to_install_exactly_the_lock(recipe, tmp_path):
    for name in copied(recipe):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    [install] = [step for step in shell_steps(recipe) if step.startswith("make ")]
    command = [word.replace("$TORCH_ARGS", "") for word in shlex.split(install)]
    # As in an empty container: neither the folder of the environment nor a pip of one is there.
    command = [word.replace(ENVIRONMENT, str(tmp_path / "venv")) for word in command]
    told = subprocess.run(
        [*command, "--dry-run"], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={name: value for name, value in os.environ.items() if "MAKE" not in name},
    ).stdout  # fmt: skip
    calls = [shlex.split(line.split(" -m pip ")[1]) for line in told.splitlines()
             if " install " in line and " -m pip " in line]  # fmt: skip
    pins: dict[str, str] = {}
    for call in calls:
        words = iter(call[call.index("install") + 1 :])
        for word in words:
            if word == "-r":
                pins |= read_pins(next(words))
            elif not word.startswith("-"):
                name, version = word.split("==")
                pins[name] = version
    assert pins == run_time_pins() | read_pins("envs/requirements-assets.txt")
    assert pins["torch"] and pins["snakemake"]
    assert all("--no-deps" in call for call in calls if "-r" in call)


def test_both_begin_from_the_python_of_the_conda_environments():
    [base] = [argument for step, argument in dockerfile() if step == "FROM"]
    assert apptainer()[""] == ["Bootstrap: docker", f"From: {base}"]
    version = {environment_pins(file)["python"] for file in ENVIRONMENTS}
    assert {re.fullmatch(r"python:([\d.]+)-slim-\w+", base)[1]} == version


def test_both_put_the_environment_first_in_the_path():
    told = dict(word.split("=", 1) for step, argument in dockerfile() if step == "ENV"
                for word in argument.split())  # fmt: skip
    assert told["PATH"] == f"{ENVIRONMENT}/bin:$PATH"
    assert f"export PATH={ENVIRONMENT}/bin:$PATH" in apptainer()["environment"]
