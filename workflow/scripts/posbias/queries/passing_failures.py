"""The end of a run of which more requests than allowed failed for reasons that pass."""

from collections import Counter

from posbias.errors import ConfigError, PosbiasError


def allowed_share(name: str, share: object) -> float:
    """Return the share of requests that may fail; raises ConfigError unless it is from 0 to 1."""
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 <= share <= 1:
        raise ConfigError(f"{name}: allowed_failures must be from 0 to 1, is {share!r}.")
    return share


def check_failures(
    name: str, failures: Counter, asked: int, allowed: float, last: str = ""
) -> None:
    """Raise PosbiasError if more than a share of the requests failed for passing reasons.

    name: who asked; failures: requests by reason; allowed: the share, 0 to 1; last: what the last
    of them was told, if that is known.
    """
    failed = failures.total()
    if failed <= allowed * asked:
        return
    reasons = ", ".join(f"{n} {reason}" for reason, n in failures.most_common())
    told = f"; the last: {last}" if last else ""
    raise PosbiasError(
        f"{name}: {failed} of {asked} requests failed for passing reasons ({reasons}{told}); run "
        "again: what was answered is in the log, and only the rest is asked for. The option "
        f"allowed_failures lets a share of them pass (now {allowed:g})."
    )
