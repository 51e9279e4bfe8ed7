"""Models whose class is Python code of their own: run only where allowed, pinned and local.

The libraries would fetch such code from wherever the model's files point, at whatever state it is
in that day. Here it must lie in a folder that was downloaded at a named commit.
"""

import contextlib
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from posbias.downloads.manifest import MANIFEST, read_manifest
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, write_json
from posbias.models.pinned_files import CODE, checked_hashes, files_of

CONFIGS = ("config.json", "tokenizer_config.json")
NOT_RUN = "it is not run here; name a model whose class the transformers library has"
_COMMIT = re.compile(r"[0-9a-f]{40}")


@contextlib.contextmanager
def loadable_folder(
    folder: Path, used_class: str, trust: bool, code: Path | None, place: str
) -> Iterator[Path]:
    """Yield the folder that a library should load a model from, all code within.

    used_class: the library's class that the model is loaded through, such as AutoModel; trust:
    whether the config allows own code; code: folder of the code if the model's files say that it
    lies in another repository. place: where the model stands in the config.

    Raises ConfigError for own code that is not allowed, not pinned or not there.
    """
    folder = Path(folder)
    if not trust:
        remedy = "read it, and set trust_remote_code: true if it may run"
        refuse_own_code(folder, used_class, f"{place}: {folder}", remedy)
        yield folder
        return
    for source in filter(None, (folder, code)):
        check_pinned(Path(source), place)
    if not code and not _elsewhere(folder):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="posbias-") as scratch:
        # The library keeps a copy of the code by the folder's name, so that stays.
        view = Path(scratch) / folder.name
        view.mkdir()
        _fill(view, folder, code, place)
        yield view


def refuse_own_code(folder: Path, used_class: str, place: str, remedy: str = NOT_RUN) -> None:
    """Raise ConfigError for a model whose config, tokenizer or `used_class` is code of its own.

    With a known model_type the library would take its own class in its place, and load half of
    the model. place: heads the message.
    """
    for file, config in _configs(Path(folder)).items():
        named = {"AutoConfig", used_class, "AutoTokenizer"} & _auto_map(config).keys()
        if named:
            raise ConfigError(
                f"{place} brings its own code (auto_map of {file}: {', '.join(sorted(named))}); "
                f"{remedy}."
            )


def check_pinned(folder: Path, place: str) -> None:
    """Raise ConfigError unless the folder is a download of a commit.

    Raises DataError for code, or a file that chooses code, which is not as it was downloaded.
    """
    manifest = read_manifest(folder) if (folder / MANIFEST).is_file() else {}
    if not _COMMIT.fullmatch(str(manifest.get("revision"))):
        raise ConfigError(
            f"{place}: trust_remote_code would run code from {folder}, which is no download of a "
            f"commit ({MANIFEST} with a revision of 40 hexadecimal digits); name it under "
            "downloads, or set trust_remote_code: false."
        )
    checked_hashes(folder, files_of(folder, (*CODE, "*.json"), below=True))


def _auto_map(config: dict) -> dict:
    """Return the classes that a configuration names; old tokenizers list theirs alone."""
    found = config.get("auto_map") or {}
    return {"AutoTokenizer": found} if isinstance(found, list) else found


def _mapped(config: dict, change: Callable[[str], str]) -> dict:
    """Return the classes of a configuration's auto_map with `change` applied to each reference."""

    def changed(reference: str | list[str | None] | None) -> str | list[str | None] | None:
        if isinstance(reference, list):  # a tokenizer has two, either of which may be missing
            return [changed(one) for one in reference]
        return reference and change(reference)

    return {name: changed(reference) for name, reference in _auto_map(config).items()}


def _configs(folder: Path) -> dict[str, dict]:
    """Return the configurations of a model that may name classes of its own, by file."""
    return {name: _config(folder / name) for name in CONFIGS if (folder / name).is_file()}


def _config(path: Path) -> dict:
    config = read_json(path)
    if not isinstance(config, dict):
        raise DataError(f"{path}: holds no object of settings; fetch the model again.")
    return config


def _elsewhere(folder: Path) -> set[tuple[str, str]]:
    """Return (repository, module file) of each class whose code lies in another repository."""
    references: list[str] = []
    for config in _configs(folder).values():
        _mapped(config, lambda reference: references.append(reference) or reference)
    parts = [reference.partition("--") for reference in references if "--" in reference]
    return {(repository, f"{name.split('.')[0]}.py") for repository, _, name in parts}


def _fill(view: Path, folder: Path, code: Path | None, place: str) -> None:
    """Link model and code into one folder whose configurations point into that folder."""
    for entry in folder.iterdir():
        if entry.name not in CONFIGS:
            (view / entry.name).symlink_to(entry.resolve())
    for entry in Path(code).glob("*.py") if code else ():
        (view / entry.name).unlink(missing_ok=True)
        (view / entry.name).symlink_to(entry.resolve())
    for repository, module in sorted(_elsewhere(folder)):
        if not (view / module).is_file():
            raise ConfigError(
                f"{place}: the model's code, {module}, lies in the repository {repository}; name "
                "that under downloads, and give the option code: its name there."
            )
    for name, config in _configs(folder).items():
        local = _mapped(config, lambda reference: reference.rpartition("--")[2])
        write_json(view / name, {**config, "auto_map": local})
