"""Values nested in keys and lists, and the dotted names of their places."""

from collections.abc import Iterator, Mapping
from typing import Any

Place = tuple[str | int, ...]


def plain(value: Any) -> Any:
    """Return a nested value in plain lists and dicts, none of which is shared or subclassed."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield the values of nested keys and lists with their places; empty ones are values too."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*place, str(key)))
    elif isinstance(value, list | tuple) and value:
        for index, inner in enumerate(value):
            yield from leaves(inner, (*place, index))
    else:
        yield place, value


def dotted(place: Place) -> str:
    """Return a place as text, such as verification.panel[1].options.k1."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in place]
    return "".join(parts).removeprefix(".")
