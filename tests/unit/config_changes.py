"""Changed copies of a configuration, for tests of what is refused, and parts of it."""

import json


def changed(config: dict, path: str, value: object) -> dict:
    """Return a copy of the config with one value set; numbers in the path index lists.

    Blocks that YAML shares by a name are copied apart.
    """
    new = json.loads(json.dumps(config))
    *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place = new
    for key in parents:
        place = place[key]
    place[last] = value
    return new


def asset_of(config: dict, name: str) -> dict[str, str]:
    """Return where a packaged file lies and its hash, as scripts get them."""
    return {key: value for key, value in config["assets"][name].items() if key != "licence"}
