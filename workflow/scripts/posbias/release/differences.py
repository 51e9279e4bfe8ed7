"""Where two configurations differ, by the dotted names of their keys."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from posbias.errors import ConfigError
from posbias.release.manifest import Manifest
from posbias.release.nested import Place, dotted

# A run from a release must set the first two otherwise than the run that made it.
ALWAYS_IGNORED = ("metrics_from", "release")
SHOWN = 20  # keys in an error


def _below(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith((f"{prefix}.", f"{prefix}["))


def _same(one: Any, other: Any) -> bool:
    """Compare values; 1 and 1.0 are the same number, 1 and true are not the same."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _differing(one: Any, other: Any, place: Place) -> Iterator[Place]:
    """Yield the places at which values differ; of what only one has, its outermost place."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        left, right = ({str(key): value for key, value in side.items()} for side in (one, other))
        for key in left.keys() | right.keys():
            if key in left and key in right:
                yield from _differing(left[key], right[key], (*place, key))
            else:
                yield (*place, key)
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            yield place
            return
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _differing(left, right, (*place, index))
    elif not _same(one, other):
        yield place


def differences(
    release_config: Mapping[str, Any], config: Mapping[str, Any], ignored: Iterable[str] = ()
) -> list[str]:
    """Return the dotted names of keys whose values differ, or that one config lacks, sorted.

    Lists of unequal length differ as a whole. ignored: dotted names that do not count, with all
    below them, beside metrics_from and release.
    """
    skipped = (*ALWAYS_IGNORED, *ignored)
    names = {dotted(place) for place in _differing(release_config, config, ())}
    return sorted(name for name in names if not any(_below(name, one) for one in skipped))


def check_same_config(
    manifest: Manifest, config: Mapping[str, Any], archive: object, ignored: Iterable[str] = ()
) -> None:
    """Raise ConfigError naming the keys in which a config is not the one of a release."""
    names = differences(manifest.config, config, ignored)
    if not names:
        return
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    raise ConfigError(
        f"{archive}: made with another configuration, of the {manifest.scale} scale. Keys that "
        f"differ: {', '.join(names[:SHOWN])}{more}. Draw its figures with the config.yaml that "
        "the archive holds, or measure with yours (metrics_from: computed)."
    )
