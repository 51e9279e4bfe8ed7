"""The manifest of a release: what it holds, by hash, and what it was made from."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from posbias.errors import DataError
from posbias.files import NO_JSON
from posbias.release.names import MEASURES, PROVENANCE, check_names, folded, unpacked_name

FORMAT = 1
MANIFEST, CONFIG = "manifest.json", "config.yaml"
STAMP = ("scale", "note", "config_hash", "seed", "commit", "retrievers")
SHA256 = re.compile(r"[0-9a-f]{64}")


DIRTY = "-dirty"  # what git appends to a commit whose files were changed


def differs_from_commit(commit: object) -> bool:
    """Say whether files of the code differed from the commit that stands for it."""
    return str(commit).endswith(DIRTY)


@dataclass(frozen=True)
class Packed:
    """One file of an archive: SHA-256 (64 hexadecimal digits) and size in bytes."""

    sha256: str
    bytes: int


@dataclass(frozen=True)
class Manifest:
    """What a release is of, and its files but the manifest; `config` is that of its config.yaml."""

    scale: str
    note: str
    config_hash: str
    seed: int | list[int]
    commit: str
    retrievers: list[str]
    made_with: str
    files: dict[str, Packed]
    config: dict[str, Any] = field(default_factory=dict)

    def provenance(self) -> dict[str, Any]:
        """Return what figures print of their origin, as of the run that measured."""
        return {name: getattr(self, name) for name in STAMP}

    def unpacked(self) -> list[str]:
        """Return the files that unpacking makes, as paths below the results folder, sorted."""
        return sorted(place for name in self.files if (place := unpacked_name(name)) is not None)


def manifest_text(manifest: Manifest) -> str:
    """Return the manifest as JSON text; the config is a file of its own."""
    head = {"format": FORMAT, **manifest.provenance(), "made_with": manifest.made_with}
    files = {name: asdict(packed) for name, packed in sorted(manifest.files.items())}
    return json.dumps({**head, "files": files}, ensure_ascii=False, indent=1) + "\n"


def refused(archive: object, fault: str) -> DataError:
    """Return the error for an archive that is no sound release; it says what to do."""
    return DataError(
        f"{archive}: {fault}. Nothing was unpacked; fetch the archive again and compare its "
        "SHA-256 with the published one, or measure here (metrics_from: computed in the config)."
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _packed(entry: Any) -> Packed | None:
    """Return a file's entry, None if it is not one."""
    if not isinstance(entry, dict) or entry.keys() != {"sha256", "bytes"}:
        return None
    sha256, size = entry["sha256"], entry["bytes"]
    sound = isinstance(sha256, str) and SHA256.fullmatch(sha256)
    return Packed(sha256, size) if sound and type(size) is int and size >= 0 else None


def _checked_seed(seed: Any) -> bool:
    seeds = seed if isinstance(seed, list) and seed else [seed]
    return all(type(one) is int for one in seeds)


def parse_manifest(text: bytes, archive: object) -> Manifest:
    """Return the manifest of an archive from its bytes, without the config.

    Raises DataError for what is none, for another format version, and for unfit file names.
    """
    try:
        content = json.loads(text, object_pairs_hook=_unique)
    except NO_JSON as fault:
        raise refused(archive, f"its {MANIFEST} is not JSON ({fault})") from fault
    if not isinstance(content, dict) or "format" not in content:
        raise refused(archive, f"its {MANIFEST} names no format version: this is no release")
    version = content.pop("format")
    if type(version) is not int or version != FORMAT:
        raise DataError(
            f"{archive}: a release of format {version!r}, this version of the workflow knows "
            f"format {FORMAT}. Check out the commit that the archive's README.md names, or "
            "take a release made with this version."
        )
    wanted = {*STAMP, "made_with", "files"}
    if content.keys() != wanted:
        odd = ", ".join(sorted(content.keys() ^ wanted))
        raise refused(archive, f"its {MANIFEST} lacks or has beyond the format: {odd}")
    texts = ("scale", "note", "config_hash", "commit", "made_with")
    retrievers = content["retrievers"]
    if (
        not all(isinstance(content[name], str) for name in texts)
        or not _checked_seed(content["seed"])
        or not isinstance(retrievers, list)
        or not all(isinstance(name, str) for name in retrievers)
        or not isinstance(content["files"], Mapping)
    ):
        raise refused(archive, f"its {MANIFEST} has values of the wrong kind")
    files = {name: _packed(entry) for name, entry in content["files"].items()}
    for name, packed in files.items():
        if packed is None:
            raise refused(archive, f"its {MANIFEST} gives no SHA-256 and size of {name!r}")
    check_names([MANIFEST, *files], f"{archive}, {MANIFEST}", "Fetch the archive again.")
    for name in (CONFIG, PROVENANCE):
        if name not in files:
            raise refused(archive, f"its {MANIFEST} lists no {name}")
    if any(folded(name) == MEASURES + PROVENANCE for name in files):
        raise refused(archive, f"two of its files would be unpacked to {PROVENANCE}")
    return Manifest(**{**content, "files": files})
