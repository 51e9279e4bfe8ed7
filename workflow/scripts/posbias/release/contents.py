"""What goes into a release, in its order: manifest, configuration, then all else by name."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from posbias.errors import ConfigError, DataError
from posbias.files import read_json
from posbias.release.citation import Citation, read_citation
from posbias.release.manifest import CONFIG, MANIFEST, STAMP, Manifest, Packed, manifest_text
from posbias.release.names import MEASURES, PROVENANCE, check_names
from posbias.release.nested import plain
from posbias.release.readme import README, readme_text
from posbias.release.ro_crate import RO_CRATE, ro_crate
from posbias.release.zenodo import ZENODO, zenodo_metadata

SUFFIXES = (".json", ".csv")  # measures; texts, runs and models have licences of their own


def config_text(config: Mapping[str, Any]) -> str:
    """Return a configuration as YAML that reads back as it was, keys in their order, in ASCII."""
    return yaml.safe_dump(plain(config), sort_keys=False, width=100)


def _content(path: Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as fault:
        raise DataError(
            f"{path}: cannot be read ({fault.strerror}); run the step that makes it."
        ) from fault


def measures_below(folder: Path, measured: Iterable[Path]) -> dict[str, bytes]:
    """Return the content of measures by their names in the archive; a file named twice counts once.

    Raises DataError for a file outside the folder, and for one that is no measure (.json, .csv).
    """
    found = {}
    for path in sorted({Path(path) for path in measured}):
        if not path.is_relative_to(folder):
            raise DataError(
                f"{path}: not below {folder}; a release holds measures of one scale. Make it by "
                "the workflow, or pass the folder that the measures are in."
            )
        if path.suffix not in SUFFIXES:
            raise DataError(
                f"{path}: no measure; a release holds {' and '.join(SUFFIXES)}, as texts, runs "
                "and models have licences of their own. Take it from the inputs of the release."
            )
        found[MEASURES + path.relative_to(folder).as_posix()] = _content(path)
    if not found:
        raise DataError(f"{folder}: no measures to release; run the workflow first.")
    if MEASURES + PROVENANCE in found:
        raise DataError(
            f"{folder / PROVENANCE}: listed as a measure, but each release has it as the "
            "provenance of the run; take it from the list of measures."
        )
    return found


def _check_provenance(path: Path, stamp: Mapping[str, Any]) -> None:
    """Raise an error if fields are missing, or the record is of another run."""
    missing = [name for name in STAMP if name not in stamp]
    if missing:
        raise ConfigError(f"the release's provenance lacks {', '.join(missing)}; pass it whole.")
    record = read_json(path)
    for name in ("config_hash", "commit"):
        found = record.get(name) if isinstance(record, dict) else None
        if found != stamp[name]:
            raise DataError(
                f"{path}: {name} is {found!r}, the release's is {stamp[name]!r}, so that it is of "
                "another run; delete it and run again."
            )


def _description(stamp: Mapping[str, Any], citation: Citation, count: int) -> str:
    note = f" ({stamp['note']})" if stamp["note"] else ""
    about = f" {citation.abstract}" if citation.abstract else ""
    return (
        f"The {count} files of measures that every figure and table of the {stamp['scale']} "
        f"scale{note} is made of, with the configuration and the provenance of the run.{about}"
    )


def _hashed(contents: Mapping[str, bytes]) -> dict[str, Packed]:
    return {
        name: Packed(hashlib.sha256(data).hexdigest(), len(data)) for name, data in contents.items()
    }


def release_contents(
    measured: Iterable[Path],
    folder: Path,
    config: Mapping[str, Any],
    stamp: Mapping[str, Any],
    files: Mapping[str, Path],
) -> dict[str, bytes]:
    """Return the files of a release by name, in the order of the archive.

    folder: results folder of the scale, which the names lose; stamp: scale, note, config_hash,
    seed, commit, retrievers, and perhaps date (YYYY-MM-DD); files: provenance.json, lock.txt,
    CITATION.cff and LICENSE by these names. Raises DataError or ConfigError naming what is wrong.
    """
    _check_provenance(files[PROVENANCE], stamp)
    citation = read_citation(files["CITATION.cff"])
    contents = measures_below(Path(folder), measured)
    title = f"{citation.title.split(':')[0].strip()}: measures of the {stamp['scale']} scale"
    description = _description(stamp, citation, len(contents))
    date = stamp.get("date") or citation.date
    contents[CONFIG] = config_text(config).encode()
    contents |= {name: _content(path) for name, path in files.items()}
    manifest = Manifest(
        **{name: plain(stamp[name]) for name in STAMP},
        made_with=citation.made_with,
        files=_hashed(contents),
        config=plain(config),
    )
    contents[README] = readme_text(title, description, manifest).encode()
    contents[ZENODO] = zenodo_metadata(title, description, citation, date).encode()
    contents = dict(sorted(contents.items()))
    contents[RO_CRATE] = ro_crate(title, description, citation, _hashed(contents), date).encode()
    check_names(contents, str(folder), "Rename one of the files.")
    manifest = replace(manifest, files=_hashed(contents))
    head = {MANIFEST: manifest_text(manifest).encode(), CONFIG: contents.pop(CONFIG)}
    return {**head, **dict(sorted(contents.items()))}
