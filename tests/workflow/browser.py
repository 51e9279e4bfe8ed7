"""A real browser that tests look through: headless Chromium, spoken to over its debugging pipe."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,1000",
    "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
    "--disable-extensions", "--disable-component-update", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 60  # seconds on a busy machine


def find_or_install() -> str | None:
    """Return the browser's program, from Debian's package if need be; None if there is no way."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found or not shutil.which("apt-get") or os.geteuid() != 0:
        return found
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "--no-install-recommends", "chromium"],
    ):
        try:
            subprocess.run(command, env=quiet, capture_output=True, timeout=300, check=True)
        except (subprocess.SubprocessError, OSError):
            return None
    return shutil.which("chromium")


class Browser:
    """One page. `problems` are its errors, `requests` what it asked for beside its own file."""

    def __init__(self, program: str, before: tuple[str, ...] = ()) -> None:
        """before: a command that the browser is started through, such as one without a network."""
        self.command = [*before, program, *FLAGS]
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.waiting, self.number, self.session = b"", 0, None

    def __enter__(self) -> "Browser":
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.ours_out = os.pipe()
        self.ours_in, theirs_out = os.pipe()

        def place_pipes() -> None:  # the browser reads from 3 and writes to 4
            kept = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self.process = subprocess.Popen(
            [*self.command, f"--user-data-dir={self.profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=place_pipes,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        os.set_blocking(self.ours_in, False)
        pages = self.ask("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in pages if one["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.ours_in)
        os.close(self.ours_out)
        self.profile.cleanup()

    def _next(self, limit: float) -> dict[str, Any]:
        """Return the browser's next message; messages end with a zero byte."""
        while b"\0" not in self.waiting:
            try:
                piece = os.read(self.ours_in, 2**20)
            except BlockingIOError:
                assert time.monotonic() < limit, "the browser does not answer"
                time.sleep(0.01)
                continue
            assert piece, "the browser has ended"
            self.waiting += piece
        message, _, self.waiting = self.waiting.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        told = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(told["exceptionDetails"])[:1000])
        elif event.get("method") == "Runtime.consoleAPICalled" and told["type"] == "error":
            self.problems.append(json.dumps(told["args"])[:1000])
        elif event.get("method") == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.problems.append(told["entry"]["text"])
        elif event.get("method") == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to one command; events that come in between are noted."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        written, text = 0, json.dumps(message).encode() + b"\0"
        while written < len(text):
            written += os.write(self.ours_out, text[written:])
        limit = time.monotonic() + PATIENCE
        while (told := self._next(limit)).get("id") != self.number:
            self._note(told)
        assert "error" not in told, (method, told["error"])
        return told["result"]

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page; fail if it throws."""
        told = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def until(self, script: str) -> Any:
        """Wait until an expression in the page is true, and return its value."""
        limit = time.monotonic() + PATIENCE
        while not (value := self.run(script)):
            assert time.monotonic() < limit, f"never true: {script}\n{self.problems}\n{self.text()}"
            time.sleep(0.05)
        return value

    def open(self, page: Path) -> None:
        """Go to a file and wait until it is loaded; what the last page did is forgotten."""
        self.problems.clear()
        self.requests.clear()
        self.ask("Page.navigate", url=page.as_uri())
        self.until(f"document.URL.startsWith({json.dumps(page.as_uri())})")
        self.until("document.readyState === 'complete'")

    def text(self) -> str:
        """Return what can be read on the page."""
        return self.run("document.body.innerText")

    def click(self, text: str, kind: str = "*") -> None:
        """Click on the smallest element of a kind that shows exactly this text."""
        self.run(
            f"""(() => {{
              const all = [...document.querySelectorAll({json.dumps(kind)})];
              const found = all.filter(e => e.innerText?.trim() === {json.dumps(text)});
              if (!found.length) throw new Error("nothing shows " + {json.dumps(text)});
              found[found.length - 1].click();
            }})()"""
        )

    def picture(self, file: Path) -> Path:
        """Write what the window shows as PNG."""
        file.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))
        return file
