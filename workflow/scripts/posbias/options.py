"""Options that the config leaves to whoever takes them: a wrong one is named, no traceback."""

import inspect
from collections.abc import Callable, Mapping

from posbias.errors import ConfigError


def check_options(
    place: str, function: Callable, options: Mapping[str, object], given: int = 0
) -> None:
    """Raise ConfigError unless a function can be called with the options.

    place: where they stand in the config; given: how many leading arguments the caller passes.
    """
    signature = inspect.signature(function)
    try:
        signature.bind(*[None] * given, **options)
    except TypeError as fault:
        known = ", ".join(list(signature.parameters)[given:]) or "none"
        raise ConfigError(f"{place}: {fault}; its options: {known}.") from fault
