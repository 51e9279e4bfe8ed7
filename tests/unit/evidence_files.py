"""BEIR data sets made up by tests, and the script that locates their evidence."""

from pathlib import Path

import locate_evidence
from benchmark_files import build, write_json_lines, write_parquet
from posbias.files import read_json

# Two documents whose titles begin alike, one whose title is its first words, one without a title.
CORPUS = [
    {"_id": "11", "title": "Ada Wren", "text": "Ada Wren is a sailor. She was born in Hull. "
     "Her boat is called Heron. It sank in 1984."},
    {"_id": "12", "title": "Ada Wren (film)", "text": "Ada Wren is a 1994 film. It was shot in "
     "Hull. Critics liked it."},
    {"_id": "13", "title": "Heron-_LRB-boat", "text": "The Heron was a wooden boat."},
    {"_id": "14", "title": "", "text": "Hull is a port. It lies on the Humber."},
]  # fmt: skip
QUERIES = {
    "q1": "where was the sailor born who is shown in a film of 1994",
    "q2": "what sank",
}
QRELS = [("q1", "11"), ("q1", "12"), ("q2", "13"), ("q2", "14")]


def write_beir(
    folder: Path,
    metadata: dict | None = None,
    parquet: bool = False,
    corpus: list = CORPUS,
    qrels: list = QRELS,
) -> list[Path]:
    """Write BEIR's layout: corpus and queries packed, or Parquet without metadata; test.tsv."""
    queries = [
        {"_id": one, "text": text, "metadata": (metadata or {}).get(one, {})}
        for one, text in QUERIES.items()
    ]
    if parquet:
        bare = [{"_id": one["_id"], "title": "", "text": one["text"]} for one in queries]
        write_parquet(folder / "corpus" / "corpus-00000-of-00001.parquet", corpus)
        write_parquet(folder / "queries" / "queries-00000-of-00001.parquet", bare)
    else:
        write_json_lines(folder / "corpus.jsonl.gz", [one | {"metadata": {}} for one in corpus])
        write_json_lines(folder / "queries.jsonl.gz", queries)
    rows = "".join(f"{query}\t{doc}\t1\n" for query, doc in qrels)
    (folder / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + rows)
    return [folder]


def locate(tmp_path: Path, kind: str, beir: list[Path], more: list[Path], **options) -> dict:
    """Build the benchmark, run the script, return what it wrote."""
    built = tmp_path / "built"
    build(built, "beir", beir)
    locate_evidence.main(
        built / "corpus.jsonl",
        built / "queries.jsonl",
        built / "qrels.txt",
        [*beir, *more],
        tmp_path / "places.json",
        kind,
        options,
        "made_up",
        "Made up",
        1,
    )
    return read_json(tmp_path / "places.json")
