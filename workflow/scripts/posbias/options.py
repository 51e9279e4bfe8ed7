"""Options that the config leaves to whoever takes them: a wrong one is named, no traceback."""

import inspect
from collections.abc import Callable, Mapping

from posbias.errors import ConfigError


def check_options(
    place: str,
    function: Callable,
    options: Mapping[str, object],
    given: int = 0,
    own: Mapping[str, object] | None = None,
) -> None:
    """Raise ConfigError unless a function can be called with the options.

    place: where they stand in the config; given: how many leading arguments the caller passes;
    own: arguments that the caller passes by name, which are no options.
    """
    signature = inspect.signature(function)
    try:
        taken = [name for name in options if name in (own or {})]
        if taken:
            raise TypeError(f"{taken[0]!r} is no option")
        signature.bind(*[None] * given, **{**(own or {}), **options})
    except TypeError as fault:
        names = [name for name in list(signature.parameters)[given:] if name not in (own or {})]
        known = ", ".join(names) or "none"
        raise ConfigError(f"{place}: {fault}; its options: {known}.") from fault
