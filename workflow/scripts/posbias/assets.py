"""Models and text that ship inside installed packages, found by name and checked by hash."""

from importlib import metadata
from pathlib import Path

from posbias.errors import AssetError
from posbias.files import sha256_file


def find_asset(package: str, file: str, sha256: str) -> Path:
    """Return the path of a file inside an installed package.

    `file` is the end of its path inside the package. The package is not imported: some of them
    have names that Python cannot import, others import far more than the file.

    Raises:
        AssetError: the package or the file is missing, or its SHA-256 is not the pinned one.
    """
    try:
        entries = metadata.files(package) or []
    except metadata.PackageNotFoundError as fault:
        raise AssetError(
            f"the package {package} that carries {file} is not installed; run `make install`."
        ) from fault
    matches = [entry for entry in entries if str(entry).endswith(file)]
    if len(matches) != 1:
        raise AssetError(
            f"the package {package} holds {len(matches)} files that end in {file}, expected one; "
            "reinstall it with `make install`."
        )
    path = Path(str(matches[0].locate()))
    if not path.is_file():
        raise AssetError(f"{path} is missing; reinstall {package} with `make reinstall`.")
    found = sha256_file(path)
    if found != sha256:
        raise AssetError(
            f"{path} is corrupted or of another version: SHA-256 is {found}, expected {sha256}. "
            f"Reinstall {package} with `make reinstall`, or mend the config's assets."
        )
    return path
