"""What the config says of a download: a repository at a commit, or a folder of the user's."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posbias.errors import ConfigError

TYPES = ("model", "dataset")
KEYS = ("repo", "type", "revision", "files", "path")
COMMIT = re.compile(r"[0-9a-f]{40}")
REPO = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class Source:
    """Where an artefact comes from; with a path it is taken from there, else from the hub."""

    name: str
    repo: str | None
    type: str
    revision: str | None
    files: tuple[str, ...]
    path: Path | None

    def __str__(self) -> str:
        return str(self.path) if self.path else f"{self.type} {self.repo} at {self.revision}"


def is_commit(revision: object) -> bool:
    """Say whether a revision is a whole commit hash, which nobody can move."""
    return isinstance(revision, str) and COMMIT.fullmatch(revision) is not None


def unpinned(name: str, repo: str, revision: object) -> ConfigError:
    """Return the fault of a download without a commit, which says how to find one."""
    return ConfigError(
        f"config, downloads.{name}.revision: found {revision!r}, expected a commit of 40 digits "
        f"0-9 a-f, so that the study stays the same when {repo} changes. With a network, "
        "`python workflow/scripts/pin_revisions.py --config config.yaml --config "
        f"config/paper.yaml` prints the newest commit of its main branch; write it here, or set "
        f"downloads.{name}.path to a folder that holds the files."
    )


def read_source(name: str, source: Mapping[str, Any]) -> Source:
    """Return a download of the config.

    A path wins over a repo, as an overlay cannot take a key away. Raises ConfigError for unknown
    keys, for neither repo nor path, and for a revision that is not a whole commit.
    """
    where = f"config, downloads.{name}"
    unknown = [key for key in source if key not in KEYS]
    if unknown:
        raise ConfigError(
            f"{where}: unknown key(s) {', '.join(unknown)}; known: {', '.join(KEYS)}."
        )
    repo, path = source.get("repo"), source.get("path")
    revision = source.get("revision")
    files = tuple(source.get("files") or ())
    if not repo and not path:
        raise ConfigError(f"{where}: give a repo of the hub, or the path of a folder.")
    if repo and REPO.fullmatch(repo) is None:
        raise ConfigError(f"{where}.repo: found {repo!r}, expected owner/name.")
    kind = source.get("type", "model")
    if kind not in TYPES:
        raise ConfigError(f"{where}.type: found {kind!r}; known: {', '.join(TYPES)}.")
    if not files and not path:
        raise ConfigError(f'{where}.files: name what to fetch; ["**"] stands for all files.')
    if not is_commit(revision) and not (path and revision is None):
        raise unpinned(name, repo or str(path), revision)
    return Source(name, repo, kind, revision, files, Path(path) if path else None)
