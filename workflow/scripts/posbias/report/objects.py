"""Objects of JSON as figures and tables read them: what a file lacks is named, never met later.

A shape says what a value must be: a type, or several; {name: shape} for an object with at least
these fields; [shape] for a list that is not empty; Each(shape) for an object of any names.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

from posbias.errors import DataError
from posbias.files import read_json

NUMBER = (int, float)
MAYBE = (int, float, NoneType)  # a number, null where nothing could be measured
TEXT_OR_NULL = (str, NoneType)
ANY = (object, bool)
INTERVAL = {"kind": str, "resamples": int, "level": NUMBER}
AGAIN = "delete the file and run the step that makes it again"
NAMES = {str: "a text", int: "a whole number", float: "a number", NoneType: "null",
         dict: "an object", list: "a list", bool: "true or false"}  # fmt: skip


@dataclass(frozen=True)
class Each:
    """The shape of an object whose names are not known, with a least number of them."""

    inner: Any
    least: int = 0


def _found(value: Any) -> str:
    if isinstance(value, dict | list):
        kind = NAMES[type(value)]
        return kind if value else f"an empty {kind.split()[-1]}"
    return "null" if value is None else repr(value)


def _wanted(shape: Any) -> str:
    if isinstance(shape, dict | list | Each):
        return NAMES[list if isinstance(shape, list) else dict]
    kinds = shape if isinstance(shape, tuple) else (shape,)
    return " or ".join(NAMES[kind] for kind in kinds if not (kind is int and float in kinds))


def _fits(value: Any, shape: Any) -> bool:
    """Say whether a value is of the kind of a shape, whatever it holds inside."""
    if isinstance(shape, dict | list):
        return isinstance(value, type(shape)) and bool(value)
    if isinstance(shape, Each):
        return isinstance(value, dict) and len(value) >= shape.least
    kinds = shape if isinstance(shape, tuple) else (shape,)
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _missing(value: Any, shape: Any, place: str = "") -> Iterator[str]:
    """Yield the fields that are not there, as dotted names; of empty objects only the outermost's.

    Of others it is said that they are empty.
    """
    if isinstance(shape, dict) and isinstance(value, dict) and (value or not place):
        yield from (_below(place, name) for name in shape if name not in value)
        for name in (name for name in shape if name in value):
            yield from _missing(value[name], shape[name], _below(place, name))
    elif isinstance(shape, Each) and isinstance(value, dict):
        for name, inner in value.items():
            yield from _missing(inner, shape.inner, _below(place, name))
    elif isinstance(shape, list) and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _missing(inner, shape[0], f"{place}[{index}]")


def _unfit(value: Any, shape: Any, place: str = "") -> Iterator[str]:
    """Yield what is of another kind than its shape, with its place."""
    if not _fits(value, shape):
        yield f"{place} is {_found(value)}, expected {_wanted(shape)}"
    elif isinstance(shape, dict):
        for name in (name for name in shape if name in value):
            yield from _unfit(value[name], shape[name], _below(place, name))
    elif isinstance(shape, Each):
        for name, inner in value.items():
            yield from _unfit(inner, shape.inner, _below(place, name))
    elif isinstance(shape, list):
        for index, inner in enumerate(value):
            yield from _unfit(inner, shape[0], f"{place}[{index}]")


def read_object(path: Path, required: dict[str, Any], remedy: str = AGAIN) -> dict[str, Any]:
    """Read an object of JSON that has the required fields; others may be there.

    required: shape of each field. Raises DataError naming the file, the field and the remedy for
    what is no object, lacks a field, or has nothing or another kind of value where one is needed.
    """
    record = read_json(path)
    if not isinstance(record, dict):
        raise DataError(f"{path}: expected an object, found {_found(record)}; {remedy}.")
    missing = list(_missing(record, required))
    if missing:
        raise DataError(f"{path}: the field(s) {', '.join(missing)} are missing; {remedy}.")
    unfit = next(_unfit(record, required), None)
    if unfit:
        raise DataError(f"{path}: {unfit}; {remedy}.")
    return record
