"""Unpack the measures of a release to where the workflow's own would be, each checked by hash."""

import logging
from pathlib import Path

from adapter import start
from posbias.errors import DataError
from posbias.release.unpack import published_sha256, unpack

log = logging.getLogger("release")


def main(
    archive: Path, unpacked: list[Path], results_folder: str, sha256: str | None = None
) -> None:
    """Unpack a release below a results folder; nothing appears there if any check fails.

    Args:
        archive: the release, made by make_release
        unpacked: every file that the archive's manifest has for the results folder
        results_folder: folder that measures are unpacked to
        sha256: SHA-256 of the archive; null for the one of <archive>.sha256, if that is there
    """
    expected = sha256 or published_sha256(archive)
    if expected is None:
        log.warning(
            "%s: no SHA-256 to compare with, neither release.sha256 of the config nor "
            "%s.sha256; only damage is noticed, not another archive", archive, archive,
        )  # fmt: skip
    manifest = unpack(archive, Path(results_folder), expected)
    made = {Path(results_folder, name) for name in manifest.unpacked()}
    odd = sorted(str(path) for path in made ^ set(unpacked))
    if odd:
        raise DataError(
            f"{archive}: its files are not those that the workflow expected, such as {odd[0]}; "
            "the archive was changed meanwhile. Run again."
        )
    log.info("%s: %d files of measures below %s", archive, len(made), results_folder)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
