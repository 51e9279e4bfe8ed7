"""Waiting for a server that is busy or out of reach: longer each time, and not for ever."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from posbias.errors import PosbiasError

log = logging.getLogger("download")
BUSY = (408, 429, 500, 502, 503, 504)  # answers that a later try may better
T = TypeVar("T")


class Broken(Exception):
    """A connection that ended before its answer did."""


@dataclass(frozen=True)
class Patience:
    """How often something is tried without gaining a byte, and how long the waits are (seconds)."""

    tries: int = 8
    first: float = 2.0
    longest: float = 300.0

    def wait(self, failures: int, told: float | None) -> float:
        """Return the wait after so many failures in a row, or what the server asked for."""
        wait = self.first * 2 ** (failures - 1) if told is None else told
        return min(wait, self.longest)


def _told_wait(headers: object) -> float | None:
    """Return the seconds that a server asks to wait for, if it does."""
    from huggingface_hub.utils import parse_ratelimit_headers

    limit = parse_ratelimit_headers(headers)
    if limit is not None and limit.remaining == 0:
        return limit.reset_in_seconds + 1.0
    after = headers.get("Retry-After", "").strip()
    return float(after) + 1.0 if after.isdigit() else None


def with_patience(
    where: str,
    ask: Callable[[], T],
    gained: Callable[[], int],
    patience: Patience,
    sleep: Callable[[float], None],
) -> T:
    """Return what `ask` returns, after waits where it met a busy server or a broken connection.

    where: what is asked, for messages; gained: bytes that were gained so far, as only tries
    without any count. Raises PosbiasError once patience is at its end; other faults pass.
    """
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError

    failures, before = 0, gained()
    while True:
        told = None
        try:
            return ask()
        except HfHubHTTPError as fault:
            if fault.response.status_code not in BUSY:
                raise
            told = _told_wait(fault.response.headers)
            reason = f"the hub answers {fault.response.status_code}"
            last: Exception = fault
        except (httpx2.TransportError, Broken) as fault:
            reason = f"{type(fault).__name__}: {fault}"
            last = fault
        now = gained()
        failures = 1 if now > before else failures + 1
        before = now
        if failures >= patience.tries:
            raise PosbiasError(
                f"{where}: given up after {failures} tries ({reason}). What came so far is kept: "
                "run again later. Check the network and HTTPS_PROXY; a machine without a network "
                "takes the files from a folder, see the key path of downloads."
            ) from last
        wait = patience.wait(failures, told)
        log.warning(
            "%s: %s; try %d of %d in %.0f s", where, reason, failures + 1, patience.tries, wait
        )
        sleep(wait)
