"""One way into every script: from Snakemake, from a shell, or from a test.

A script has a `main` whose keyword arguments carry the names of its rule's inputs, outputs and
params. `start(main, snakemake)` binds a rule to them; `start(main)` builds a command line from
the signature, so that `python workflow/scripts/<name>.py --help` always tells the truth.
"""

import contextlib
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from posbias.errors import PosbiasError
from posbias.files import content_hash, sha256_file
from posbias.kept_states import contents, held, of_one_origin
from posbias.logs import set_up_logging

# Inputs that a rule has for the sake of its reruns: library files, files of users' folders.
WATCHED = ("src", "watched")


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _as_paths(value: Any) -> Any:
    """Turn file names of a rule into paths; a named list of files becomes a list of paths."""
    return Path(value) if isinstance(value, str) else [Path(item) for item in value]


def rule_arguments(rule: Any) -> dict[str, Any]:
    """Return the named inputs, outputs and params of a rule, less those of WATCHED."""
    files = {**dict(rule.input.items()), **dict(rule.output.items())}
    arguments = {name: _as_paths(value) for name, value in files.items() if name not in WATCHED}
    return {**arguments, **dict(rule.params.items())}


def _script_of(main: Callable[..., None]) -> Path:
    """Return the script of a `main`: what Snakemake runs is a copy, `tmpabc.<name>.py`."""
    copy = Path(main.__code__.co_filename)
    return Path(__file__).with_name(".".join(copy.name.split(".")[-2:]))


def origin_of(main: Callable[..., None], rule: Any) -> dict[str, str]:
    """Return what a job's states rest on: hashes of its code and of each of its inputs, by name.

    Where the checkout lies does not matter: a run may go on in a container.
    """
    files = {name: [Path(file) for file in _listed(value)] for name, value in rule.input.items()}
    code = [_script_of(main), *files.pop("src", [])]
    return {
        "code": content_hash(sorted(map(sha256_file, code)), length=32),
        **{name: content_hash([contents(file) for file in of]) for name, of in files.items()},
    }


@contextlib.contextmanager
def own_states(main: Callable[..., None], rule: Any, folder: Path | None) -> Iterator[None]:
    """Keep the folder of a job's states, if it has one, to one process, one code, one input."""
    if folder is None:
        yield
        return
    with held(folder):
        of_one_origin(folder, origin_of(main, rule))
        yield


def start(main: Callable[..., None], rule: Any = None) -> None:
    """Run `main`; a fault that a user can mend ends with its message and exit code 1."""
    set_up_logging(Path(rule.log[0]) if rule is not None and len(rule.log) else None)
    try:
        if rule is not None:
            arguments = rule_arguments(rule)
            with own_states(main, rule, arguments.get("resume_dir")):
                main(**arguments)
        else:
            from jsonargparse import auto_cli

            auto_cli(main, as_positional=False)
    except PosbiasError as fault:
        logging.getLogger("posbias").error("error: %s", fault)
        sys.exit(1)
    except KeyboardInterrupt:
        logging.getLogger("posbias").error("interrupted; the next run goes on from here")
        sys.exit(130)
