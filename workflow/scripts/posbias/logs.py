"""Logging to the screen and a file, and a heartbeat that speaks at most every 30 seconds."""

import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path

HEARTBEAT_SECONDS = 30.0


def set_up_logging(log_file: Path | None = None) -> None:
    """Send log lines to standard error and, if given, to a file as well."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if log_file is not None:
        Path(log_file).parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(log_file, mode="w", encoding="utf-8"))
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(message)s",
        datefmt="%H:%M:%S",
        handlers=handlers,
        force=True,
    )
    for chatty in ("httpx", "httpx2", "openai", "matplotlib", "fontTools", "sentence_transformers"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def clock(seconds: float) -> str:
    """Format a duration as m:ss or h:mm:ss."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


class Heartbeat:
    """Log 'name done/total … eta m:ss', at most once every `every` seconds."""

    def __init__(
        self,
        name: str,
        total: int,
        done: int = 0,
        every: float = HEARTBEAT_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name, self.total, self.every, self.now = name, total, every, now
        self.first_done, self.start = done, now()
        self.last_beat = self.start

    def beat(self, done: int, note: str = "") -> bool:
        """Log the state if the last line is old enough; return whether a line was written."""
        at = self.now()
        if at - self.last_beat < self.every:
            return False
        self.last_beat = at
        advanced = done - self.first_done
        eta = (self.total - done) * (at - self.start) / advanced if advanced > 0 else float("nan")
        eta_text = clock(eta) if advanced > 0 else "?"
        logging.getLogger(__name__).info(
            "%s %d/%d%s eta %s", self.name, done, self.total, f" {note}" if note else "", eta_text
        )
        return True
