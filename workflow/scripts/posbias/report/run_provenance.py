"""What is known of a run: the record that releases carry and the checklist is filled from."""

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from posbias.downloads.manifest import MANIFEST, read_manifest
from posbias.files import read_json
from posbias.release.nested import dotted, leaves, plain
from posbias.report.job_costs import job_costs
from posbias.report.licences import licence_rows
from posbias.report.machine import machine, packages, versions_of

FORMAT = 1
# Last names of keys that say how much is done; below max_per_bin, any.
SIZES = frozenset(
    ("heldout_share", "per_segment", "max_budget", "limit", "batch_size", "epochs", "max_tokens",
     "depth", "cutoff", "resamples", "min_group", "per_stratum", "documents", "queries",
     "queries_per_position", "shuffles", "orders", "count", "positions", "segments",
     "at_each_end")
)  # fmt: skip


def _of_studies(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config less the block of a study that the run is not about."""
    return {
        key: value
        for key, value in config.items()
        if key != "listwise" or "listwise" in config.get("studies", ())
    }


def _names(place: tuple[str | int, ...]) -> list[str]:
    """Return the names of a place, without numbers of list entries."""
    return [part for part in place if isinstance(part, str)]


def seeds_of_config(config: Mapping[str, Any]) -> dict[str, int]:
    """Return the value of every key named seed or seeds, by its dotted name."""
    found = leaves(_of_studies(config))
    return {dotted(place): v for place, v in found if _names(place)[-1] in ("seed", "seeds")}


def sizes_of_config(config: Mapping[str, Any]) -> dict[str, int | float]:
    """Return every number whose key says how much is done, by its dotted name."""
    return {
        dotted(place): value
        for place, value in leaves(_of_studies(config))
        if (_names(place)[-1] in SIZES or "max_per_bin" in place)
        and isinstance(value, int | float)
        and not isinstance(value, bool)
    }


def intervals_of(measured: Iterable[Path]) -> list[dict[str, Any]]:
    """Return each kind of interval that files of measures state, and how many files do.

    Files without one are the last entry, with None in the place of the interval; CSVs do not
    count. Raises DataError for a file that is no JSON.
    """
    counts: dict[str, int] = {}
    for path in measured:
        if Path(path).suffix == ".json":
            content = read_json(path)
            stated = content.get("interval") if isinstance(content, dict) else None
            key = json.dumps(stated, sort_keys=True)
            counts[key] = counts.get(key, 0) + 1
    ordered = sorted(counts, key=lambda key: (key == "null", key))
    return [{"interval": json.loads(key), "files": counts[key]} for key in ordered]


def fetched(config: Mapping[str, Any], folder: Path) -> dict[str, dict[str, Any]]:
    """Return the manifests of the downloads that are there, by name.

    Raises DataError for a manifest that is none.
    """
    return {
        name: read_manifest(Path(folder, name))
        for name in config["downloads"]
        if Path(folder, name, MANIFEST).is_file()
    }


def _download(name: str, entry: Mapping[str, Any], manifest: Mapping[str, Any] | None) -> dict:
    known = manifest or {}
    return {
        "name": name,
        "repo": known.get("repo") or entry.get("repo"),
        "type": known.get("type") or entry.get("type"),
        "revision": known.get("revision") or entry.get("revision"),
        "fetched": manifest is not None,
        "files": len(known["files"]) if "files" in known else None,
        "bytes": known.get("total_bytes"),
    }


def run_record(
    measured: Iterable[Path],
    config: Mapping[str, Any],
    stamp: Mapping[str, Any],
    used: Iterable[str],
    lock: Path,
    benchmarks_folder: Path,
    downloads_folder: Path,
    rules: Collection[str],
) -> dict[str, Any]:
    """Return what is known of a run, for JSON; None for what is not.

    stamp: scale, note, config_hash, seed, commit and retrievers; used: names of the assets,
    downloads and paths that the run read; rules: names of the rules that make up the run.
    """
    used = list(used)
    manifests = fetched(config, downloads_folder)
    versions = versions_of((entry["package"] for entry in config["assets"].values()), lock)
    return {
        "format": FORMAT,
        **plain(stamp),
        "machine": machine(),
        "packages": packages(lock),
        **job_costs(benchmarks_folder, rules),
        "seeds": seeds_of_config(config),
        "sizes": sizes_of_config(config),
        "intervals": intervals_of(measured),
        "downloads": [
            _download(name, entry, manifests.get(name))
            for name, entry in config["downloads"].items()
        ],
        "licences": licence_rows(config, used, manifests, versions),
        "config": plain(config),
    }
