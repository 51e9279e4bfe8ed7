"""A small release, and the inputs that it is made of, for tests."""

import json
from pathlib import Path

import make_release

ROOT = Path(__file__).parents[2]
STAMP = {
    "scale": "toy",
    "note": "toy scale: nothing real",
    "config_hash": "0123456789ab",
    "seed": 42,
    "commit": "abcdef0",
    "retrievers": ["bert", "qwen3"],
}
CONFIG = {
    "scale": "toy",
    "metrics_from": "computed",
    "release": {"archive": "toy.tar.xz", "sha256": None},
    "seed": 42,
    "training": {"scale": 20.0, "epochs": 2, "loss": "plain"},
    "references": [{"name": "bm25", "options": {"k1": 0.9, "b": 0.4}}],
    "assets": {},
    "downloads": {},
}
MEASURES = {
    "evaluation/wiki/bert/begin/measures.json": b'{"micro_mean": 0.5}\n',
    "evaluation/wiki/qwen3/begin/measures.json": b'{"micro_mean": 0.25}\n',
    "verification/filter_statistics.csv": "stratum,n\nα,3\n".encode(),
}


def results(folder: Path, measures: dict[str, bytes] = MEASURES) -> Path:
    """Write measures below a results folder, and return it."""
    for name, data in measures.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def release(folder: Path, measures: dict[str, bytes] = MEASURES, **changed) -> Path:
    """Make a release of these measures by the script, and return the archive."""
    made = results(folder / "results" / "toy", measures)
    record = folder / "provenance.json"
    record.write_text(json.dumps(STAMP))
    archive = folder / "released" / "toy.tar.xz"
    arguments = {
        "measured": [made / name for name in measures],
        "provenance": record,
        "lock": ROOT / "envs" / "lock.txt",
        "citation": ROOT / "CITATION.cff",
        "licence": ROOT / "LICENSE",
        "archive": archive,
        "checksum": Path(f"{archive}.sha256"),
        "results_folder": str(made),
        "config": CONFIG,
        "stamp": STAMP,
    }
    make_release.main(**(arguments | changed))
    return archive


def left_in(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder with their content."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() or path.is_symlink()
    }
