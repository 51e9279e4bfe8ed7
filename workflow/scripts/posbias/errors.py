"""The one exception family for faults that a user can mend."""

import contextlib
from collections.abc import Iterator


class PosbiasError(Exception):
    """A fault in the input, the configuration or the machine; the message names the remedy."""


class DataError(PosbiasError):
    """A record or a file does not hold what its contract promises."""


class AssetError(PosbiasError):
    """A packaged model or text is missing or is not the pinned one."""


class DivergedError(PosbiasError):
    """A training has left the range of numbers."""


class ConfigError(PosbiasError):
    """A configuration value names something that does not exist or cannot work."""


@contextlib.contextmanager
def config_place(place: str) -> Iterator[None]:
    """Head each ConfigError raised within by the place in the config that it is about."""
    try:
        yield
    except ConfigError as fault:
        raise ConfigError(f"{place}: {fault}") from fault
