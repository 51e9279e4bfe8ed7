"""Where a figure comes from: its footer, and the `.meta.json` beside it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from posbias.errors import ConfigError
from posbias.files import sha256_file, write_json

REQUIRED = ("scale", "config_hash", "seed", "commit")


def check_provenance(provenance: Mapping[str, Any]) -> None:
    """Raise ConfigError unless scale, config hash, seed and commit are all given."""
    missing = [name for name in REQUIRED if provenance.get(name) in (None, "")]
    if missing:
        raise ConfigError(
            f"the figure's provenance lacks {', '.join(missing)}; pass it from the rule's params."
        )


def interval_text(interval: Mapping[str, Any]) -> str:
    """Describe an interval in words, such as "95 % bootstrap over queries, 10,000 resamples"."""
    return f"{100 * interval['level']:g} % {interval['kind']}, {interval['resamples']:,} resamples"


def scale_text(provenance: Mapping[str, Any]) -> str:
    """Return the note on the scale, or its name if there is none, with a capital."""
    text = provenance.get("note") or f"{provenance['scale']} scale"
    return text[:1].upper() + text[1:]


def seeds_of(provenance: Mapping[str, Any]) -> list[int]:
    """Return the training seeds behind a figure (one number or several in `seed`)."""
    seed = provenance["seed"]
    return list(seed) if isinstance(seed, list | tuple) else [seed]


def footer_text(
    provenance: Mapping[str, Any], interval: Mapping[str, Any] | None, varies: str | None = None
) -> str:
    """Return the line at a figure's foot: scale, note, config hash, commit, seeds, interval.

    Without an interval the line ends with `varies`. Raises ConfigError if a field is missing.
    """
    check_provenance(provenance)
    seeds = seeds_of(provenance)
    parts = [
        scale_text(provenance),
        f"config {provenance['config_hash']}",
        f"commit {provenance['commit']}",
        f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}",
    ]
    if interval is not None:
        parts.append(f"intervals: {interval_text(interval)}" + (f" ({varies})" if varies else ""))
    elif varies:
        parts.append(varies)
    return " · ".join(parts)


def figure_meta(
    title: str,
    provenance: Mapping[str, Any],
    interval: Mapping[str, Any] | None,
    varies: str,
    inputs: Iterable[tuple[str, str]],
) -> dict[str, Any]:
    """Return the content of a figure's `.meta.json`; `inputs` are pairs (path, sha256).

    `varies` says what the interval resamples and what stays fixed; None in place of an interval
    if the figure has none. Raises ConfigError if a field of the provenance is missing.
    """
    check_provenance(provenance)
    return {
        "title": title,
        "scale": provenance["scale"],
        "note": provenance.get("note", ""),
        "config_hash": provenance["config_hash"],
        "commit": provenance["commit"],
        "seeds": seeds_of(provenance),
        "varies": varies,
        "interval": None if interval is None else dict(interval),
        "inputs": [{"path": path, "sha256": digest} for path, digest in inputs],
    }


def write_figure_meta(
    path: Path,
    title: str,
    provenance: Mapping[str, Any],
    interval: Mapping[str, Any] | None,
    varies: str,
    inputs: Iterable[Path],
) -> None:
    """Hash the input files and write a figure's `.meta.json`, whole or not at all."""
    hashed = [(Path(item).as_posix(), sha256_file(item)) for item in inputs]
    write_json(path, figure_meta(title, provenance, interval, varies, hashed))
