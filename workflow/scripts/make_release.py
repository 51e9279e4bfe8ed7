"""Pack all measures of a run, with all that tells where they come from, into one archive."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.errors import ConfigError
from posbias.files import sha256_file, write_text
from posbias.release.archive import SUFFIX, write_archive
from posbias.release.contents import release_contents
from posbias.release.manifest import differs_from_commit
from posbias.release.own_paths import own_paths

log = logging.getLogger("release")


def main(
    measured: list[Path],
    provenance: Path,
    lock: Path,
    citation: Path,
    licence: Path,
    archive: Path,
    checksum: Path,
    results_folder: str,
    config: dict[str, Any],
    stamp: dict[str, Any],
) -> None:
    """Make a release of measures, from which every figure can be drawn; the same bytes each time.

    Args:
        measured: every file of measures that figures need, below the results folder
        provenance: what is known of the run, JSON
        lock: the exact versions of all packages
        citation: CITATION.cff of the project
        licence: the project's licence
        archive: the release to write, .tar.xz
        checksum: its SHA-256 to write, in the form of sha256sum
        results_folder: folder of the scale's results, which names in the archive lose
        config: the merged configuration
        stamp: scale, note, config_hash, seed, commit, retrievers, and perhaps date (YYYY-MM-DD)
    """
    if not archive.name.endswith(SUFFIX):
        raise ConfigError(f"{archive}: a release's name ends in {SUFFIX}; name it so.")
    files = {
        "provenance.json": provenance,
        "lock.txt": lock,
        "CITATION.cff": citation,
        "LICENSE": licence,
    }
    if differs_from_commit(stamp.get("commit")):
        log.warning(
            "%s: files of the code differ from this commit; commit them and run again, so that "
            "the release can be drawn from a checkout",
            stamp["commit"],
        )
    named = own_paths(config)
    if named:
        log.warning(
            "the archive's config.yaml holds paths of this machine: %s; all who get the archive "
            "can read them",
            ", ".join(f"{name} ({path})" for name, path in named.items()),
        )
    contents = release_contents(measured, Path(results_folder), config, stamp, files)
    write_archive(archive, contents)
    write_text(checksum, f"{sha256_file(archive)}  {archive.name}\n")
    log.info(
        "%s: %d files, %d bytes; %d unpacked",
        archive, len(contents), archive.stat().st_size, sum(map(len, contents.values())),
    )  # fmt: skip


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
