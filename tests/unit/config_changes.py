"""Changed copies of a configuration, for tests of what is refused."""

import copy


def changed(config: dict, path: str, value: object) -> dict:
    """Return a copy of the config with one value set; numbers in the path index lists."""
    new = copy.deepcopy(config)
    *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place = new
    for key in parents:
        place = place[key]
    place[last] = value
    return new
