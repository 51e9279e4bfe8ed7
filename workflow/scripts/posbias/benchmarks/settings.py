"""How benchmarks are searched and measured: the evaluation block of the config."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from posbias.errors import ConfigError

Settings = TypeVar("Settings", "SearchSettings", "MeasureSettings")


@dataclass(frozen=True)
class SearchSettings:
    """How a corpus is searched.

    depth: documents kept per query; batch_size: texts encoded at once; block_documents: documents
    whose vectors are in memory at once; autocast: none, or bf16 on a GPU; threads: of the CPU.
    """

    depth: int
    batch_size: int
    block_documents: int
    autocast: str
    threads: int


@dataclass(frozen=True)
class MeasureSettings:
    """How a ranking is measured.

    depth: documents kept per query; cutoff: of nDCG; resamples, level: of the bootstrap;
    min_group: fewest queries a group needs for PSI.
    """

    depth: int
    cutoff: int
    resamples: int
    level: float
    min_group: int


KNOWN = {field.name for kind in (SearchSettings, MeasureSettings) for field in fields(kind)}


def _read(kind: type[Settings], options: Mapping[str, Any]) -> Settings:
    unknown = sorted(options.keys() - KNOWN)
    missing = [field.name for field in fields(kind) if field.name not in options]
    if unknown or missing:
        raise ConfigError(
            f"evaluation: {', '.join(unknown) or 'nothing'} is unknown and "
            f"{', '.join(missing) or 'nothing'} is missing; known: {', '.join(sorted(KNOWN))}."
        )
    return kind(**{field.name: options[field.name] for field in fields(kind)})


def _check_number(name: str, value: object) -> None:
    if type(value) is not int or value < 1:
        raise ConfigError(f"evaluation: {name} must be a whole number of at least 1, is {value!r}.")


def search_settings(options: Mapping[str, Any]) -> SearchSettings:
    """Read how to search from the evaluation block, or a part of it with these keys.

    Raises ConfigError for an unknown key, a missing one, or a value that cannot work.
    """
    settings = _read(SearchSettings, options)
    for name in ("depth", "batch_size", "block_documents", "threads"):
        _check_number(name, getattr(settings, name))
    return settings


def measure_settings(options: Mapping[str, Any]) -> MeasureSettings:
    """Read how to measure from the evaluation block, or a part of it with these keys.

    Raises ConfigError for an unknown key, a missing one, or a depth below the cutoff.
    """
    settings = _read(MeasureSettings, options)
    if not 1 <= settings.cutoff <= settings.depth:
        raise ConfigError(
            f"evaluation: 1 <= cutoff <= depth must hold, found {settings.cutoff} and "
            f"{settings.depth}."
        )
    return settings
