"""Score one shard of the query candidates with the panel; raw scores and margins are kept."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from adapter import start
from posbias.corpus.segments import POSITIONS, segment_texts
from posbias.errors import ConfigError
from posbias.files import read_jsonl, write_jsonl
from posbias.keyed import keyed_unit
from posbias.models.encoder import set_threads
from posbias.queries.activations import make_activation
from posbias.queries.panel import make_member
from posbias.queries.verify import Verification, verify

log = logging.getLogger("score")


def panel_of(
    panel: list[dict], models: dict[str, Path], segments: list[tuple[str, ...]]
) -> list[tuple]:
    """Return (build, activation) per member; models are given by the name of their folder."""
    members = []
    for member in panel:
        options = dict(member["options"])
        if "model" in options:
            if options["model"] not in models:
                raise ConfigError(
                    f"verification.panel.{member['name']}: model {options['model']!r} is not "
                    f"prepared; known: {', '.join(models)}."
                )
            options["model"] = models[options["model"]]
        build = partial(make_member, member["name"], member["kind"], segments, options)
        members.append((build, make_activation(member["activation"])))
    return members


def score_records(candidates: list[dict], found: Verification) -> list[dict]:
    """Return one record per candidate: raw scores per member and segment, margins, consensus.

    A member that the cascade spared has null.
    """

    def numbers(values: np.ndarray) -> list[float] | None:
        return None if np.isnan(values).any() else [round(float(v), 6) for v in values]

    def number(value: float) -> float | None:
        # Not rounded: a margin just below 0 or delta must not rise to it.
        return None if np.isnan(value) else float(value)

    return [
        {
            "query_id": candidate["query_id"],
            "bin": candidate["bin"],
            "position": candidate["position"],
            "raw": {m: numbers(found.raw[k, i]) for k, m in enumerate(found.members)},
            "margins": {m: number(found.margins[k, i]) for k, m in enumerate(found.members)},
            "consensus": number(found.consensus[i]),
        }
        for i, candidate in enumerate(candidates)
    ]


def main(
    documents: Path,
    candidates: Path,
    encoders: list[Path],
    scores: Path,
    panel: list[dict[str, Any]],
    cascade: bool,
    shard: int,
    shards: int,
    seed: int,
    threads: int,
) -> None:
    """Score the candidates of the training documents of one shard (section 3.1.3).

    Args:
        documents: the corpus, JSON lines
        candidates: query candidates, JSON lines
        encoders: folders of the encoders that the panel names
        scores: raw scores and margins, JSON lines to write
        panel: the members, from the verification block of the config
        cascade: spare later members once a margin is negative
        shard: which part, 0-based; a document's shard depends on its id alone
        shards: number of parts
        seed: seed of the keyed hash
        threads: CPU threads
    """
    set_threads(threads)
    train = [d for d in read_jsonl(documents, ("doc_id", "text", "split")) if d["split"] == "train"]
    rows = {document["doc_id"]: row for row, document in enumerate(train)}
    queries = [
        candidate
        for candidate in read_jsonl(candidates, ("query_id", "doc_id", "position", "bin"))
        if candidate["doc_id"] in rows
        and int(keyed_unit(seed, "shard", candidate["doc_id"]) * shards) == shard
    ]
    found = verify(
        [query["query"] for query in queries],
        np.array([rows[query["doc_id"]] for query in queries], dtype=int),
        np.array([POSITIONS.index(query["position"]) for query in queries], dtype=int),
        panel_of(
            panel,
            {folder.name: folder for folder in encoders},
            [segment_texts(document["text"]) for document in train],
        ),
        cascade=cascade,
        name=f"score shard {shard + 1}/{shards}",
    )
    write_jsonl(scores, score_records(queries, found))
    log.info("wrote %d candidates to %s, %d pair scores", len(queries), scores, found.pairs_scored)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
