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


def check_unique(place: str, names: Iterable[str]) -> None:
    """Raise ConfigError naming a value that stands twice where each must be one of its kind."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ConfigError(f"config, {place}: {twice[0]!r} stands twice; give each its own.")


def select(retrievers: dict) -> list[str]:
    """Return the selected names in the order of the config.

    Raises ConfigError for a name that the config does not know, with the nearest one it does.
    """
    known = list(retrievers["known"])
    selected = known if retrievers["selected"] == "all" else retrievers["selected"]
    check_known("retrievers.selected", selected, known)
    return [name for name in known if name in selected]
