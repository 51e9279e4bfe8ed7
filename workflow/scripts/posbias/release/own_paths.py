"""Places on one machine that a configuration names, and which all who get the release can read."""

import re
from collections.abc import Mapping
from typing import Any

from posbias.release.nested import Place, dotted, leaves

# Absolute, below the home folder or the working one; also of another system, such as C:\texts.
OWN = re.compile(r"(~\w*)?[/\\]\S|\.\.?[/\\]|[A-Za-z]:[/\\]")


def _is_download_path(place: Place) -> bool:
    """Say whether a place is downloads.<name>.path, in the stead of a repository."""
    return len(place) == 3 and place[0] == "downloads" and place[2] == "path"


def own_paths(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a configuration that are paths of the user's own, by their dotted names.

    They are the paths of downloads, and what is absolute or begins with ./, ../ or ~, as such names
    tell of a user and of a machine. Names in the project's own folders, of repositories, and
    addresses of the web are not.
    """
    return {
        dotted(place): value
        for place, value in leaves(config)
        if isinstance(value, str) and value and (_is_download_path(place) or OWN.match(value))
    }
