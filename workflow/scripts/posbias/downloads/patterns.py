"""Which files of a repository or a folder the patterns of the config choose."""

import difflib
import re
from collections.abc import Iterable

from posbias.errors import ConfigError

NEAR = 5  # names that a message offers
SIGNS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def as_regex(pattern: str) -> re.Pattern[str]:
    """Return a glob pattern as a regular expression.

    `*` and `?` stay within a folder, `**/` is any number of folders, also none; all else,
    brackets too, stands for itself.
    """
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(SIGNS.get(part, re.escape(part)) for part in parts))


def chosen_files(where: str, names: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """Return the names that match a pattern, sorted.

    where: what holds the files, for messages. Raises ConfigError for a pattern without a match,
    with names that are near to it.
    """
    names = sorted(names)
    chosen: set[str] = set()
    for pattern in patterns:
        expression = as_regex(pattern)
        matches = [name for name in names if expression.fullmatch(name)]
        if not matches:
            near = difflib.get_close_matches(pattern, names, NEAR, cutoff=0.3) or names[:NEAR]
            raise ConfigError(
                f"{where}: no file matches {pattern!r}; near to it: {', '.join(near) or 'none'} "
                f"(of {len(names)} files). Mend the files of this download in the config."
            )
        chosen.update(matches)
    return sorted(chosen)
