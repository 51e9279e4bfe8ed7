"""Names of files in a release: relative, plain, and the same on every file system."""

import re
import unicodedata
from collections.abc import Iterable

from posbias.errors import DataError
from posbias.files import lone_surrogate

MEASURES = "measures/"
PROVENANCE = "provenance.json"
LONGEST_PART = 255  # bytes, of most file systems
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def fault_of_name(name: str) -> str | None:
    """Say what makes a name unfit for a file of an archive; None if it is fit.

    Fit are relative paths with forward slashes that stay below the folder they are unpacked to.
    """
    if lone_surrogate(name):
        return "is no text"
    if not name or CONTROL.search(name):
        return "is empty or has control characters"
    if name.startswith("/") or "\\" in name or re.match(r"[A-Za-z]:", name):
        return "is no relative path with forward slashes"
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "leaves its folder or is not in its plain form"
    if any(len(part.encode()) > LONGEST_PART for part in parts):
        return f"has a part of more than {LONGEST_PART} bytes"
    return None


def folded(name: str) -> str:
    """Return what a name is to a file system that ignores case and forms of letters."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def check_names(names: Iterable[str], where: str, remedy: str) -> None:
    """Raise DataError unless all names are fit, differ, and none is the folder of another.

    where: file that the names are of; remedy: what its user can do, a whole sentence.
    """
    seen: dict[str, str] = {}
    for name in names:
        fault = fault_of_name(name)
        if fault:
            raise DataError(f"{where}: the file name {name!r} {fault}. {remedy}")
        if folded(name) in seen:
            raise DataError(
                f"{where}: the file names {seen[folded(name)]!r} and {name!r} are the same "
                f"where case is ignored. {remedy}"
            )
        seen[folded(name)] = name
    for key, name in seen.items():
        parts = key.split("/")
        for end in range(1, len(parts)):
            if "/".join(parts[:end]) in seen:
                raise DataError(
                    f"{where}: {seen['/'.join(parts[:end])]!r} is both a file and the folder of "
                    f"{name!r}. {remedy}"
                )


def unpacked_name(name: str) -> str | None:
    """Return where a file of the archive goes below a results folder; None if it stays packed.

    Measures lose their folder's name; what is known of the run goes with them, since it tells of
    the machine that measured and not of the one that draws.
    """
    if name.startswith(MEASURES):
        return name[len(MEASURES) :]
    return name if name == PROVENANCE else None
