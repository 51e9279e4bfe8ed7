"""Names in a config: what they refer to exists, and each is one of its kind."""

from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches

from posbias.errors import ConfigError


def check_known(place: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise ConfigError for a name that is not among the known ones, with the nearest one that is.

    place: where the names stand in the config.
    """
    known = list(known)
    for name in names:
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ConfigError(f"{place}: {name!r} does not exist.{hint} Known: {', '.join(known)}.")


def check_selected(place: str, names: Iterable[str], block: dict, selected: list[str]) -> None:
    """Raise ConfigError for a name that a block's `known` lacks, or that is not selected."""
    names = list(names)
    check_known(place, names, block["known"])
    for name in names:
        if name not in selected:
            raise ConfigError(f"{place}: {name!r} is not among those selected; add it there.")


def check_unique(place: str, names: Iterable[str]) -> None:
    """Raise ConfigError naming a value that stands twice where each must be one of its kind."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ConfigError(f"config, {place}: {twice[0]!r} stands twice; give each its own.")


def select(place: str, block: dict) -> list[str]:
    """Return the names of `known` that a block of the config selects, in the order of the config.

    place: where the block stands. Raises ConfigError for a name that the config does not know,
    with the nearest one it does.
    """
    return chosen(f"{place}.selected", block["selected"], block["known"])


def chosen(place: str, names: str | list[str], known: Iterable[str]) -> list[str]:
    """Return all known names for "all", else those that are listed, in the order of the known."""
    known = list(known)
    if names == "all":
        return known
    check_known(place, names, known)
    return [name for name in known if name in names]
