"""Options of a generator that asks a hosted model (retriever study, section 3.1.2)."""

import dataclasses
import math
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from posbias.access_keys import check_key
from posbias.errors import ConfigError
from posbias.options import check_options

MODES = ("sync", "batch")
LIMIT_PARAMETERS = ("max_completion_tokens", "max_tokens")
HOME = "https://api.openai.com/v1"


@dataclass(frozen=True, kw_only=True)
class ApiOptions:
    """All options; the paper names model, temperature and top_p, the rest is our choice.

    cap_dollars: limit over everything in the log, None for none; it has no default on purpose.
    """

    cap_dollars: float | None
    # What shapes an answer.
    model: str = "gpt-4o-mini"
    temperature: float = 1.0
    top_p: float = 1.0
    max_output_tokens: int = 1024
    limit_parameter: str = "max_completion_tokens"  # older servers know max_tokens only
    json_object: bool = False
    send_seed: bool = False
    # Where and how it is asked for.
    mode: str = "sync"
    key_variable: str = "OPENAI_API_KEY"
    base_url_variable: str | None = None
    dry_run: bool = False
    concurrency: int = 16  # calls at a time
    timeout_seconds: float = 120.0
    transfer_seconds: float = 900.0  # one upload or download of a batch file
    retries: int = 6  # of one call, beyond the first
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 120.0
    stop_after_failures: int = 25  # requests in a row
    # What it costs, in dollars per million tokens.
    input_price: float = 0.15
    cached_input_price: float = 0.075
    output_price: float = 0.60
    batch_factor: float = 0.5
    least_bytes_per_token: float = 1.0  # no token of a byte-level vocabulary is shorter
    chars_per_token: float = 4.3  # of a typical prompt, for the estimate only
    expected_output_tokens: int = 100  # of a typical answer, for the estimate only
    # The batch endpoint.
    batch_requests: int = 50_000  # a file
    batch_bytes: int = 200_000_000  # a file
    batches_at_once: int = 8
    enqueued_tokens: int | None = None  # in all open batches; the provider's limit for the account
    poll_seconds: float = 60.0
    ask_again: int = 2  # times, for a request whose result is missing or failed
    limit_waits: int = 20  # in a row, for a batch that the provider's token limit keeps out

    def settings(self, seed: int) -> dict:
        """Return what shapes an answer besides the prompt."""
        return {
            "model": self.model,
            "temperature": float(self.temperature),
            "top_p": float(self.top_p),
            "max_output_tokens": self.max_output_tokens,
            "json_object": self.json_object,
            "seed": seed if self.send_seed else None,
        }

    def body(self, prompt: str, seed: int) -> dict:
        """Return the body of a chat completion request with one user message."""
        body: dict = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self.temperature,
            "top_p": self.top_p,
            self.limit_parameter: self.max_output_tokens,
        }
        if self.json_object:
            body["response_format"] = {"type": "json_object"}
        if self.send_seed:
            body["seed"] = seed
        return body


# Smallest and largest value; None: no limit.
LIMITS: dict[str, tuple[float, float | None]] = {
    "cap_dollars": (0, None),
    "temperature": (0, 2),
    "top_p": (0, 1),
    "max_output_tokens": (1, None),
    "concurrency": (1, 1000),
    "timeout_seconds": (0.001, None),
    "transfer_seconds": (0.001, None),
    "retries": (0, None),
    "first_wait_seconds": (0, None),
    "longest_wait_seconds": (0, None),
    "stop_after_failures": (1, None),
    "input_price": (0, None),
    "cached_input_price": (0, None),
    "output_price": (0, None),
    "batch_factor": (0, 1),
    "least_bytes_per_token": (0.1, None),
    "chars_per_token": (0.1, None),
    "expected_output_tokens": (0, None),
    "batch_requests": (1, 50_000),
    "batch_bytes": (1, 200_000_000),
    "batches_at_once": (1, None),
    "enqueued_tokens": (1, None),
    "poll_seconds": (0, None),
    "ask_again": (0, None),
    "limit_waits": (0, None),
}


def read_options(options: dict, place: str) -> ApiOptions:
    """Check a config block; raises ConfigError that names the option, its value and the remedy.

    place: where the block stands in the config.
    """
    check_options(place, ApiOptions, options)
    for field in dataclasses.fields(ApiOptions):
        if field.name in options:
            _check(place, field.name, options[field.name], field.type)
    return ApiOptions(**options)


def _check(place: str, name: str, value: object, kind: object) -> None:
    wanted = {float: (int, float), float | None: (int, float, type(None))}.get(kind, kind)
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
        shown = kind.__name__ if isinstance(kind, type) else str(kind)
        raise ConfigError(f"{place}.{name}: {value!r} is no {shown}.")
    for option, known in (("mode", MODES), ("limit_parameter", LIMIT_PARAMETERS)):
        if name == option and value not in known:
            raise ConfigError(f"{place}.{name}: {value!r}; known: {', '.join(known)}.")
    if name in LIMITS and value is not None:
        low, high = LIMITS[name]
        if not math.isfinite(value) or value < low or (high is not None and value > high):
            limits = f"at least {low:g}" if high is None else f"from {low:g} to {high:g}"
            raise ConfigError(f"{place}.{name}: {value!r} is not {limits}.")


def read_access(options: ApiOptions, place: str) -> tuple[str, str]:
    """Return address and key from the environment.

    Raises ConfigError naming the variable, and never the key.
    """
    key = os.environ.get(options.key_variable, "").strip()
    if not key:
        raise ConfigError(
            f"{place}.key_variable: the environment variable {options.key_variable} is not set; "
            "export the key of your account in it (any word for a server that wants none)."
        )
    check_key(key, f"{place}.key_variable: the environment variable {options.key_variable}")
    if options.base_url_variable is None:
        return HOME, key
    address = os.environ.get(options.base_url_variable, "").strip()
    if not address.startswith(("http://", "https://")) or not server_of(address):
        raise bad_address(options, place, address)
    return address, key


def bad_address(options: ApiOptions, place: str, address: str) -> ConfigError:
    """Return the fault of a variable that holds no server's address."""
    return ConfigError(
        f"{place}.base_url_variable: the environment variable {options.base_url_variable} "
        f"holds {address!r}; set it to the server's address, such as http://127.0.0.1:8000/v1."
    )


def server_of(address: str) -> str:
    """Return protocol, host and port of an address, empty where it has none that can be."""
    try:
        parts = urlsplit(address)
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        return ""
    whole = parts.hostname and address.isprintable() and " " not in address
    return f"{parts.scheme}://{parts.hostname}{port}" if whole else ""
