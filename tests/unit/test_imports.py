"""The files that a script depends on, so that editing one reruns just what uses it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from imports import imported_names, library_files

SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"
ENTRIES = sorted(
    path for path in SCRIPTS.glob("*.py") if "start(main" in path.read_text("utf-8")
    and path.stem != "adapter"
)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A small folder of scripts: direct, lazy, transitive and circular imports."""
    sources = {
        "script.py": "import os\nfrom lib.a import thing\nimport helper\n",
        "helper.py": "def f():\n    import lib.lazy\n",
        "lib/__init__.py": "",
        "lib/a.py": "from lib import b\n\ndef thing():\n    from lib.deep.c import x\n",
        "lib/b.py": "from lib.a import thing  # a circle\n",
        "lib/lazy.py": "if False:\n    import lib.typed as t\n",
        "lib/typed.py": "import numpy.linalg\n",
        "lib/deep/__init__.py": "from lib.deep import d\n",
        "lib/deep/c.py": "",
        "lib/deep/d.py": "",
        "lib/unused.py": "from lib import a\n",
        "other.py": "import lib.unused\n",
    }
    for name, text in sources.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def found(folder: Path, script: str) -> set[str]:
    return {str(path.relative_to(folder)) for path in library_files(folder / script)}


def test_finds_lazy_and_transitive_imports(folder):
    files = found(folder, "script.py")
    assert {"helper.py", "lib/a.py", "lib/b.py", "lib/deep/c.py", "lib/lazy.py",
            "lib/typed.py"} <= files  # fmt: skip
    assert not files & {"script.py", "other.py", "lib/unused.py"}


def test_importing_a_module_runs_the_packages_around_it(folder):
    # `from lib.deep.c import x` runs lib/deep/__init__.py, and with it lib/deep/d.py.
    assert {"lib/deep/__init__.py", "lib/deep/d.py"} <= found(folder, "script.py")


def test_the_list_is_sorted_and_repeats_nothing(folder):
    files = library_files(folder / "script.py")
    assert files == sorted(set(files))


def test_a_change_elsewhere_changes_nothing(folder):
    before = found(folder, "script.py")
    (folder / "lib/unused.py").write_text("import helper\nimport other\n")
    assert found(folder, "script.py") == before
    (folder / "helper.py").write_text("import lib.unused\n")
    assert found(folder, "script.py") == before - {"lib/lazy.py", "lib/typed.py"} | {
        "lib/unused.py", "other.py"
    }  # fmt: skip


def test_templates_belong_to_the_module_that_names_their_folder(folder):
    templates = folder / "library" / "templates"
    templates.mkdir(parents=True)
    (templates / "page.j2").write_text("x")
    (folder / "library" / "__init__.py").touch()
    (folder / "library" / "page.py").write_text('FOLDER = "templates"\n')
    (folder / "library" / "other.py").write_text("VALUE = 1\n")
    (folder / "draw.py").write_text("from library import page\n")
    (folder / "count.py").write_text("from library import other\n")
    assert templates / "page.j2" in library_files(folder / "draw.py")
    assert templates / "page.j2" not in library_files(folder / "count.py")


def test_names_of_every_kind_of_import(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("import x.y as z, w\nfrom p.q import r as s, t\nfrom . import no\n")
    assert imported_names(path) == {"x.y", "w", "p.q", "p.q.r", "p.q.t"}


def test_there_are_scripts():
    assert len(ENTRIES) >= 14


@pytest.mark.parametrize("script", ENTRIES, ids=lambda path: path.stem)
def test_every_library_name_in_a_script_is_covered(script):
    """Read the sources in another way: every `posbias.x.y` that is a file must be listed."""
    files = set(library_files(script))
    for source in [script, *files]:
        for name in re.findall(r"^\s*(?:from|import) (posbias[.\w]*)", source.read_text(), re.M):
            module = SCRIPTS.joinpath(*name.split(".")).with_suffix(".py")
            assert not module.is_file() or module in files, f"{source.name} imports {name}"
    assert SCRIPTS / "adapter.py" in files
    assert SCRIPTS / "posbias" / "errors.py" in files


def loaded_modules(script: str) -> set[Path]:
    """Import a script in a process of its own and return the files of this project it loads."""
    code = (
        f"import sys, {script}\n"
        "for m in list(sys.modules.values()):\n"
        "    print(getattr(m, '__file__', None) or '')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, check=True
    )
    files = {Path(line) for line in done.stdout.splitlines() if line}
    return {file for file in files if SCRIPTS in file.parents}


@pytest.mark.parametrize("script", ["train_retriever", "score_candidates", "make_psi_table"])
def test_what_python_loads_is_listed(script):
    loaded = loaded_modules(script) - {SCRIPTS / f"{script}.py"}
    # A package's own file may be missing from the list as long as it only holds a docstring.
    empty = {path for path in loaded if path.name == "__init__.py" and is_only_docstring(path)}
    assert len(loaded) > 5
    assert loaded - empty <= set(library_files(SCRIPTS / f"{script}.py"))


def is_only_docstring(path: Path) -> bool:
    body = ast.parse(path.read_text("utf-8")).body
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
               for node in body)  # fmt: skip


def test_the_library_has_only_imports_that_the_finder_reads():
    for path in SCRIPTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            relative = isinstance(node, ast.ImportFrom) and node.level
            star = isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
            assert not relative and not star, f"{path}, line {node.lineno}"


def test_report_scripts_do_not_depend_on_models():
    for name in ("make_psi_table", "make_position_curves", "judge_claims", "check_expected"):
        parts = {path.parent.name for path in library_files(SCRIPTS / f"{name}.py")}
        assert not parts & {"models", "training"}, name
