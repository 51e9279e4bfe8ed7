"""Bring a model or data set of the hub into downloads/, where everything reads it offline."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.downloads.fetch import adopt, fetch
from posbias.downloads.source import read_source

log = logging.getLogger("download")


def main(artefact: Path, name: str, source: dict[str, Any], staging: Path) -> None:
    """Fetch an artefact of the hub by commit, or take it from a folder (Tables 2 and 9).

    Args:
        artefact: folder to write: the files, and manifest.json with their sizes and hashes
        name: name of the download in the config
        source: repo, type (model or dataset), revision (a commit of 40 digits) and files (glob
            patterns); or path, a folder that holds the files, which then wins over repo
        staging: folder that keeps what was fetched before a job was killed
    """
    wanted = read_source(name, source)
    if wanted.path is not None:
        manifest = adopt(artefact, wanted)
    else:
        manifest = fetch(artefact, wanted, Path(staging))
    log.info(
        "wrote %s: %d files, %.2f GB, licence %s",
        artefact,
        len(manifest["files"]),
        manifest["total_bytes"] / 1e9,
        manifest["licence"] or "not told",
    )


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
