"""What an API's fault means for the run: stop, try again, or go on without this one answer."""

import email.utils
import time
from collections.abc import Mapping

from posbias.access_keys import written_forms
from posbias.errors import PosbiasError

QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
FINAL = {401: "authentication", 402: "payment", 403: "permission", 404: "not_found"}
GATEWAY = {408, 502, 504, 520, 522, 524}  # the model may have answered, and been paid, all the same
NEVER_SENT = ("Connect", "LocalProtocol", "Pool", "Unicode", "Unsupported")  # names of faults
LONGEST_MESSAGE = 300  # characters


class ApiStopped(PosbiasError):
    """Going on makes no sense now; the answers so far are in the log and a new run goes on."""


class BudgetSpent(ApiStopped):
    """The next call could cost more than the cap leaves."""


class ApiFault(Exception):
    """One call without an answer.

    action: "stop" the run, "retry" the call, or "answer" the request with this fault;
    wait: seconds that the server asks for; perhaps_paid: the call may have cost money.
    """

    def __init__(
        self, action: str, reason: str, message: str, wait: float | None = None,
        perhaps_paid: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(f"{reason}: {message}")
        self.action, self.reason, self.wait = action, reason, wait
        self.perhaps_paid = perhaps_paid


def one_line(message: object, secret: str = "") -> str:
    """Return a message on one line, not too long and without the secret."""
    text = str(message).encode("utf-8", "replace").decode("utf-8")
    if secret:
        for form in written_forms(secret):
            text = text.replace(form, "***")
    return " ".join(text.split())[:LONGEST_MESSAGE]


def seconds_to_wait(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Read Retry-After in milliseconds, seconds or as a date; None if there is none.

    now: seconds since 1970.
    """
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        return seconds if seconds >= 0 else None
    try:
        date = email.utils.parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return max(0.0, date.timestamp() - (time.time() if now is None else now))


def fault_of_status(
    status: int, error: object, headers: Mapping[str, str] | None = None, secret: str = ""
) -> ApiFault:
    """Say what an HTTP status of 400 or more means; error: the `error` object of the body."""
    fields = error if isinstance(error, Mapping) else {}
    names = {str(fields[name]) for name in ("code", "type") if fields.get(name)}
    code = one_line(fields.get("code") or fields.get("type") or "", secret).replace(":", " ")
    code = code or f"status_{status}"
    message = one_line(fields.get("message") or error or f"status {status}", secret)
    if names & QUOTA:
        return ApiFault("stop", "quota", f"the account has no credit left ({code}); add some.")
    if status == 401:
        # The server's own words may repeat a part of the key.
        return ApiFault("stop", "authentication", f"the key was not accepted (status 401, {code}).")
    if status in FINAL:
        return ApiFault("stop", FINAL[status], f"status {status}, {code}: {message}")
    if status == 429:
        return ApiFault("retry", "rate_limit", message, seconds_to_wait(headers or {}))
    if status in (408, 409, 425) or status >= 500:
        return ApiFault("retry", f"status_{status}", message, seconds_to_wait(headers or {}),
                        status in GATEWAY)  # fmt: skip
    return ApiFault("answer", code, f"status {status}: {message}")


def fault_of(fault: Exception, secret: str = "", server: str = "") -> ApiFault:
    """Say what an exception of the openai client means; other exceptions are raised again.

    server: its address, named where it could not be reached.
    """
    import openai

    if isinstance(fault, openai.APIStatusError):
        return fault_of_status(fault.status_code, fault.body, fault.response.headers, secret)
    if isinstance(fault, openai.APIConnectionError):
        # What never left this machine has cost nothing.
        sent = not type(fault.__cause__).__name__.startswith(NEVER_SENT)
        timed_out = isinstance(fault, openai.APITimeoutError)
        reason = "timeout" if timed_out else "connection"
        cause = one_line(f"{type(fault.__cause__).__name__} {fault.__cause__ or ''}", secret)
        return ApiFault("retry", reason, f"{server} {cause}".strip(), perhaps_paid=sent)
    if isinstance(fault, UnicodeError):
        cause = one_line(f"{type(fault).__name__} {fault}", secret)
        return ApiFault("stop", "not_sent", f"the request cannot be written ({cause})")
    raise fault
