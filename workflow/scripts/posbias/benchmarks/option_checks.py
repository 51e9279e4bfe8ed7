"""Checks of the options that the loaders of test collections take, before any data are read.

Each check takes the place of an option in the config and its value, and raises ConfigError.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from posbias.benchmarks.loaded import KEYED, PUBLIC
from posbias.errors import ConfigError
from posbias.options import check_options

Check = Callable[[str, Any], None]
ALL = "all"


def one_of(*known: object) -> Check:
    """Make the check that an option has one of the known values."""

    def check(place: str, value: Any) -> None:
        if value not in known:
            names = ", ".join(map(str, known))
            raise ConfigError(f"{place} {value!r} is not one of {names}.")

    return check


def whole_number(least: int) -> Check:
    """Make the check that an option is a whole number of at least `least`."""

    def check(place: str, value: Any) -> None:
        if type(value) is not int or value < least:
            raise ConfigError(f"{place} must be a whole number of at least {least}, is {value!r}.")

    return check


def or_null(wanted: Check) -> Check:
    """Make the check that an option is null or passes another check."""

    def check(place: str, value: Any) -> None:
        if value is not None:
            wanted(place, value)

    return check


def a_text(place: str, value: Any) -> None:
    """Raise ConfigError unless an option is a text."""
    if not isinstance(value, str):
        raise ConfigError(f"{place} must be a text, is {value!r}.")


def yes_or_no(place: str, value: Any) -> None:
    """Raise ConfigError unless an option is true or false."""
    if not isinstance(value, bool):
        raise ConfigError(f"{place} must be true or false, is {value!r}.")


def names_or_all(place: str, value: Any) -> None:
    """Raise ConfigError unless an option is "all" or a list of names, each of which stands once."""
    if value == ALL:
        return
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigError(f"{place} must be a list of names or {ALL}, is {value!r}.")
    if not value or not all(isinstance(name, str) for name in value):
        raise ConfigError(f"{place} must hold one name or more, and only texts, is {value!r}.")
    if len(set(value)) < len(value):
        raise ConfigError(f"{place} names one twice: {', '.join(value)}.")


def sample_by(sampled: Callable, number: str) -> Check:
    """Make the check that an option describes a sample: how it is ordered, and its size.

    sampled: takes queries, seed, by and the number. A sample that is null is none.
    """

    def check(place: str, value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, Mapping):
            raise ConfigError(f"{place} must be null, or by and {number}, is {value!r}.")
        check_options(place, sampled, value, given=2)
        one_of(PUBLIC, KEYED)(f"{place}.by", value["by"])
        whole_number(1)(f"{place}.{number}", value[number])

    return check


def check_values(place: str, checks: Mapping[str, Check], options: Mapping[str, Any]) -> None:
    """Raise ConfigError for the first option that its check refuses."""
    for name, value in options.items():
        checks[name](f"{place}: {name}", value)
