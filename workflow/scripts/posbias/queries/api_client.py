"""The few calls to an OpenAI-compatible server that the askers need, each in one attempt.

Bodies are read here and not by the openai package, which lets those through that are no JSON.
"""

import json
from collections.abc import Iterator
from typing import Any

from posbias.errors import ConfigError
from posbias.queries.api_errors import ApiFault, fault_of, one_line
from posbias.queries.api_options import ApiOptions, bad_address, read_access, server_of

ENDPOINT = "/v1/chat/completions"
LISTED = 100  # batches a page


class ChatApi:
    """Calls that raise ApiFault and nothing else for whatever the server or the network does.

    Raises ConfigError if the openai package or an environment variable is missing.
    """

    def __init__(self, options: ApiOptions, seed: int, place: str) -> None:
        try:
            import openai
        except ImportError as fault:
            raise ConfigError(
                f"the generator needs the package openai ({fault}); install it, or choose another."
            ) from fault
        address, self._key = read_access(options, place)
        self._options, self._seed = options, seed
        self.server = server_of(address)
        try:
            # Retries are ours: the package's own could not tell what a lost call may have cost.
            self._client = openai.OpenAI(
                api_key=self._key, base_url=address, timeout=options.timeout_seconds, max_retries=0
            )
        except Exception as fault:  # its HTTP client has its own fault for an address
            raise bad_address(options, place, address) from fault

    def _call(self, function: Any, *arguments: Any, **named: Any) -> bytes:
        import openai

        try:
            return function(*arguments, **named).http_response.content
        except (openai.OpenAIError, UnicodeError) as fault:
            # Without its cause: a traceback must not show what the request held.
            raise fault_of(fault, self._key, self.server) from None

    def _json(self, function: Any, *arguments: Any, **named: Any) -> dict:
        raw = self._call(function, *arguments, **named)
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            shown = one_line(raw.decode("utf-8", "replace"), self._key)
            raise ApiFault("retry", "bad_body", f"not a JSON object: {shown}", perhaps_paid=True)
        return body

    def complete(self, prompt: str) -> dict:
        """Return the body of a chat completion."""
        body = self._options.body(prompt, self._seed)
        return self._json(self._client.chat.completions.with_raw_response.create, **body)

    def batch_line(self, custom_id: str, prompt: str) -> bytes:
        """Return a request as a line of a batch file."""
        body = self._options.body(prompt, self._seed)
        line = {"custom_id": custom_id, "method": "POST", "url": ENDPOINT, "body": body}
        return json.dumps(line, ensure_ascii=False).encode("utf-8") + b"\n"

    def upload(self, name: str, content: bytes) -> str:
        """Upload a batch file; return its id."""
        body = self._json(
            self._client.files.with_raw_response.create,
            file=(name, content),
            purpose="batch",
            timeout=self._options.transfer_seconds,
        )
        return self._id(body)

    def create_batch(self, file_id: str, metadata: dict[str, str]) -> str:
        """Start a batch; return its id."""
        body = self._json(
            self._client.batches.with_raw_response.create,
            completion_window="24h",
            endpoint=ENDPOINT,
            input_file_id=file_id,
            metadata=metadata,
        )
        return self._id(body)

    def batch(self, batch_id: str) -> dict:
        """Return a batch's present state."""
        return self._json(self._client.batches.with_raw_response.retrieve, batch_id)

    def batches(self) -> Iterator[dict]:
        """Yield all batches of the account, the newest first."""
        after: dict[str, str] = {}
        while True:
            page = self._json(self._client.batches.with_raw_response.list, limit=LISTED, **after)
            found = page.get("data") or []
            yield from found
            if not found or not page.get("has_more"):
                return
            after = {"after": found[-1]["id"]}

    def content(self, file_id: str) -> bytes:
        """Return a file's content."""
        return self._call(
            self._client.files.with_raw_response.content,
            file_id,
            timeout=self._options.transfer_seconds,
        )

    def _id(self, body: dict) -> str:
        identifier = body.get("id")
        if not isinstance(identifier, str) or not identifier:
            raise ApiFault("retry", "bad_body", f"without an id: {one_line(body, self._key)}")
        return identifier

    def secret_free(self, message: object) -> str:
        """Return a message on one line without the key."""
        return one_line(message, self._key)
