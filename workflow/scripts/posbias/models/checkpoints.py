"""What a checkpoint says of itself: how it was trained, and which files belong to it."""

from collections.abc import Mapping
from pathlib import Path

from posbias.errors import DataError
from posbias.files import read_json, sha256_file, write_json

SETTINGS_FILE = "posbias.json"


def seal_checkpoint(folder: Path, settings: dict) -> None:
    """Write how a checkpoint was trained, and the SHA-256 of each file it has so far."""
    files = {
        path.relative_to(folder).as_posix(): sha256_file(path)
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }
    write_json(Path(folder) / SETTINGS_FILE, {**settings, "files": files})


def checked_settings(folder: Path, expected: Mapping[str, object]) -> dict:
    """Return how a checkpoint was trained.

    expected: what it must say of itself, such as retriever and setting. Raises DataError naming
    folder and file if it says otherwise, or if a file is missing or was changed: a model without
    its tokenizer loads, and finds nothing.
    """
    folder = Path(folder)
    settings = read_json(folder / SETTINGS_FILE)
    remedy = f"delete the folder {folder} and run again"
    found = {name: settings.get(name) for name in expected}
    if found != dict(expected):
        held, wanted = (
            ", ".join(f"{name} {value}" for name, value in both.items())
            for both in (found, expected)
        )
        raise DataError(f"{folder}: holds {held}, not {wanted}; {remedy}.")
    for name, digest in settings.get("files", {}).items():
        path = folder / name
        if not path.is_file():
            raise DataError(f"{path}: missing from the checkpoint; {remedy}.")
        if sha256_file(path) != digest:
            raise DataError(f"{path}: not the file that the training wrote; {remedy}.")
    return settings
