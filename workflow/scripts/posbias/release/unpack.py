"""Reading releases: the manifest alone, in a moment, or all files, each checked by its hash."""

import contextlib
import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from posbias.errors import DataError
from posbias.files import named_disk_faults, whole_file
from posbias.release.archive import HEAD, UnsoundError, opened
from posbias.release.manifest import (
    CONFIG,
    MANIFEST,
    SHA256,
    Manifest,
    Packed,
    parse_manifest,
    refused,
)
from posbias.release.names import unpacked_name

Files = Iterator[tuple[str, int, BinaryIO]]


class _NoAliases(yaml.SafeLoader):
    """A loader without aliases, which can make a few lines stand for gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed here")
        return super().compose_node(parent, index)


def _content(files: Files, wanted: str) -> bytes:
    """Return the next file, which must have this name and be of a modest size."""
    name, size, reader = next(files, (None, 0, None))
    if name != wanted or reader is None:
        raise UnsoundError(f"expected {wanted} as its next file, found {name}: this is no release")
    if size > HEAD:
        raise UnsoundError(f"its {wanted} has {size:,} bytes")
    return reader.read()


def _check_hash(name: str, found: str, size: int, packed: Packed) -> None:
    if (found, size) != (packed.sha256, packed.bytes):
        raise UnsoundError(f"{name} is not the file that the manifest lists (SHA-256 or size)")


def _read_head(files: Files, archive: Path) -> Manifest:
    """Return manifest and config, the first two files of every release."""
    manifest = parse_manifest(_content(files, MANIFEST), archive)
    text = _content(files, CONFIG)
    _check_hash(CONFIG, hashlib.sha256(text).hexdigest(), len(text), manifest.files[CONFIG])
    try:
        config = yaml.load(text, _NoAliases)  # a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as fault:
        raise UnsoundError(f"its {CONFIG} cannot be read ({fault})") from fault
    if not isinstance(config, dict):
        raise UnsoundError(f"its {CONFIG} holds no keys and values")
    return replace(manifest, config=config)


@contextlib.contextmanager
def _named(archive: Path) -> Iterator[None]:
    """Turn what is wrong with an archive into an error that names it, with a remedy."""
    if Path(archive).is_dir():
        raise DataError(
            f"{archive}: is a folder, expected a release's archive; set release.archive in the "
            "config to the file."
        )
    if not Path(archive).is_file():
        raise DataError(
            f"{archive}: no such file. Fetch the release, set release.archive in the config to "
            "its place, or measure here (metrics_from: computed)."
        )
    try:
        yield
    except UnsoundError as fault:
        raise refused(archive, str(fault)) from fault


def read_manifest(archive: Path) -> Manifest:
    """Return manifest and config of a release; reads its beginning only, and checks no more.

    Raises DataError naming archive and remedy for what is no release, or one of another format.
    """
    with _named(archive), opened(archive) as (_, members):
        return _read_head(iter(members), archive)


def published_sha256(archive: Path) -> str | None:
    """Return the SHA-256 of the file beside an archive, <archive>.sha256; None if there is none.

    Raises DataError if that file is not in the form of sha256sum, or about another file.
    """
    path = Path(f"{archive}.sha256")
    if path.is_dir():
        raise DataError(
            f"{path}: is a folder, expected the SHA-256 of {Path(archive).name}; move it "
            "elsewhere, or set release.sha256 in the config."
        )
    if not path.is_file():
        return None
    line = path.read_text(encoding="utf-8", errors="replace").strip()
    match = re.fullmatch(r"([0-9a-f]{64})(?: [ *](.+))?", line)
    if not match or match[2] not in (None, Path(archive).name):
        raise DataError(
            f"{path}: expected the SHA-256 of {Path(archive).name} as sha256sum writes it. Fetch "
            "it again, or set release.sha256 in the config."
        )
    return match[1]


def _check_archive(data: BinaryIO, archive: Path, sha256: str) -> None:
    """Compare an archive's bytes with a SHA-256, and go back to its beginning."""
    if not SHA256.fullmatch(sha256):
        raise DataError(
            f"{archive}: expected a SHA-256 of 64 digits 0-9 a-f, found {sha256!r}; mend "
            "release.sha256 in the config."
        )
    found = hashlib.file_digest(data, "sha256").hexdigest()
    if found != sha256:
        raise refused(archive, f"its SHA-256 is {found}, expected {sha256}")
    data.seek(0)


def _take(files: Files, manifest: Manifest, staging: Path) -> None:
    """Write all files that are unpacked into a folder, after a check of every file."""
    missing = set(manifest.files) - {CONFIG}
    for name, size, reader in files:
        if name not in missing:
            raise UnsoundError(f"{name} is not in its manifest")
        packed = manifest.files[name]
        if size != packed.bytes:
            raise UnsoundError(f"{name} has {size:,} bytes, its manifest says {packed.bytes:,}")
        data = reader.read()
        _check_hash(name, hashlib.sha256(data).hexdigest(), len(data), packed)
        place = unpacked_name(name)
        if place is not None:
            (staging / place).parent.mkdir(parents=True, exist_ok=True)
            (staging / place).write_bytes(data)
        missing.remove(name)
    if missing:
        raise UnsoundError(f"it lacks {len(missing)} files of its manifest, such as {min(missing)}")


def _check_room(folder: Path, place: str) -> None:
    """Raise DataError if something that is no file stands where a file or its folder goes."""
    final = folder / place
    parents = [parent for parent in final.parents if parent != folder and folder in parent.parents]
    in_the_way = [parent for parent in parents if parent.exists() and not parent.is_dir()]
    if final.is_dir():
        in_the_way.append(final)
    if in_the_way:
        raise DataError(
            f"{in_the_way[0]}: in the way of {final}, which is to be unpacked; move it elsewhere "
            "and run again."
        )


def unpack(archive: Path, folder: Path, sha256: str | None = None) -> Manifest:
    """Unpack a release's measures and provenance below a folder, once all of it is checked.

    Each file takes its name whole; none does if anything is wrong with the archive. Raises
    DataError naming archive, file and remedy. sha256: of the archive, None to go without.
    """
    folder = Path(folder)
    in_the_way = [place for place in (folder, *folder.parents)
                  if (place.is_symlink() or place.exists()) and not place.is_dir()]  # fmt: skip
    if in_the_way:
        raise DataError(
            f"{in_the_way[0]}: in the way of {folder}, the folder to unpack into; move it "
            "elsewhere and run again."
        )
    with named_disk_faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".release.", dir=folder) as kept:
            staging = Path(kept)
            with _named(archive), opened(archive) as (data, members):
                if sha256 is not None:
                    _check_archive(data, archive, sha256)
                files = iter(members)
                manifest = _read_head(files, archive)
                sizes = [packed.bytes for packed in manifest.files.values()]
                members.expect(sum(sizes), len(sizes))
                _take(files, manifest, staging)
            for place in manifest.unpacked():
                _check_room(folder, place)
            for place in manifest.unpacked():
                # Copied, as folders of the results may lie on other disks.
                with whole_file(folder / place) as part:
                    shutil.copyfile(staging / place, part)
    return manifest
