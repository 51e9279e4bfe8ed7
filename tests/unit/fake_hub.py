"""A hub on this machine: enough of the model hub's protocol for its own client, and faults."""

import hashlib
import json
import re
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import unquote, urlsplit

RESOLVE = re.compile(r"/(datasets/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)")
API = re.compile(r"/api/(models|datasets)/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+))?")


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one answer: a refusal, or a body that ends early or is another."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None  # bytes that come before the connection ends
    body: bytes | None = None
    whole: bool = False  # pays no heed to a range


@dataclass
class Repo:
    """A repository: its commits, newest last, each with its files."""

    kind: str
    commits: dict[str, dict[str, bytes]]
    large: frozenset[str] = frozenset()
    licence: str | None = None
    gated: bool = False

    @property
    def head(self) -> str:
        return list(self.commits)[-1]


def git_hash(body: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


class FakeHub:
    """The server; `faults[path]` are used up one an answer, `seen` is what was asked of it.

    Large files are redirected to a second server, as the hub does with its storage.
    """

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        self.token: str | None = None  # who sends it may have gated files
        self.served_commit: str | None = None  # a hub that is at fault
        self.servers = [ThreadingHTTPServer(("127.0.0.1", 0), _handler(self)) for _ in range(2)]
        for server in self.servers:
            server.daemon_threads = True
        self.endpoint, self.storage = (
            f"http://127.0.0.1:{server.server_address[1]}" for server in self.servers
        )

    def __enter__(self) -> "FakeHub":
        for server in self.servers:
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def asked(self, method: str, end: str) -> list[dict[str, str]]:
        """Return the headers, by names in small letters, of the requests whose path ends so."""
        return [headers for m, path, headers in self.seen if m == method and path.endswith(end)]


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            told = {key.lower(): value for key, value in self.headers.items()}
            hub.seen.append((self.command, path, told))
            waiting = hub.faults.get(path)
            fault = waiting.pop(0) if waiting else Fault()
            if fault.status is not None:
                self.answer(fault.status, headers=fault.headers)
            elif path.startswith("/storage/"):
                _, _, sha256 = path.rpartition("/")
                self.serve(hub_bytes(hub, sha256), {"ETag": f'"{sha256}"'}, fault)
            elif match := API.fullmatch(path):
                self.api(*match.groups())
            elif match := RESOLVE.fullmatch(path):
                self.resolve(*match.groups(), fault=fault)
            else:
                self.answer(404)

        def repo(self, kind: str, name: str) -> Repo | None:
            repo = hub.repos.get(name)
            if repo is None or repo.kind != kind:  # the hub does not say which of the two it is
                self.answer(401, headers={"X-Error-Code": "RepoNotFound"})
                return None
            return repo

        def files(self, repo: Repo, revision: str) -> dict[str, bytes] | None:
            if revision not in repo.commits:
                self.answer(404, headers={"X-Error-Code": "RevisionNotFound"})
            return repo.commits.get(revision)

        def api(self, kind: str, name: str, what: str | None, revision: str | None) -> None:
            repo = self.repo(kind.removesuffix("s"), name)
            revision = repo.head if repo and revision in (None, "main") else revision
            files = self.files(repo, revision) if repo else None
            if files is None:
                return
            if what == "tree":
                self.answer(200, [_tree_entry(repo, path, body) for path, body in files.items()])
                return
            card = {"license": repo.licence} if repo.licence else {}
            told = hub.served_commit or revision
            siblings = [_sibling(repo, path, body) for path, body in files.items()]
            self.answer(
                200,
                {"id": name, "sha": told, "siblings": siblings, "cardData": card, "tags": []},
            )

        def resolve(
            self, prefix: str | None, name: str, revision: str, path: str, fault: Fault
        ) -> None:
            repo = self.repo("dataset" if prefix else "model", name)
            files = self.files(repo, revision) if repo else None
            if files is None:
                return
            if repo.gated and self.headers.get("Authorization") != f"Bearer {hub.token}":
                self.answer(403, headers={"X-Error-Code": "GatedRepo"})
                return
            if path not in files:
                self.answer(404, headers={"X-Error-Code": "EntryNotFound"})
                return
            body, commit = files[path], {"X-Repo-Commit": hub.served_commit or revision}
            if path in repo.large:
                sha256 = hashlib.sha256(body).hexdigest()
                linked = {"X-Linked-Size": str(len(body)), "X-Linked-Etag": f'"{sha256}"'}
                place = {"Location": f"{hub.storage}/storage/{sha256}"}
                self.answer(302, headers={**commit, **linked, **place})
                return
            self.serve(body, {**commit, "ETag": f'"{git_hash(body)}"'}, fault)

        def serve(self, body: bytes, headers: dict[str, str], fault: Fault) -> None:
            body = body if fault.body is None else fault.body
            asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
            start = int(asked[1]) if asked and not fault.whole else 0
            status = 206 if start else 200
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body) - start))
            if status == 206:
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            self.end_headers()
            if self.command == "HEAD":
                return
            rest = body[start:]
            self.wfile.write(rest if fault.cut is None else rest[: fault.cut])
            if fault.cut is not None:
                self.wfile.flush()
                self.close_connection = True

        def answer(
            self, status: int, value: object = None, headers: dict[str, str] | None = None
        ) -> None:
            body = b"" if value is None else json.dumps(value).encode()
            self.send_response(status)
            for key, told in (headers or {}).items():
                self.send_header(key, told)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    return Handler


def hub_bytes(hub: FakeHub, sha256: str) -> bytes:
    bodies = (b for repo in hub.repos.values() for c in repo.commits.values() for b in c.values())
    return next(body for body in bodies if hashlib.sha256(body).hexdigest() == sha256)


def _lfs(repo: Repo, path: str, body: bytes) -> dict[str, object] | None:
    if path not in repo.large:
        return None
    return {"size": len(body), "pointerSize": 134, "sha256": hashlib.sha256(body).hexdigest()}


def _sibling(repo: Repo, path: str, body: bytes) -> dict[str, object]:
    entry = {"rfilename": path, "size": len(body), "blobId": git_hash(body)}
    lfs = _lfs(repo, path, body)
    return {**entry, "lfs": lfs} if lfs else entry


def _tree_entry(repo: Repo, path: str, body: bytes) -> dict[str, object]:
    entry = {"type": "file", "path": path, "size": len(body), "oid": git_hash(body)}
    lfs = _lfs(repo, path, body)
    return {**entry, "lfs": {**lfs, "oid": lfs["sha256"]}} if lfs else entry
