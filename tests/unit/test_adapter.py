"""Every script runs from Snakemake, from a shell and from a test, and says the same in all."""

import importlib
import inspect
import json
import logging
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import adapter
from posbias.errors import DataError
from posbias.files import read_jsonl, write_jsonl

SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"
NAMES = sorted(
    path.stem
    for path in SCRIPTS.glob("*.py")
    if 'if "snakemake" in globals():' in path.read_text("utf-8")
)


@pytest.fixture(autouse=True)
def own_logging():
    """Undo what set_up_logging does to the root logger."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers, root.level = handlers, level


@pytest.fixture(scope="module")
def rules(root, tmp_path_factory) -> dict:
    """The workflow's rules as Snakemake reads them, by the name of their script."""
    api = pytest.importorskip("snakemake.api")
    from snakemake.settings.types import ConfigSettings, OutputSettings, ResourceSettings

    folder, before, path = tmp_path_factory.mktemp("workdir"), Path.cwd(), list(sys.path)
    for name in ("config.yaml", "config"):
        if (root / name).is_file():
            shutil.copy(root / name, folder)
    archive = root / "released" / "mini.tar.xz"
    released = {"metrics_from": "released", "release": {"archive": str(archive), "sha256": None}}
    os.chdir(folder)  # so that Snakemake's own files stay out of the checkout
    found = {}
    try:
        with api.SnakemakeApi(OutputSettings()) as snakemake:
            for changed in (released, {}):
                workflow = snakemake.workflow(
                    ResourceSettings(cores=1),
                    config_settings=ConfigSettings(config=changed),
                    snakefile=root / "Snakefile",
                    workdir=folder,
                )._workflow
                found |= {Path(rule.script).stem: rule for rule in workflow.rules if rule.script}
        return found
    finally:
        os.chdir(before)
        sys.path[:] = path


def main_of(name: str) -> Callable[..., None]:
    return importlib.import_module(name).main


@pytest.mark.parametrize("name", NAMES)
def test_the_arguments_of_main_are_those_of_its_rule(rules, name):
    rule = rules[name]
    named = [dict(part.items()) for part in (rule.input, rule.output, rule.params)]
    arguments = [key for part in named for key in part if key not in adapter.WATCHED]
    assert len(set(arguments)) == len(arguments), "a name stands for two things"
    parameters = inspect.signature(main_of(name)).parameters
    needed = {n for n, p in parameters.items() if p.default is p.empty}
    assert needed <= set(arguments) <= set(parameters)
    # Snakemake passes by name alone: nothing may stand unnamed.
    for part, items in zip((rule.input, rule.output), named, strict=False):
        assert len(part) == sum(len(v) if isinstance(v, list) else 1 for v in items.values())
    assert len(rule.params) == len(named[2])


def test_every_rule_has_a_script_that_is_tested(rules):
    assert sorted(rules) == NAMES


def test_every_rule_watches_its_library_and_says_where_it_logs(rules):
    for name, rule in rules.items():
        assert any("posbias/errors.py" in str(path) for path in rule.input.src), name
        assert len(rule.log) == 1, name
        assert rule.docstring, name


def test_parameters_hold_no_path_variables(rules):
    # Snakemake fills in <results> in files only: in a parameter it would name a folder.
    for name, rule in rules.items():
        for key, value in rule.params.items():
            assert not (isinstance(value, str) and "<" in value), f"{name}: {key}"


@pytest.mark.parametrize("name", NAMES)
def test_help_names_every_argument(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPTS / f"{name}.py"), run_name="__main__")
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for argument in inspect.signature(main_of(name)).parameters:
        assert re.search(rf"^\s+(--)?{argument}\b", said, re.MULTILINE), f"no {argument} in\n{said}"


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_has_a_type_and_an_explanation(name):
    documented = inspect.getdoc(main_of(name)).split("Args:")[1]
    explained = re.findall(r"^    (\w+): \S", documented, re.MULTILINE)
    parameters = inspect.signature(main_of(name)).parameters
    assert sorted(explained) == sorted(parameters)
    assert all(p.annotation is not p.empty for p in parameters.values())


def shell(script: str, *arguments: object, cwd: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, str(SCRIPTS / script), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def balance(folder: Path) -> subprocess.CompletedProcess:
    arguments = {
        "pool": "pool.jsonl",
        "pairs": ["begin.jsonl"],
        "budget": "budget.json",
        "settings": {"begin": {"begin": 1.0}},
        "bins": ["20-40"],
        "least": 1,
        "seed": 42,
    }
    (folder / "arguments.json").write_text(json.dumps(arguments))
    return shell("balance_settings.py", "--config", "arguments.json", cwd=folder)


def test_a_script_runs_from_a_shell_in_any_folder(tmp_path):
    rows = [
        {"query_id": f"q{p}{n}", "doc_id": f"d{n}", "bin": "20-40", "position": p}
        for p in ("begin", "middle", "end")
        for n in range(3)
    ]
    write_jsonl(tmp_path / "pool.jsonl", rows)
    done = balance(tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(read_jsonl(tmp_path / "begin.jsonl")) == 3
    assert "setting begin: 3 queries" in done.stderr


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"query_id": "q"', "pool.jsonl, line 1: not a JSON object"),
        ('{"query_id": "q"}', "the field(s) doc_id, bin, position are missing"),
        (None, "pool.jsonl"),
    ],
    ids=["broken", "incomplete", "missing"],
)
def test_a_fault_that_a_user_can_mend_ends_with_its_message_alone(tmp_path, line, fault):
    if line is not None:
        (tmp_path / "pool.jsonl").write_text(f"{line}\n")
    done = balance(tmp_path)
    assert done.returncode == 1
    assert "error: " in done.stderr and fault in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "begin.jsonl").exists()


def test_wrong_arguments_end_with_usage_and_not_with_a_traceback(tmp_path):
    done = shell("balance_settings.py", "--least", "many", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


class Named(list):
    """Names and files as Snakemake's own lists have them."""

    def __init__(self, **named: object) -> None:
        super().__init__(named.values())
        self.items = lambda: named.items()


def rule(tmp_path, **changes) -> SimpleNamespace:
    parts = {
        "input": Named(one="a.txt", many=["b.txt", "c.txt"], none=[], src=["x.py"]),
        "output": Named(result=str(tmp_path / "r.txt")),
        "params": Named(seed=42, name="begin", options={"a": 1}),
        "log": [str(tmp_path / "logs" / "rule.log")],
    }
    return SimpleNamespace(**{**parts, **changes})


def test_a_rule_becomes_arguments(tmp_path):
    assert adapter.rule_arguments(rule(tmp_path)) == {
        "one": Path("a.txt"),
        "many": [Path("b.txt"), Path("c.txt")],
        "none": [],
        "result": tmp_path / "r.txt",
        "seed": 42,
        "name": "begin",
        "options": {"a": 1},
    }


def test_a_rule_logs_to_its_file(tmp_path):
    def main(**arguments):
        logging.getLogger("x").info("%s", json.dumps(sorted(arguments)))

    adapter.start(main, rule(tmp_path))
    said = (tmp_path / "logs" / "rule.log").read_text()
    assert '["many", "name", "none", "one", "options", "result", "seed"]' in said


def test_a_rule_with_a_fault_ends_with_its_message_in_the_log(tmp_path, capsys):
    def main(**arguments):
        raise DataError("pool.jsonl, line 7: wrong; mend it.")

    with pytest.raises(SystemExit) as ended:
        adapter.start(main, rule(tmp_path))
    assert ended.value.code == 1
    said = (tmp_path / "logs" / "rule.log").read_text()
    assert "error: pool.jsonl, line 7: wrong; mend it." in said
    assert "Traceback" not in said
    assert "line 7" in capsys.readouterr().err


def test_a_fault_of_the_program_keeps_its_traceback(tmp_path):
    def main(**arguments):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        adapter.start(main, rule(tmp_path))


def test_a_rule_without_a_log_is_fine(tmp_path):
    called = []
    adapter.start(lambda **arguments: called.append(arguments), rule(tmp_path, log=[]))
    assert len(called) == 1


class Inputs(dict):
    """As Snakemake gives them: by name, one file or several."""


@pytest.fixture
def job(tmp_path):
    """A job with states, of a script that stands beside the adapter, and what runs it."""
    for name in ("texts", "library.py"):
        (tmp_path / name).write_text(name)
    given = Inputs(texts=str(tmp_path / "texts"), src=[str(tmp_path / "library.py")])
    states = tmp_path / "resume/job"
    rule = SimpleNamespace(input=given, output={}, params={"resume_dir": str(states)}, log=[])

    def run(main):
        main.__code__ = main.__code__.replace(co_filename=str(tmp_path / "tmp1.train_retriever.py"))
        adapter.start(main, rule)

    return SimpleNamespace(states=states, run=run, folder=tmp_path)


def test_a_job_goes_on_from_its_states_until_code_or_inputs_change(job):
    found = []

    def main(texts, resume_dir):
        found.append((Path(resume_dir) / "state").exists())
        assert (job.states.parent / ".job.lock").exists()
        (Path(resume_dir) / "state").write_text("half")

    job.run(main)
    job.run(main)
    (job.folder / "library.py").write_text("changed")
    job.run(main)
    job.run(main)
    (job.folder / "texts").write_text("longer texts")
    job.run(main)
    assert found == [False, True, False, True, False]
    assert not (job.states.parent / ".job.lock").exists()


def test_a_second_copy_of_a_job_ends_with_a_message(job, capsys):
    def second(texts, resume_dir):
        pytest.fail("it ran")

    def main(texts, resume_dir):
        with pytest.raises(SystemExit):
            job.run(second)

    job.run(main)
    assert "resume/job: another run (process " in capsys.readouterr().err
