"""Keys and tokens that a server is asked with: whole, or refused without being shown."""

import json
import re
from urllib.parse import quote

from posbias.errors import ConfigError

_PLAIN = re.compile(r"[!-~]+")  # printable ASCII without the blank: all that a header may hold


def check_key(key: str, place: str) -> None:
    """Raise ConfigError for a key that no header can hold; it would fail late, and be shown.

    place: the environment variable that holds it, and where that stands in the config.
    """
    if _PLAIN.fullmatch(key):
        return
    if not key:
        fault = "is empty"
    elif key.isascii():
        fault = "holds a blank, a line break or another sign that no key has"
    else:
        fault = "holds signs beyond ASCII, such as curly quotes"
    raise ConfigError(f"{place} {fault}; copy the key once more, and nothing but the key.")


def written_forms(key: str) -> list[str]:
    """Return how a key may stand in a message: plain, or as Python, JSON or an address write it."""
    python = {repr(key)[1:-1], repr(key.encode())[2:-1]}
    forms = {key, *python, json.dumps(key)[1:-1], quote(key), quote(key, "")}
    return sorted(forms - {""}, key=len, reverse=True)
