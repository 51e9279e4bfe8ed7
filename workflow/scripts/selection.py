"""Which retrievers of the config a run is about."""

from difflib import get_close_matches

from posbias.errors import ConfigError


def select(retrievers: dict) -> list[str]:
    """Return the selected names in the order of the config.

    Raises ConfigError for a name that the config does not know, with the nearest one it does.
    """
    known = list(retrievers["known"])
    selected = known if retrievers["selected"] == "all" else retrievers["selected"]
    for name in selected:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ConfigError(
                f"retrievers.selected: {name!r} does not exist.{hint} Known: {', '.join(known)}."
            )
    return [name for name in known if name in selected]
