"""An artefact made whole: fetched from the hub through a staging folder, or taken from a folder."""

import errno
import hashlib
import logging
import os
import shutil
from pathlib import Path
from typing import Any

from posbias.downloads.hub import Hub, HubFile, Listing, held
from posbias.downloads.manifest import MANIFEST, check_files, described, read_manifest
from posbias.downloads.patterns import chosen_files
from posbias.downloads.source import Source, is_commit
from posbias.errors import ConfigError, DataError, PosbiasError
from posbias.files import named_disk_faults, sha256_file, whole_directory, write_json
from posbias.logs import Heartbeat

log = logging.getLogger("download")
GB = 1e9  # bytes


def fetch(artefact: Path, source: Source, staging: Path, hub: Hub | None = None) -> dict[str, Any]:
    """Fetch the files of a repository at its commit; return the manifest written with them.

    staging: folder that outlives a killed job, whose next run goes on in it. The artefact appears
    whole, after every size and every hash that the hub tells was compared. Raises PosbiasError
    naming the remedy; with HF_HUB_OFFLINE set, ConfigError.
    """
    _check_online(source)
    hub = hub or Hub()
    listing = hub.listing(source.repo, source.type, source.revision)
    chosen = _chosen(source, listing)
    stage = Path(staging) / source.revision
    _forget_others(Path(staging), stage)
    tree, parts = stage / "tree", stage / "parts"
    _forget_extra(tree, {file.path for file in chosen})
    total = sum(file.bytes for file in chosen)
    done = sum(_staged(tree, parts, file) for file in chosen)
    log.info(
        "%s: %s, %d files, %.2f GB, of which %.2f GB are here",
        source.name,
        source,
        len(chosen),
        total / GB,
        done / GB,
    )
    _check_room(stage, total - done)
    beat = Heartbeat(f"{source.name}, bytes", total, done)
    before = 0
    for file in chosen:
        target = tree / file.path
        if held(target) != file.bytes or not target.exists():
            _fetch_file(hub, source, file, parts / file.path, target, beat, before)
        before += file.bytes
    manifest = {
        "name": source.name,
        "repo": source.repo,
        "type": source.type,
        "revision": source.revision,
        "licence": listing.licence,
        "origin": "hub",
        "files": described(tree, [file.path for file in chosen]),
        "total_bytes": total,
    }
    write_json(tree / MANIFEST, manifest)
    _move(tree, Path(artefact))
    shutil.rmtree(stage, ignore_errors=True)
    return manifest


def adopt(artefact: Path, source: Source) -> dict[str, Any]:
    """Take the files of a folder of the user's; return the manifest written with them.

    A folder with a manifest, such as an artefact of another machine, must hold what that says and
    be of the configured revision. Else its files are hashed as they are. They are copied, as a link
    would change with the folder. Raises DataError and ConfigError naming the remedy.
    """
    folder = source.path
    if not folder.is_dir():
        raise ConfigError(f"config, downloads.{source.name}.path: {folder} is no folder.")
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    )
    chosen = chosen_files(str(folder), set(names) - {MANIFEST}, source.files or ("**",))
    told = read_manifest(folder) if MANIFEST in names else None
    files = _told_files(folder, source, told, chosen) if told else described(folder, chosen)
    manifest = {
        "name": source.name,
        "repo": source.repo or (told["repo"] if told else None),
        "type": told["type"] if told else source.type,
        "revision": source.revision or (told["revision"] if told else None),
        "licence": told["licence"] if told else None,
        "origin": str(folder.resolve()),
        "files": files,
        "total_bytes": sum(entry["bytes"] for entry in files),
    }
    with whole_directory(artefact) as part:
        for name in chosen:
            target = part / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, target)
        write_json(part / MANIFEST, manifest)
    log.info("%s: took %d files from %s", source.name, len(chosen), folder)
    return manifest


def _check_online(source: Source) -> None:
    from huggingface_hub import is_offline_mode

    if not is_offline_mode():
        return
    variables = [v for v in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE") if os.environ.get(v)]
    raise ConfigError(
        f"downloads/{source.name} is not here, and {' and '.join(variables) or 'HF_HUB_OFFLINE'} "
        "forbids to fetch it. Where there is a network, run `env -u HF_HUB_OFFLINE -u "
        f"TRANSFORMERS_OFFLINE snakemake --profile profiles/paper downloads/{source.name}`; "
        f"elsewhere copy that folder here from a machine that did, or set "
        f"downloads.{source.name}.path to a folder that holds the files of {source.repo}."
    )


def _chosen(source: Source, listing: Listing) -> list[HubFile]:
    by_path = {file.path: file for file in listing.files}
    chosen = [by_path[name] for name in chosen_files(str(source), by_path, source.files)]
    if any(file.path == MANIFEST for file in chosen):
        raise ConfigError(f"{source}: its {MANIFEST} would be overwritten; leave it out of files.")
    return chosen


def _staged(tree: Path, parts: Path, file: HubFile) -> int:
    return min(max(held(tree / file.path), held(parts / file.path)), file.bytes)


def _forget_others(staging: Path, stage: Path) -> None:
    """Remove what was staged of other commits."""
    for other in staging.iterdir() if staging.is_dir() else ():
        if other != stage and is_commit(other.name):
            log.info("removing %s: the config names another commit now", other)
            shutil.rmtree(other)


def _forget_extra(tree: Path, wanted: set[str]) -> None:
    """Remove what was staged for patterns that the config no longer has."""
    for path in list(tree.rglob("*")):
        if path.is_file() and path.relative_to(tree).as_posix() not in wanted:
            path.unlink()


def _check_room(stage: Path, needed: int) -> None:
    with named_disk_faults(stage):
        stage.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(stage).free
    if needed > free:
        raise PosbiasError(
            f"{stage}: {needed / GB:.1f} GB are still to come, {free / GB:.1f} GB are free; free "
            "some space, or make downloads a link to a folder on another disk."
        )


def _fetch_file(
    hub: Hub, source: Source, file: HubFile, part: Path, target: Path, beat: Heartbeat, before: int
) -> None:
    """Bring one file into the tree, checked; what was fetched stays in `part` after a fault."""

    def progress(done: int) -> None:
        note = f"({(before + done) / GB:.2f} of {beat.total / GB:.2f} GB)"
        beat.beat(before + done, note)

    hub.fetch(source.repo, source.type, source.revision, file, part, progress)
    found, told = _hashes(part, file)
    if found != told:
        part.unlink()
        raise DataError(
            f"{source}: {file.path} came corrupted, its hash is {found}, the hub says {told}; it "
            "was removed. Run again."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    part.replace(target)


def _hashes(part: Path, file: HubFile) -> tuple[str | None, str | None]:
    """Return the hash of a fetched file and the one that the hub tells, of whichever kind."""
    if file.sha256 is not None:
        return sha256_file(part), file.sha256
    if file.git is None:
        return None, None
    digest = hashlib.sha1(f"blob {file.bytes}\0".encode(), usedforsecurity=False)
    digest.update(part.read_bytes())  # only small files are not stored as large ones
    return digest.hexdigest(), file.git


def _move(tree: Path, artefact: Path) -> None:
    with named_disk_faults(artefact):
        artefact.parent.mkdir(parents=True, exist_ok=True)
        if artefact.exists():
            shutil.rmtree(artefact)
        try:
            tree.replace(artefact)
        except OSError as fault:
            if fault.errno != errno.EXDEV:
                raise
            with whole_directory(artefact) as part:
                shutil.copytree(tree, part, dirs_exist_ok=True)


def _told_files(
    folder: Path, source: Source, told: dict[str, Any], chosen: list[str]
) -> list[dict[str, Any]]:
    """Return a manifest's entries of the chosen files, once all of them are as it says."""
    for field in ("repo", "revision"):
        wanted = getattr(source, field)
        if wanted and told[field] != wanted:
            raise DataError(
                f"{folder / MANIFEST}: {field} is {told[field]}, the config says {wanted}; take "
                "the files of the configured commit, or write this one into the config."
            )
    listed = {entry["path"]: entry for entry in told["files"]}
    strange = [name for name in chosen if name not in listed]
    if strange:
        raise DataError(
            f"{folder}: {', '.join(strange[:5])} not in its {MANIFEST}; remove them, or delete "
            "the manifest to take the folder as it is."
        )
    files = [listed[name] for name in chosen]
    check_files(folder, files, hashes=True)
    return files
