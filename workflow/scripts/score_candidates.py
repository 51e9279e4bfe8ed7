"""Score one shard of the query candidates with the panel; raw scores and margins are kept."""

import logging
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from adapter import start
from posbias.corpus.segments import POSITIONS, segment_texts
from posbias.errors import ConfigError, DataError
from posbias.files import files_state, stream_jsonl, write_jsonl
from posbias.keyed import keyed_unit
from posbias.models.encoder import set_threads
from posbias.models.pinned_files import check_download
from posbias.queries.activations import make_activation
from posbias.queries.kept_scores import KeptMember
from posbias.queries.panel import PanelMember, make_member, needs_corpus
from posbias.queries.verify import Verification, verify
from posbias.training.resumption import forget_states

log = logging.getLogger("score")

FOLDERS = ("model", "code")  # options that name a folder
Segments = list[tuple[str, ...]]


def build_member(read: list[Path], *arguments: Any) -> PanelMember:
    """Build a member after a look at the folders that it reads: downloads must be as they came."""
    for folder in read:
        check_download(folder)
    return make_member(*arguments)


def panel_of(
    panel: list[dict], models: dict[str, Path], segments: Segments, resume_dir: Path
) -> list[tuple]:
    """Return (build, activation) per member; models are given by name."""
    members = []
    for member in panel:
        options = dict(member["options"])
        folders = {key: options[key] for key in FOLDERS if options.get(key) is not None}
        for key, model in folders.items():
            if model not in models:
                raise ConfigError(
                    f"verification.panel.{member['name']}: {key} {model!r} is not "
                    f"prepared; known: {', '.join(models)}."
                )
            options[key] = models[model]
        read = [models[model] for model in folders.values()]
        build = partial(build_member, read, member["name"], member["kind"], segments, options)
        if not needs_corpus([member["kind"]]):
            state = {model: files_state(models[model]) for model in folders.values()}
            settings = [member["kind"], member["options"], state]
            build = partial(KeptMember, member["name"], build, segments, settings, resume_dir)
        members.append((build, make_activation(member["activation"])))
    return members


def read_documents(
    documents: Path, in_shard: Callable[[str], bool], whole_corpus: bool
) -> tuple[Segments, dict[str, int], set[str]]:
    """Return the segments of training documents, their rows by id, and the shard's other ids.

    Only the shard's documents are kept, unless the panel needs those of the whole corpus.
    """
    segments, rows, others = [], {}, set()
    for document in stream_jsonl(documents, ("doc_id", "text", "split")):
        if document["split"] != "train":
            if in_shard(document["doc_id"]):
                others.add(document["doc_id"])
        elif whole_corpus or in_shard(document["doc_id"]):
            rows[document["doc_id"]] = len(segments)
            segments.append(segment_texts(document["text"]))
    return segments, rows, others


def read_candidates(
    candidates: Path,
    documents: Path,
    in_shard: Callable[[str], bool],
    rows: dict[str, int],
    others: set[str],
) -> list[dict]:
    """Return the candidates about the shard's training documents, with what is scored of them."""
    kept = []
    fields = ("query_id", "doc_id", "position", "bin", "query")
    for candidate in stream_jsonl(candidates, fields):
        doc_id = candidate["doc_id"]
        if not in_shard(doc_id) or doc_id in others:
            continue
        if doc_id not in rows:
            raise DataError(
                f"{candidates}: query {candidate['query_id']} is about the document {doc_id}, "
                f"which is not in {documents}; generate the candidates again."
            )
        kept.append({field: candidate[field] for field in fields})
    return kept


def score_records(candidates: list[dict], found: Verification) -> Iterator[dict]:
    """Yield one record per candidate: raw scores per member and segment, margins, consensus.

    A member that the cascade spared has null. `cut` holds the tokens per segment that a member
    did not read, of members that left some.
    """

    def numbers(values: np.ndarray) -> list[float] | None:
        return None if np.isnan(values).any() else [round(float(v), 6) for v in values]

    def number(value: float) -> float | None:
        # Not rounded: a margin just below 0 or delta must not rise to it.
        return None if np.isnan(value) else float(value)

    for i, candidate in enumerate(candidates):
        members = list(enumerate(found.members))
        yield {
            "query_id": candidate["query_id"],
            "bin": candidate["bin"],
            "position": candidate["position"],
            "raw": {name: numbers(found.raw[k, i]) for k, name in members},
            "margins": {name: number(found.margins[k, i]) for k, name in members},
            "consensus": number(found.consensus[i]),
            "cut": {name: found.cut[k, i].tolist() for k, name in members if found.cut[k, i].any()},
        }


def main(
    documents: Path,
    candidates: Path,
    models: list[Path],
    scores: Path,
    model_names: list[str],
    panel: list[dict[str, Any]],
    cascade: bool,
    shard: int,
    shards: int,
    seed: int,
    threads: int,
    resume_dir: Path,
) -> None:
    """Score the candidates of the training documents of one shard (section 3.1.3).

    Args:
        documents: the corpus, JSON lines
        candidates: query candidates, JSON lines
        models: folders of the models that the panel names
        scores: raw scores and margins, JSON lines to write
        model_names: name of each folder in the config
        panel: the members, from the verification block of the config
        cascade: spare later members once a margin is negative
        shard: which part, 0-based; a document's shard depends on its id alone
        shards: number of parts
        seed: seed of the keyed hash
        threads: CPU threads
        resume_dir: folder for scores to go on from; removed after success
    """
    set_threads(threads)
    if threads > 1:  # one thread cannot tokenize as fast as a GPU reads
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        os.environ.setdefault("RAYON_NUM_THREADS", str(threads))

    def in_shard(doc_id: str) -> bool:
        return int(keyed_unit(seed, "shard", doc_id) * shards) == shard

    whole_corpus = needs_corpus([member["kind"] for member in panel])
    segments, rows, others = read_documents(documents, in_shard, whole_corpus)
    queries = read_candidates(candidates, documents, in_shard, rows, others)
    log.info("%d candidates, segments of %d documents", len(queries), len(segments))
    found = verify(
        [query["query_id"] for query in queries],
        [query["query"] for query in queries],
        np.array([rows[query["doc_id"]] for query in queries], dtype=int),
        np.array([POSITIONS.index(query["position"]) for query in queries], dtype=int),
        panel_of(panel, dict(zip(model_names, models, strict=True)), segments, Path(resume_dir)),
        cascade=cascade,
        name=f"score shard {shard + 1}/{shards}",
    )
    write_jsonl(scores, score_records(queries, found))
    forget_states(resume_dir)
    log.info("wrote %d candidates to %s, %d pair scores", len(queries), scores, found.pairs_scored)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
