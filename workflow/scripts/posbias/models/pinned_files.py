"""The files of a model that the libraries read, held against the list of its download."""

from collections.abc import Iterable
from pathlib import Path

from posbias.downloads.manifest import MANIFEST, check_hashes, checked_artefact
from posbias.files import sha256_file

SETTINGS = ("*.json", "*.model", "vocab.txt", "merges.txt")  # config and tokenizer
WEIGHTS = ("*.safetensors", "*.bin")
CODE = ("*.py",)


def files_of(folder: Path, patterns: Iterable[str], below: bool = False) -> list[Path]:
    """Return the files of a folder that fit a pattern; below: also those of its subfolders."""
    folder = Path(folder)
    find = folder.rglob if below else folder.glob
    found = {path for pattern in patterns for path in find(pattern) if path.is_file()}
    return sorted(found - {folder / MANIFEST})


def checked_hashes(folder: Path, paths: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of files below a folder, by their paths in it.

    Raises DataError naming the file and the remedy if the folder is a download, and a file was
    changed or is none of its list. A folder without a list has nothing to be compared with.
    """
    folder = Path(folder)
    listed = (folder / MANIFEST).is_file()
    manifest = checked_artefact(folder) if listed else None
    hashes = {path.relative_to(folder).as_posix(): sha256_file(path) for path in paths}
    if manifest:
        check_hashes(folder, manifest["files"], hashes)
    return hashes


def check_download(folder: Path) -> None:
    """Read all files of a model and compare them as `checked_hashes` does, if it is a download."""
    if (Path(folder) / MANIFEST).is_file():
        checked_hashes(folder, files_of(folder, (*SETTINGS, *WEIGHTS, *CODE), below=True))
