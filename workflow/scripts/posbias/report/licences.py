"""Licences of what a run read, and whether each allows commercial use."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

COLUMNS = (
    "name", "kind", "source", "revision", "licence", "commercial_use", "share_alike", "used",
)  # fmt: skip
YES, NO, RESTRICTED, NOT_KNOWN = "yes", "no", "restricted", "not known"
ASSET, OWN = "package asset", "user's own"
KINDS = {"model": "model", "dataset": "data set"}

NON_COMMERCIAL = re.compile(r"\bnc\b|non ?commercial|\b(academic|research) (use )?only\b")
WITH_RESTRICTIONS = re.compile(r"\b\w*rail\b|\bnd\b|restrict")
# Licences that allow commercial use; each part of a text must begin with one of them.
FREE = re.compile(
    r"(the )?(apache|mit|bsd|isc|cc0|cc by|gfdl|gpl|lgpl|agpl|mpl|odc by|odbl|pddl|unlicense"
    r"|public domain)\b"
)


def commercial_use(licence: str | None) -> str:
    """Say whether a licence allows commercial use: yes, no, restricted or not known.

    Only what is recognised is allowed; a licence of several parts is no freer than each of them.
    """
    text = re.sub(r"[-_\s]+", " ", (licence or "").lower()).strip()
    if NON_COMMERCIAL.search(text):
        return NO
    if WITH_RESTRICTIONS.search(text):
        return RESTRICTED
    parts = [part.strip() for part in re.split(r",|;|/|\+|&|\band\b|\bor\b|\bwith\b", text)]
    return YES if text and all(FREE.match(part) for part in parts) else NOT_KNOWN


SHARE_ALIKE = re.compile(r"\bsa\b|share ?alike|\b(gfdl|[al]?gpl|odbl|mpl)\b")


def share_alike(licence: str | None) -> str:
    """Say whether what is made from a work must be shared alike: yes, no or not known.

    Only of what is recognised it is known that it asks for nothing of the kind.
    """
    text = re.sub(r"[-_\s]+", " ", (licence or "").lower()).strip()
    if SHARE_ALIKE.search(text):
        return YES
    return NO if commercial_use(licence) == YES or text.startswith("cc by ") else NOT_KNOWN


def _row(name: str, kind: str, source: str, revision: str, licence: str | None, used: set) -> dict:
    terms = (commercial_use(licence), share_alike(licence))
    values = (name, kind, source, revision, licence, *terms, name in used)
    return dict(zip(COLUMNS, values, strict=True))


def _asset_revision(entry: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    version, sha256 = versions.get(entry["package"]), entry.get("sha256")
    known = (version and f"version {version}", sha256 and f"SHA-256 {sha256}")
    return ", ".join(part for part in known if part)


def licence_rows(
    config: Mapping[str, Any],
    used: Iterable[str],
    fetched: Mapping[str, Mapping[str, Any]],
    versions: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Return a row of COLUMNS for each asset and download of a config, and all else in `used`.

    used: names of what the run read; what the config does not name is a path of the user's.
    fetched: manifests of downloads by name, whose licence counts where the config knows none;
    versions: of packages by name, as far as they are known.
    """
    used = list(dict.fromkeys(used))
    names = set(used)
    rows = [
        _row(
            name,
            ASSET,
            entry["package"],
            _asset_revision(entry, versions or {}),
            entry.get("licence"),
            names,
        )
        for name, entry in config["assets"].items()
    ]
    for name, entry in config["downloads"].items():
        manifest = fetched.get(name, {})
        licence = entry.get("licence") or manifest.get("licence")
        revision = manifest.get("revision") or entry.get("revision") or ""
        if entry.get("path"):  # wins over the repository
            rows.append(_row(name, OWN, str(entry["path"]), revision, licence, names))
            continue
        kind = KINDS.get(entry.get("type"), str(entry.get("type")))
        rows.append(_row(name, kind, str(entry.get("repo")), revision, licence, names))
    known = {row["name"] for row in rows}
    rows += [_row(name, OWN, name, "", None, names) for name in used if name not in known]
    return rows
