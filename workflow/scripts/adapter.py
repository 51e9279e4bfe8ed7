"""One way into every script: from Snakemake, from a shell, or from a test.

A script has a `main` whose keyword arguments carry the names of its rule's inputs, outputs and
params. `start(main, snakemake)` binds a rule to them; `start(main)` builds a command line from
the signature, so that `python workflow/scripts/<name>.py --help` always tells the truth.
"""

import contextlib
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from posbias.errors import PosbiasError
from posbias.locks import held
from posbias.logs import set_up_logging

# Inputs that a rule has for the sake of its reruns: library files, files of users' folders.
WATCHED = ("src", "watched")


def _as_paths(value: Any) -> Any:
    """Turn file names of a rule into paths; a named list of files becomes a list of paths."""
    return Path(value) if isinstance(value, str) else [Path(item) for item in value]


def rule_arguments(rule: Any) -> dict[str, Any]:
    """Return the named inputs, outputs and params of a rule, less those of WATCHED."""
    files = {**dict(rule.input.items()), **dict(rule.output.items())}
    arguments = {name: _as_paths(value) for name, value in files.items() if name not in WATCHED}
    return {**arguments, **dict(rule.params.items())}


def start(main: Callable[..., None], rule: Any = None) -> None:
    """Run `main`; a fault that a user can mend ends with its message and exit code 1."""
    set_up_logging(Path(rule.log[0]) if rule is not None and len(rule.log) else None)
    try:
        if rule is not None:
            arguments = rule_arguments(rule)
            states = arguments.get("resume_dir")
            with held(states) if states else contextlib.nullcontext():
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
