"""Ask the hub once for the newest commits of a config's downloads, to be written into it."""

import argparse
import logging
import sys
from pathlib import Path

from config_files import merged
from posbias.downloads.hub import Hub
from posbias.errors import ConfigError, PosbiasError
from posbias.logs import set_up_logging

log = logging.getLogger("pins")


def merged_downloads(configs: list[Path]) -> dict[str, dict]:
    """Return the downloads of configs, of which each changes those before it."""
    downloads = merged(configs).get("downloads") or {}
    wrong = [name for name, source in downloads.items() if not isinstance(source, dict)]
    if wrong:
        raise ConfigError(f"downloads.{wrong[0]}: expected repo, type, revision and files.")
    return downloads


def pins(downloads: dict[str, dict], every: bool, hub: Hub) -> tuple[list[str], list[str]]:
    """Return lines of YAML with the head of each main branch, and the faults that were met."""
    lines, faults = [], []
    for name, source in downloads.items():
        repo, revision = source.get("repo"), source.get("revision")
        if not repo or (revision and not every):
            continue
        try:
            head = hub.listing(repo, source.get("type", "model"), None).revision
        except PosbiasError as fault:
            faults.append(f"downloads.{name}: {fault}")
            continue
        note = "unchanged" if head == revision else f"was {revision}" if revision else "new"
        lines.append(f'  {name}: {{revision: "{head}"}} # {repo}, main, {note}')
    return lines, faults


def main(configs: list[Path], every: bool, hub: Hub | None = None) -> int:
    """Print the commits as an overlay; return the exit code, 1 if a repository failed."""
    downloads = merged_downloads(configs)
    lines, faults = pins(downloads, every, hub or Hub())
    if lines:
        print("\n".join(("downloads:", *lines)))
    elif not faults:
        log.info("every download of %s has a revision", ", ".join(map(str, configs)))
    for fault in faults:
        log.error("error: %s", fault)
    return 1 if faults else 0


def command() -> int:
    """Run from a shell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--config",
        action="append",
        type=Path,
        metavar="FILE",
        help="a config; give it again for each overlay (default: config.yaml, config/paper.yaml)",
    )
    parser.add_argument("--every", action="store_true", help="also those that have a revision")
    given = parser.parse_args()
    set_up_logging()
    try:
        return main(given.config or [Path("config.yaml"), Path("config/paper.yaml")], given.every)
    except PosbiasError as fault:
        log.error("error: %s", fault)
        return 1


if __name__ == "__main__":
    sys.exit(command())
