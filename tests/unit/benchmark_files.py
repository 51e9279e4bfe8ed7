"""Data sets in the formats that their publishers use, written by tests."""

import gzip
import json
from pathlib import Path

import build_benchmark
from posbias.benchmarks.records import Benchmark, read_benchmark
from posbias.files import read_json


def write_parquet(path: Path, rows: list[dict], schema=None) -> Path:
    """Write rows as a Parquet file; schema: a pyarrow schema, needed where it cannot be guessed."""
    import pyarrow
    import pyarrow.parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), path)
    return path


def write_json_lines(path: Path, rows: list[dict]) -> Path:
    """Write JSON lines, packed where the name ends in .gz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def build(folder: Path, kind: str, files: list[Path], seed: int = 1, **options):
    """Run the script; return the collection as it is read again, and the summary."""
    names = ("corpus.jsonl", "queries.jsonl", "qrels.txt")
    build_benchmark.main(
        files=files,
        corpus=folder / names[0],
        queries=folder / names[1],
        qrels=folder / names[2],
        excluded=folder / "excluded.json",
        summary=folder / "summary.json",
        kind=kind,
        options=options,
        seed=seed,
    )
    benchmark = read_benchmark(*(folder / n for n in names), excluded=folder / "excluded.json")
    return benchmark, read_json(folder / "summary.json")


def text_of(benchmark: Benchmark, doc_id: str) -> str:
    """Return the text of a document."""
    return next(one.text for one in benchmark.documents if one.doc_id == doc_id)
