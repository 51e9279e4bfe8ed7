"""A server on 127.0.0.1 that speaks OpenAI's chat and batch protocol, and misbehaves on demand.

`plan[prompt]` is a list of behaviours for the next calls with that prompt, `always` one for calls
without a plan; `batch_plan` holds one dict of misbehaviours a batch, in order of creation;
`faults["POST /files"]` a list of behaviours for the next such calls. What it charges for is in
`paid`, by prompt. An answer depends on the prompt only.
"""

import json
import random
import re
import threading
import time
from collections import Counter, defaultdict
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from posbias.queries.chat import ChatRequest

KEY = "sk-test-b7d1f0c94e55"
MODEL = "gpt-4o-mini-2024-07-18"
PAID = {"ok", "slow", "drop", "refusal", "length", "filter", "no_choices", "no_usage", "not_json",
        "html", "null_text", "surrogate", "tool_calls", "list"}  # fmt: skip


def requests_of(*prompts: str) -> list[ChatRequest]:
    return [ChatRequest(f"doc-{prompt}|begin", prompt) for prompt in prompts]


def toy_options(**changes: object) -> dict:
    """Options for the server whose address and key are in TOY_URL and TOY_KEY: no long waits."""
    return {
        "cap_dollars": 1.0,
        "key_variable": "TOY_KEY",
        "base_url_variable": "TOY_URL",
        "concurrency": 4,
        "retries": 3,
        "first_wait_seconds": 0.001,
        "timeout_seconds": 10.0,
        "poll_seconds": 0.005,
        "batch_requests": 4,
        "batches_at_once": 2,
        **changes,
    }


def answer_to(prompt: str) -> str:
    return json.dumps({"query": f"what of {prompt}?", "answer": "北京 \u2028"}, ensure_ascii=False)


def usage_of(prompt: str) -> dict:
    given = 5 + len(prompt.encode()) // 3
    return {
        "prompt_tokens": given,
        "completion_tokens": 7,
        "total_tokens": given + 7,
        "prompt_tokens_details": {"cached_tokens": given // 2},
    }


def completion(prompt: str, behaviour: str = "ok") -> dict:
    message = {"role": "assistant", "content": answer_to(prompt), "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": MODEL,
            "choices": [choice], "usage": usage_of(prompt)}  # fmt: skip
    if behaviour == "refusal":
        message.update(content=None, refusal="I cannot help with that.")
    elif behaviour == "length":
        choice["finish_reason"], message["content"] = "length", '{"query": "wh'
    elif behaviour == "filter":
        choice["finish_reason"], message["content"] = "content_filter", None
    elif behaviour == "no_choices":
        body["choices"] = []
    elif behaviour == "no_usage":
        del body["usage"]
    elif behaviour == "null_text":
        message["content"] = None
    elif behaviour == "surrogate":
        message["content"] = "half \ud83d"
    elif behaviour == "tool_calls":
        choice["finish_reason"] = "tool_calls"
    return body


def error(code: str, message: str = "", kind: str = "invalid_request_error") -> dict:
    return {"error": {"message": message or f"about {code}", "type": kind, "code": code}}


class FakeOpenAI:
    """Use as a context manager; `url` is the base URL."""

    def __init__(self) -> None:
        self.plan: dict[str, list[str]] = defaultdict(list)
        self.always = "ok"
        self.delay = 0.0
        self.usage: dict[str, dict] = {}
        self.batch_plan: list[dict] = []
        self.faults: dict[str, list[str]] = defaultdict(list)
        self.paid: Counter = Counter()
        self.calls: Counter = Counter()
        self.bodies: list[dict] = []
        self.headers: list[dict] = []
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict] = {}
        self.clock = time.time
        self.at_once = self.most_at_once = 0
        self.lock = threading.RLock()
        self.on_paid = lambda: None

    def __enter__(self) -> "FakeOpenAI":
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # a client that was killed is no news
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def pay(self, prompt: str) -> None:
        with self.lock:
            self.paid[prompt] += 1
        self.on_paid()

    # Batches.

    def new_file(self, content: bytes) -> str:
        with self.lock:
            identifier = f"file-{len(self.files)}"
            self.files[identifier] = content
        return identifier

    def new_batch(self, body: dict) -> dict:
        with self.lock:
            plan = self.batch_plan.pop(0) if self.batch_plan else {}
            batch = {
                "id": f"batch_{len(self.batches)}",
                "object": "batch",
                "endpoint": body["endpoint"],
                "completion_window": body["completion_window"],
                "input_file_id": body["input_file_id"],
                "metadata": body.get("metadata"),
                "created_at": int(self.clock()) + len(self.batches),
                "status": "validating",
                "output_file_id": None,
                "error_file_id": None,
                "errors": None,
                "request_counts": {"total": 0, "completed": 0, "failed": 0},
                "plan": plan,
                "left": list(plan.get("statuses", ["in_progress", "finalizing"])),
            }
            self.batches[batch["id"]] = batch
        return batch

    def prompts(self, batch: dict) -> list[str]:
        lines = self.files[batch["input_file_id"]].decode().split("\n")
        return [json.loads(line)["body"]["messages"][0]["content"] for line in lines if line]

    def advance(self, batch: dict) -> dict:
        """One poll: the next status, and at the end the files."""
        with self.lock:
            if batch["status"] in ("completed", "failed", "expired", "cancelled"):
                pass
            elif batch["left"]:
                batch["status"] = batch["left"].pop(0)
            else:
                self._end(batch)
        return {name: value for name, value in batch.items() if name not in ("plan", "left")}

    def bill(self) -> Counter:
        """End all batches, asked for or not, and return what was paid for."""
        for batch in self.batches.values():
            while self.advance(batch)["status"] not in ("completed", "expired"):
                pass
        return self.paid

    def _end(self, batch: dict) -> None:
        plan = batch["plan"]
        batch["status"] = plan.get("end", "completed")
        if batch["status"] == "failed":
            code = plan.get("code", "token_limit_exceeded")
            message = plan.get("message", "Enqueued token limit reached for gpt-4o-mini.")
            batch["errors"] = {"object": "list", "data": [
                {"code": code, "line": None, "message": message, "param": None}]}  # fmt: skip
            return
        lines = self.files[batch["input_file_id"]].decode().split("\n")
        asked = [json.loads(line) for line in lines if line]
        cut = plan.get("processed", len(asked))
        output, errors = [], []
        for number, line in enumerate(asked):
            prompt = line["body"]["messages"][0]["content"]
            result = {"id": f"r{number}", "custom_id": line["custom_id"], "error": None}
            behaviours = self.plan.get(prompt)
            behaviour = behaviours.pop(0) if behaviours else "ok"
            if number >= cut:
                code = f"batch_{batch['status']}"
                errors.append({**result, "response": None, "error": {
                    "code": code, "message": "not done in time"}})  # fmt: skip
            elif behaviour == "missing":
                continue
            elif behaviour[0].isdigit():
                status, _, code = behaviour.partition(":")
                errors.append({**result, "response": {
                    "status_code": int(status), "body": error(code or "x")}})  # fmt: skip
            else:
                self.pay(prompt)
                output.append({**result, "response": {
                    "status_code": 200, "body": completion(prompt, behaviour)}})  # fmt: skip
        random.Random(len(self.batches)).shuffle(output)
        if plan.get("duplicates"):
            output += output
        raw = [json.dumps(line, ensure_ascii=number % 2 == 0) for number, line in enumerate(output)]
        raw += plan.get("more_lines", [])
        batch["request_counts"] = {"total": len(asked), "completed": len(output),
                                   "failed": len(errors)}  # fmt: skip
        if raw:
            batch["output_file_id"] = self.new_file("\n".join(raw).encode("utf-8", "surrogatepass"))
        elif "empty_id" in plan:
            batch["output_file_id"] = plan["empty_id"]
        if errors:
            batch["error_file_id"] = self.new_file(
                "".join(json.dumps(line) + "\n" for line in errors).encode()
            )


class _Handler(BaseHTTPRequestHandler):
    fake: FakeOpenAI
    protocol_version = "HTTP/1.1"
    wbufsize, disable_nagle_algorithm = 2**16, True  # or each answer would take 40 ms

    def log_message(self, *_: object) -> None:
        pass

    def send(self, status: int, body: object, headers: dict | None = None,
             kind: str = "application/json") -> None:  # fmt: skip
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(raw)),
                            **(headers or {})}.items():  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.close()

    def do_GET(self) -> None:
        self.handle_call("GET", b"")

    def do_POST(self) -> None:
        self.handle_call("POST", self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def handle_call(self, method: str, raw: bytes) -> None:
        fake = self.fake
        path, _, query = self.path.removeprefix("/v1").partition("?")
        name = f"{method} {re.sub(r'(file-|batch_)[0-9]+', '{id}', path)}"
        with fake.lock:
            fake.calls[name] += 1
            fake.headers.append({name.lower(): value for name, value in self.headers.items()})
            fault = fake.faults[name].pop(0) if fake.faults[name] else None
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            sent = self.headers.get("Authorization", "")
            self.send(401, error("invalid_api_key", f"Incorrect API key provided: {sent}"))
        elif fault and fault != "done_then_500":
            self.misbehave(fault)
        elif name == "POST /chat/completions":
            self.chat(json.loads(raw))
        else:
            status, body = self.batch_call(name, path, query, raw)
            if fault:
                self.send(500, error("server_error"))
            else:
                self.send(status, body)

    def misbehave(self, behaviour: str) -> None:
        status, _, rest = behaviour.partition(":")
        if behaviour == "quota":
            self.send(429, error("insufficient_quota", kind="insufficient_quota"))
        elif behaviour == "echo_key":
            self.send(400, error("strange", f"your key {KEY}\nwas seen"))
        elif status == "429":
            headers = {"Retry-After": rest} if rest else {}
            self.send(429, error("rate_limit_exceeded", kind="requests"), headers)
        elif status.isdigit():
            self.send(int(status), error(rest or "some_code"))
        elif behaviour == "refuse_connection":
            self.hang_up()
        else:
            raise ValueError(behaviour)

    def chat(self, body: dict) -> None:
        fake, prompt = self.fake, body["messages"][0]["content"]
        with fake.lock:
            fake.bodies.append(body)
            planned = fake.plan[prompt]
            behaviour = planned.pop(0) if planned else fake.always
            fake.at_once += 1
            fake.most_at_once = max(fake.most_at_once, fake.at_once)
        time.sleep(fake.delay)
        try:
            if behaviour in PAID:
                fake.pay(prompt)
        finally:
            with fake.lock:
                fake.at_once -= 1
        if behaviour == "drop":
            self.hang_up()
        elif behaviour == "slow":
            time.sleep(0.5)
            self.hang_up()
        elif behaviour == "not_json":
            self.send(200, b'{"id": "c1", "choi')
        elif behaviour == "html":
            self.send(200, b"<html>bad gateway</html>", kind="text/html")
        elif behaviour == "list":
            self.send(200, [1, 2])
        elif behaviour in PAID:
            answer = completion(prompt, behaviour)
            if prompt in fake.usage:
                answer["usage"] = fake.usage[prompt]
            self.send(200, answer)
        else:
            self.misbehave(behaviour)

    def batch_call(self, name: str, path: str, query: str, raw: bytes) -> tuple[int, object]:
        fake = self.fake
        identifier = path.split("/")[2] if path.count("/") > 1 else ""
        if name == "POST /files":
            return 200, {"id": fake.new_file(self.part(raw)), "object": "file"}
        if name == "GET /files/{id}/content":
            if identifier not in fake.files:
                return 404, error("not_found", f"No such File object: {identifier}")
            return 200, fake.files[identifier]
        if name == "GET /files/{id}":
            return 200, {"id": identifier, "object": "file"}
        if name == "POST /batches":
            return 200, fake.advance({**fake.new_batch(json.loads(raw)), "left": ["validating"]})
        if name == "GET /batches":
            after = re.search(r"after=([^&]*)", query)
            newest = list(reversed(fake.batches.values()))
            names = [batch["id"] for batch in newest]
            start = names.index(after[1]) + 1 if after else 0
            page = [dict(batch) for batch in newest[start : start + 2]]  # small, to be paged
            return 200, {"object": "list", "data": page, "has_more": start + 2 < len(newest)}
        if name == "POST /batches/{id}/cancel":
            fake.batches[identifier]["left"] = []
            fake.batches[identifier]["plan"]["end"] = "cancelled"
            return 200, {"id": identifier, "status": "cancelling"}
        if name == "GET /batches/{id}" and identifier in fake.batches:
            return 200, fake.advance(fake.batches[identifier])
        return 404, error("not_found", f"nothing at {path}")

    def part(self, raw: bytes) -> bytes:
        """Return the file of a multipart form."""
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        for part in BytesParser(policy=HTTP).parsebytes(head + raw).iter_parts():
            if part.get_filename():
                return part.get_payload(decode=True)
        raise ValueError("no file in the form")
