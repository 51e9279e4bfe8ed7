"""What every rule must say: whom it serves, its environment, its log, its needs, its script."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from runs import namespace

ROOT = Path(__file__).parents[2]
RULE = re.compile(r"^rule (\w+):\n((?:(?: {4}.*)?\n)+)", re.MULTILINE)
DIRECTIVE = re.compile(r"^ {4}(\w+):(.*(?:\n {8}.*)*)", re.MULTILINE)


def rules() -> dict[str, tuple[Path, str]]:
    """Return file and text of every rule in rules/."""
    return {
        name: (path, body)
        for path in sorted((ROOT / "rules").glob("*.smk"))
        for name, body in RULE.findall(path.read_text("utf-8"))
    }


def directives(body: str) -> dict[str, str]:
    """Return what follows each keyword of a rule, less quotes and a last comma."""
    return {name: value.strip("\"', \n") for name, value in DIRECTIVE.findall(body)}


def test_the_pattern_finds_every_rule():
    text = "".join(path.read_text("utf-8") for path in (ROOT / "rules").glob("*.smk"))
    assert len(rules()) == len(re.findall(r"^(?:rule|checkpoint) ", text, re.MULTILINE)) > 0


@pytest.mark.parametrize("name", rules())
def test_a_rule_is_complete(name):
    path, body = rules()[name]
    assert body.startswith('    """'), "no docstring"
    said = directives(body)
    needed = "input output log benchmark conda threads resources message script"
    assert [directive for directive in needed.split() if directive not in said] == []
    for resource in ("mem_mb", "runtime"):
        assert re.search(rf"\b{resource}=", said["resources"]), f"no {resource}"
    for directive in ("script", "conda"):
        file = path.parent / said[directive]
        assert file.is_file(), f"{directive}: {file} does not exist"


@pytest.mark.parametrize("name", rules())
def test_a_log_and_a_benchmark_tell_a_rules_jobs_apart(name):
    said = directives(rules()[name][1])
    wildcards = set(re.findall(r"(?<!\{)\{(\w+)\}(?!\})", said["log"]))
    if wildcards:
        assert f"<logs>/{name}/" in said["log"]
    assert set(re.findall(r"(?<!\{)\{(\w+)\}(?!\})", said["benchmark"])) == wildcards
    stem = said["log"].removeprefix("<logs>").removesuffix(".log")
    assert said["benchmark"] == f"<benchmarks>{stem}.tsv"


def test_every_script_belongs_to_a_rule():
    used = {Path(directives(body)["script"]).name for _, body in rules().values()}
    scripts = {
        path.name
        for path in (ROOT / "workflow" / "scripts").glob("*.py")
        if 'if "snakemake" in globals():' in path.read_text("utf-8")
    }
    assert scripts == used


def test_the_snakefile_is_short_and_includes_every_rule_file():
    text = (ROOT / "Snakefile").read_text("utf-8")
    assert len(text.splitlines()) <= 60
    own = re.findall(r'^include: f?"rules/(.+)"$', text, re.MULTILINE)
    chosen = "{config['metrics_from']}.smk"
    assert chosen in own
    measured = (ROOT / "rules" / "computed.smk").read_text("utf-8")
    included = [*own, *re.findall(r'^include: "(.+)"$', measured, re.MULTILINE)]
    included += ["computed.smk", "released.smk"]
    assert sorted(set(included) - {chosen}) == [
        p.name for p in sorted((ROOT / "rules").glob("*.smk"))
    ]


def test_runs_of_these_tests_have_no_network():
    """Where namespaces are not permitted the other tests run all the same, and prove less."""
    if not namespace("--net"):
        pytest.skip("no network namespaces here: that runs fetch nothing is not enforced")
    code = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    done = subprocess.run(
        [*namespace("--net"), sys.executable, "-c", code], capture_output=True, text=True
    )
    assert "Network is unreachable" in done.stderr


def test_the_shrunken_overlay_changes_only_what_the_configuration_has(config):
    def unknown(overlay: dict, known: dict, above: str = "") -> list[str]:
        found = [f"{above}{key}" for key in overlay if key not in known]
        for key in overlay.keys() & known.keys():
            if isinstance(overlay[key], dict):
                found += unknown(overlay[key], known[key], f"{above}{key}.")
        return found

    overlay = yaml.safe_load((Path(__file__).parent / "shrunken.yaml").read_text("utf-8"))
    assert unknown(overlay, config) == []
