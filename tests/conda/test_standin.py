"""The stand-in for conda answers what Snakemake asks, and takes only files of the plainest kind."""

import importlib.metadata
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import snakemake.deployment.conda
from links import lend, with_needs
from standin import Refused, answer, interpreter, requirements

HERE = Path(__file__).parent
PLAIN = """\
channels: [conda-forge, nodefaults]
dependencies:
  - python=3.11
  - pytorch=2.13.0
  - pip:
      - jsonargparse[signatures]==4.53.0
"""


@pytest.fixture
def written(tmp_path):
    """Return a function that writes an environment file."""

    def write(text: str) -> Path:
        (tmp_path / "env.yaml").write_text(text)
        return tmp_path / "env.yaml"

    return write


def test_names_and_versions_become_those_of_pip(written):
    wanted = ["torch==2.13.0", "jsonargparse[signatures]==4.53.0"]
    assert requirements(written(PLAIN)) == ("3.11", wanted)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("pytorch=2.13.0", "pytorch", "name=version"),
        ("pytorch=2.13.0", "pytorch>=2.13.0", "name=version"),
        ("pytorch=2.13.0", "pytorch=2.13.0=cuda*", "name=version"),
        ("pytorch=2.13.0", "pytorch=2.*", "name=version"),
        ("4.53.0", "4.*", "exact version"),
        ("jsonargparse[signatures]==4.53.0", "-r lock.txt", "exact version"),
        (", nodefaults", "", "channels"),
        ("conda-forge, nodefaults", "nodefaults, conda-forge", "channels"),
        ("dependencies:", "prefix: x\ndependencies:", "prefix"),
        ("  - python=3.11\n", "", "no Python"),
    ],
)
def test_what_is_not_plain_is_refused(written, old, new, fault):
    assert old in PLAIN
    with pytest.raises(Refused, match=fault):
        requirements(written(PLAIN.replace(old, new)))


def test_a_python_that_is_not_there_is_named():
    assert interpreter("{}.{}".format(*sys.version_info)) == sys.executable
    with pytest.raises(Refused, match=r"no python2\.0"):
        interpreter("2.0")


def test_every_call_of_this_snakemake_is_known():
    """Another Snakemake may call conda in other ways: this says so before a run does."""
    source = inspect.getsource(snakemake.deployment.conda)
    called = set(re.findall(r'"(?:conda )([a-z-][^"]*)"', source))
    assert called == {
        "--version",
        "clean -y --tarballs",
        "clean -y --tarballs --packages",
        "config --get channel_priority --json",
        "config --set channel_priority strict &&",  # in containers alone
        "env export {self.address_argument}",  # of environments that rules call by a name
        "info --json",
        "list --explicit {self.address_argument}",  # for archives of packages
    }
    for call in ("--version", "clean -y --tarballs", "clean -y --tarballs --packages",
                 "config --get channel_priority --json", "info --json"):  # fmt: skip
        assert isinstance(answer(call.split()), str)


def test_it_is_started_by_the_name_of_conda():
    told = subprocess.run(
        [HERE / "bin" / "conda", "info", "--json"], capture_output=True, text=True, check=True
    )
    prefix = Path(json.loads(told.stdout)["conda_prefix"])
    assert (prefix / "bin" / "activate").samefile(HERE / "bin" / "activate")


def test_a_call_that_it_does_not_know_fails_with_a_message():
    told = subprocess.run([HERE / "bin" / "conda", "install", "x"], capture_output=True, text=True)
    assert told.returncode == 2
    assert "conda install x is not a call" in told.stderr and "Traceback" not in told.stderr


def test_activating_puts_the_environment_first_and_drops_foreign_paths(tmp_path):
    script = f'. {HERE}/bin/activate {tmp_path}; echo $PATH; echo "<${{PYTHONPATH-}}>"'
    told = subprocess.run(
        ["bash", "-euc", script], env={"PATH": "/usr/bin:/bin", "PYTHONPATH": "/x"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.split() == [f"{tmp_path}/bin:/usr/bin:/bin", "<>"]


def distribution(site: Path, name: str, needs: list[str], files: dict[str, str]) -> None:
    """Write an installed package into a site-packages folder."""
    info = f"{name}-1.0.dist-info"
    needed = "".join(f"Requires-Dist: {need}\n" for need in needs)
    told = {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needed}"}
    for file, text in (files | told).items():
        path = site / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    listed = [*files, *told, f"{info}/RECORD", f"../../bin/{name}"]
    (site / info / "RECORD").write_text("".join(f"{file},,\n" for file in listed))


@pytest.fixture
def site(tmp_path):
    """A folder of packages: a needs B[more] on this system and C on none; B[more] needs D."""
    site = tmp_path / "lender"
    distribution(site, "a_a", ["B.b[more]", "c; sys_platform == 'none'", "e; extra == 'x'"],
                 {"a_a.py": "A = 1", "common/a.py": "A = 2"})  # fmt: skip
    distribution(site, "b_b", ["d>=1; extra == 'more'"], {"common/b.py": "B = 2"})
    distribution(site, "d", ["a-a"], {"d.py": "D = 3"})  # a circle
    distribution(site, "f", [], {"f.py": "F = 4"})
    return site


def test_what_a_package_needs_is_found(site):
    assert set(with_needs(["A-a"], site)) == {"a-a", "b-b", "d"}
    assert set(with_needs(["b.b"], site)) == {"b-b"}
    with pytest.raises(LookupError, match="has no g"):
        with_needs(["g"], site)


def test_packages_are_lent_file_by_file_and_what_is_there_stays(site, tmp_path):
    borrower = tmp_path / "borrower"
    distribution(borrower, "d", [], {"d.py": "own"})
    assert lend(["a-a"], site, borrower) == {"a-a": "1.0", "b-b": "1.0"}
    assert (borrower / "common" / "a.py").read_text() == "A = 2"
    assert (borrower / "common" / "b.py").is_symlink()
    assert (borrower / "d.py").read_text() == "own"
    assert not (tmp_path / "bin").exists()
    found = importlib.metadata.distributions(path=[str(borrower)])
    assert {each.name for each in found} == {"a_a", "b_b", "d"}
