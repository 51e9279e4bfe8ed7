"""Every command of README and docs is one that works: its targets, files and options exist."""

import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from runs import environment, run, succeed

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = (README, *sorted((ROOT / "docs").glob("*.md")))
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.yaml"))
BLOCK = re.compile(r"^```(console|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:make|snakemake|python) [^`]+)`")
# What a README may ask for beside this project's own commands; none of them is run here.
TAKEN_ON_TRUST = {
    "apptainer", "cat", "cd", "conda", "docker", "export", "git", "head", "ir_measures", "less",
    "ln", "ls", "mamba", "pip", "scancel", "source", "squeue", "tail",
}  # fmt: skip


def command_lines(kind: str, block: str) -> list[str]:
    """Return the commands of a block; a console block with prompts also holds output."""
    lines = block.replace("\\\n", " ").splitlines()
    if kind == "console" and any(line.startswith("$ ") for line in lines):
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [line.strip() for line in lines if line.strip()]


def simple_commands(line: str) -> list[list[str]]:
    """Split a shell line at && ; | and drop comments, redirections and leading assignments."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    commands: list[list[str]] = [[]]
    redirected = False
    for word in words:
        if word in ("&&", "||", "|", ";"):
            commands.append([])
            redirected = False
        elif set(word) <= set("<>&"):
            redirected = True
        elif redirected:
            redirected = False
        elif commands[-1] or not re.fullmatch(r"\w+=.*", word):
            commands[-1].append(word)
    return [command for command in commands if command]


def readme_commands() -> list[list[str]]:
    """Return every command of the pages' blocks, tables and sentences, each once."""
    text = "\n".join(page.read_text("utf-8") for page in PAGES if page.is_file())
    lines = [line for kind, block in BLOCK.findall(text) for line in command_lines(kind, block)]
    lines += [" ".join(line.split()) for line in INLINE.findall(BLOCK.sub("", text))]
    found = [tuple(command) for line in lines for command in simple_commands(line)]
    return [list(command) for command in dict.fromkeys(found)]


def of(*programs: str) -> list[list[str]]:
    """Return the pages' commands of these programs."""
    return [command for command in readme_commands() if Path(command[0]).name in programs]


@pytest.fixture(scope="module")
def copy(snapshot, tmp_path_factory):
    copy = tmp_path_factory.mktemp("readme") / "checkout"
    shutil.copytree(snapshot, copy)
    return copy


def test_there_is_a_readme_and_it_shows_how_to_begin():
    assert README.is_file()
    programs = [command[0] for command in readme_commands()]
    assert "make" in programs and "snakemake" in programs


def test_every_command_is_of_a_known_program():
    known = {"make", "snakemake", "python", "python3", "pytest", *TAKEN_ON_TRUST}
    assert [c for c in readme_commands() if Path(c[0]).name not in known] == []


@pytest.mark.parametrize("command", of("make"), ids=" ".join)
def test_make_has_the_target(command):
    makefile = (ROOT / "Makefile").read_text("utf-8")
    wanted = [word for word in command[1:] if "=" not in word and not word.startswith("-")]
    assert set(wanted) <= set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    for variable in (word.split("=")[0] for word in command[1:] if "=" in word):
        assert re.search(rf"^{variable} \?=", makefile, re.MULTILINE), variable


@pytest.fixture(scope="module")
def dry_runs(copy):
    """What came of a dry run of every command, two at a time: each takes seconds of one core."""
    # `--sdm conda` asks for conda even in a dry run: the stand-in is there where conda is not.
    path = os.pathsep.join([environment()["PATH"], str(copy / "tests" / "conda" / "bin")])

    def dry(command: list[str]) -> subprocess.CompletedProcess:
        return run(copy, command[0], "-n", *command[1:], more={"PATH": path})

    with ThreadPoolExecutor(2) as pool:
        commands = of("snakemake")
        return dict(zip(map(tuple, commands), pool.map(dry, commands), strict=True))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("command", of("snakemake"), ids=" ".join)
def test_snakemake_accepts_the_command(dry_runs, command):
    done = dry_runs[tuple(command)]
    assert done.returncode == 0, done.stdout[-6000:]


@pytest.mark.slow
def test_scripts_know_the_options_that_they_are_given(copy):
    for command in of("python", "python3"):
        script = next((word for word in command if word.endswith(".py")), None)
        if script is None:
            assert command[1:3] in (["-m", "pip"], ["-m", "venv"], ["-m", "pytest"]), command
            continue
        told = succeed(copy, "python", script, "--help")
        options = {word.split("=")[0] for word in command if word.startswith("--")}
        assert [option for option in options if option not in told] == [], command


def test_pytest_is_given_paths_that_exist():
    for command in of("pytest"):
        paths = [word.split("::")[0] for word in command if "/" in word or word.endswith(".py")]
        assert [path for path in paths if not (ROOT / path).exists()] == [], command


def test_commands_are_taken_out_of_blocks():
    console = (
        "$ make demo CORES=2  # quick\noutput\n$ A=1 snakemake a.pdf \\\n  --cores 2 > log.txt\n"
    )
    lines = command_lines("console", console)
    assert [c for line in lines for c in simple_commands(line)] == [
        ["make", "demo", "CORES=2"],
        ["snakemake", "a.pdf", "--cores", "2"],
    ]
    assert simple_commands("cd x && ls | head -3") == [["cd", "x"], ["ls"], ["head", "-3"]]
    assert command_lines("bash", "make demo\n\nmake test\n") == ["make demo", "make test"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_number_is_left_open(page):
    assert not re.findall(r"@[\w.]+@", page.read_text("utf-8"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_stands_in_a_page_as_it_is_and_is_used_there(example):
    block = f"```yaml\n{example.read_text('utf-8')}```"
    assert [page for page in PAGES if block in page.read_text("utf-8")] != []
    assert any(f"docs/examples/{example.name}" in command for command in readme_commands())


def test_pages_link_to_files_that_exist():
    for page in PAGES:
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
