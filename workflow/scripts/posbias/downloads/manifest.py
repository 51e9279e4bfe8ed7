"""The list of an artefact's files with their hashes, and the check against it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posbias.downloads.patterns import chosen_files
from posbias.errors import DataError
from posbias.files import read_json, sha256_file

MANIFEST = "manifest.json"
FIELDS = ("name", "repo", "type", "revision", "licence", "files", "total_bytes")
POINTER = b"version https://git-lfs"  # what a clone without its large files holds in their place


def described(folder: Path, names: list[str]) -> list[dict[str, Any]]:
    """Return path, bytes and sha256 of files of a folder; raises DataError for a stand-in."""
    entries = []
    for name in names:
        path = folder / name
        with path.open("rb") as data:
            if data.read(len(POINTER)) == POINTER:
                raise DataError(
                    f"{path}: only a pointer to a large file, not the file; run `git lfs pull` "
                    "in that clone, or copy the files themselves."
                )
        entries.append({"path": name, "bytes": path.stat().st_size, "sha256": sha256_file(path)})
    return entries


def _remedy(folder: Path) -> str:
    return (
        f"Delete {folder} and run `snakemake --profile profiles/paper downloads/{folder.name}` "
        "with a network, or set the download's path to a folder that holds the files."
    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of an artefact; raises DataError if it is absent or not one."""
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise DataError(
            f"{path}: no such file, so {folder} is no complete download. {_remedy(folder)}"
        )
    manifest = read_json(path)
    missing = [field for field in FIELDS if not isinstance(manifest, dict) or field not in manifest]
    if missing:
        raise DataError(f"{path}: without {', '.join(missing)}: no manifest. {_remedy(folder)}")
    return manifest


def check_files(folder: Path, files: list[dict[str, Any]], hashes: bool) -> None:
    """Raise DataError unless all files are there with their sizes, and hashes if asked for."""
    for entry in files:
        path = Path(folder) / entry["path"]
        if not path.is_file():
            raise DataError(f"{path}: missing, though the manifest lists it. {_remedy(folder)}")
        size = path.stat().st_size
        if size != entry["bytes"]:
            raise DataError(
                f"{path}: {size:,} bytes, the manifest says {entry['bytes']:,}. {_remedy(folder)}"
            )
        if hashes:
            check_hashes(folder, [entry], {entry["path"]: sha256_file(path)})


def check_hashes(folder: Path, files: list[dict[str, Any]], found: Mapping[str, str]) -> None:
    """Raise DataError unless files are listed with the SHA-256 found; found: by path."""
    listed = {entry["path"]: entry["sha256"] for entry in files}
    for name, digest in found.items():
        path = Path(folder) / name
        if name not in listed:
            raise DataError(
                f"{path}: not in {MANIFEST}, so it did not come with the download. "
                f"{_remedy(folder)}"
            )
        if digest != listed[name]:
            raise DataError(
                f"{path}: corrupted, SHA-256 is {digest}, the manifest says {listed[name]}. "
                f"{_remedy(folder)}"
            )


def checked_artefact(
    folder: Path, expected: Mapping[str, Any] | None = None, hashes: bool = False
) -> dict[str, Any]:
    """Return the manifest of a downloaded artefact after a check that reads no file but it.

    expected: the download as the config has it (repo, revision, files), or none of it; hashes:
    also read all files and compare their SHA-256. Raises DataError naming the file and what to
    run for an artefact that is absent, incomplete, or of another revision.
    """
    folder, expected = Path(folder), expected or {}
    manifest = read_manifest(folder)
    for field in ("repo", "revision"):
        wanted = expected.get(field)
        if wanted and manifest[field] != wanted:
            raise DataError(
                f"{folder / MANIFEST}: {field} is {manifest[field]}, the config says {wanted}. "
                f"{_remedy(folder)}"
            )
    names = [entry["path"] for entry in manifest["files"]]
    chosen_files(str(folder), names, expected.get("files") or ())
    check_files(folder, manifest["files"], hashes)
    return manifest
