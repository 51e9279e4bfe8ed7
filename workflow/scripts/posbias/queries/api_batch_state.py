"""Which batches are under way, on disk, so that a run that was killed finds them again.

A batch is written down before anything of it is sent. One that was killed between its creation
and the note of its id is found by the mark in its metadata.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from posbias.errors import DataError
from posbias.files import content_hash, read_json, read_jsonl, write_json, write_jsonl

MARK = "posbias_mark"  # the name of the mark among a batch's metadata


@dataclass(frozen=True)
class Row:
    """One request of a batch: its id there, which is its fingerprint, its key and its bound ($)."""

    custom_id: str
    key: str
    bound: float


@dataclass(frozen=True)
class OpenBatch:
    """A batch whose results have not been taken in yet; batch_id is None until it is known.

    dollars: what it costs at most; tokens: of input, about; created: seconds since 1970.
    """

    mark: str
    dollars: float
    tokens: int
    created: float
    batch_id: str | None = None


class BatchState:
    """The open batches of one log, in the folder `<log>.batches`."""

    def __init__(self, answer_log: Path) -> None:
        self.folder = answer_log.with_name(f"{answer_log.name}.batches")
        self._file = self.folder / "state.json"
        self.open: dict[str, OpenBatch] = {}
        self._made = 0
        if self._file.exists():
            self._read()
        for left in self.folder.glob("*.jsonl"):  # by a kill between two files
            if left.stem not in self.open:
                left.unlink()

    def _read(self) -> None:
        try:
            state = read_json(self._file)
            names = {field.name for field in fields(OpenBatch)}
            self._made = int(state["made"])
            self.open = {
                entry["mark"]: OpenBatch(**{name: entry[name] for name in names})
                for entry in state["open"]
            }
        except (KeyError, TypeError, ValueError) as fault:
            raise DataError(
                f"{self._file}: not a state of batches ({fault}); look up which batches are under "
                "way at the provider before you delete it, as they would be paid again."
            ) from fault

    def _write(self) -> None:
        entries = [asdict(batch) for batch in self.open.values()]
        write_json(self._file, {"made": self._made, "open": entries})

    def _rows_file(self, mark: str) -> Path:
        return self.folder / f"{mark}.jsonl"

    def add(self, rows: Sequence[Row], tokens: int, created: float) -> OpenBatch:
        """Write down a batch that is about to be sent."""
        self._made += 1
        mark = content_hash([self._made, created, [row.custom_id for row in rows]], 32)
        write_jsonl(self._rows_file(mark), (asdict(row) for row in rows))
        batch = OpenBatch(mark, sum(row.bound for row in rows), tokens, created)
        self.open[mark] = batch
        self._write()
        return batch

    def created(self, mark: str, batch_id: str) -> None:
        """Note the id that the provider gave a batch."""
        self.open[mark] = replace(self.open[mark], batch_id=batch_id)
        self._write()

    def close(self, mark: str) -> None:
        """Forget a batch whose results are all in the log, or that was never created."""
        del self.open[mark]
        self._write()
        self._rows_file(mark).unlink(missing_ok=True)

    def rows(self, mark: str) -> dict[str, Row]:
        """Return the requests of a batch by their ids."""
        names = [field.name for field in fields(Row)]
        records = read_jsonl(self._rows_file(mark), names)
        return {record["custom_id"]: Row(**record) for record in records}
