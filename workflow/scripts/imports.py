"""The files of this folder that a script imports, found by reading it and them."""

import ast
from pathlib import Path


def imported_names(source: Path) -> set[str]:
    """Return the dotted names that a file imports anywhere, also inside functions."""
    names = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def library_files(script: Path) -> list[Path]:
    """Return the modules beside `script` that it imports, directly or through others, sorted.

    With them the files in the folder `templates` beside a module that names this folder.
    """
    root = script.parent
    found: set[Path] = set()
    waiting = [script]
    while waiting:
        for name in imported_names(waiting.pop()):
            parts = name.split(".")
            for depth in range(1, len(parts) + 1):  # importing a.b.c runs a and a.b as well
                module = root.joinpath(*parts[:depth])
                for path in (module.with_suffix(".py"), module / "__init__.py"):
                    if path.is_file() and path not in found:
                        found.add(path)
                        waiting.append(path)
    templates = {
        template
        for path in found
        if '"templates"' in path.read_text(encoding="utf-8")
        for template in (path.parent / "templates").glob("*.*")
    }
    return sorted(found | templates)
