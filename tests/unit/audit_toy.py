"""What the tests of the audit share: a corpus with one answering word a segment, and its files."""

import json
import re
from pathlib import Path

from posbias.corpus.segments import POSITIONS
from posbias.files import write_jsonl

THRESHOLDS = [0.0, 0.1, 0.2, 0.3]
MARGINS = [-0.2, 0.05, 0.15, 0.25, 0.35]  # one in each stratum
EVALUATION = {"resamples": 200, "level": 0.95}
_QUERY = re.compile(r"<query>\n(.*)\n</query>")
_PASSAGE = re.compile(r"<passage>\n(.*)\n</passage>", re.DOTALL)


def word(document: int, position: str) -> str:
    """Return the word that stands in one segment of one document and nowhere else."""
    return f"w{document}{position[0]}w"


def corpus(n: int = 10) -> tuple[list[dict], list[dict], list[dict]]:
    """Return documents, candidates (one a segment) and scores, each margin for a fifth of them."""
    documents, candidates, scores = [], [], []
    for i in range(n):
        parts = [f"{word(i, position)} lies here. ".ljust(40, ".") for position in POSITIONS]
        documents.append({"doc_id": f"d{i}", "text": "".join(parts), "split": "train"})
        for k, position in enumerate(POSITIONS):
            query = {"query_id": f"q{i}{position}", "position": position, "bin": "b"}
            candidates.append({**query, "doc_id": f"d{i}", "query": f"where {word(i, position)}"})
            scores.append({**query, "consensus": MARGINS[(3 * i + k) % len(MARGINS)]})
    return documents, candidates, scores


def arguments(folder: Path, judge: str, entry: dict, n: int = 10, **changes) -> dict:
    """Write the files of the corpus and return the arguments of audit_queries."""
    documents, candidates, scores = corpus(n)
    write_jsonl(folder / "documents.jsonl", documents)
    write_jsonl(folder / "candidates.jsonl", candidates)
    write_jsonl(folder / "scores-0.jsonl", scores[::2])
    write_jsonl(folder / "scores-1.jsonl", scores[1::2])
    return {
        "documents": folder / "documents.jsonl",
        "candidates": folder / "candidates.jsonl",
        "scores": [folder / "scores-0.jsonl", folder / "scores-1.jsonl"],
        "models": [],
        "judgements": folder / "judgements.jsonl",
        "summary": folder / "summary.json",
        "thresholds": THRESHOLDS,
        "judge": judge,
        "entry": entry,
        "model_names": [],
        "per_stratum": 4,
        "answers": folder / "answers",
        "evaluation": EVALUATION,
        "seed": 42,
        **changes,
    }


def asked_of(prompt: str) -> tuple[str, str]:
    """Return the query and the passage of a prompt."""
    return _QUERY.search(prompt)[1], _PASSAGE.search(prompt)[1]


def true_reply(prompt: str) -> str:
    """Return the reply of a judge that is always right."""
    query, passage = asked_of(prompt)
    answer = "yes" if query.split()[-1] in passage else "no"
    return json.dumps({"reasoning": "it stands there", "answer": answer})


def outputs(given: dict) -> list[bytes]:
    """Return what a run has written."""
    return [given[name].read_bytes() for name in ("judgements", "summary")]
