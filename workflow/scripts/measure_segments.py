"""Measure how near a retriever's document embeddings are to those of the documents' segments."""

import logging
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adapter import start
from posbias.benchmarks.corpus_blocks import corpus_blocks, count_lines
from posbias.errors import config_place
from posbias.files import write_json
from posbias.keyed import keyed_generator
from posbias.models.checkpoints import checked_settings
from posbias.models.encoder import set_threads
from posbias.models.retriever import Retriever, build_retriever, load_retriever
from posbias.representation.segment_cosine import (
    Drawn,
    count_cut,
    draw_documents,
    segment_cosines,
    segment_records,
    segments_of_text,
)

log = logging.getLogger("segments")

BASE = "base"
LINES_AT_A_TIME = 256


class Measured(NamedTuple):
    """Cosines (documents, segments), and how many documents and segments the model cuts."""

    cosines: np.ndarray
    cut: int
    cut_segments: int


def read_documents(corpus: Path, number: int, count: int, seed: int) -> Drawn:
    """Draw documents of a corpus that streams past; says so if it has less than asked for."""
    blocks = corpus_blocks(corpus, range(count_lines(corpus)), LINES_AT_A_TIME)
    lines = ((line.doc_id, line.text) for block in blocks for line in block)
    drawn = draw_documents(lines, number, count, seed)
    if len(drawn.texts) < number:
        log.warning("%s: %d documents wanted, %d can be cut into %d segments with text",
                    corpus, number, len(drawn.texts), count)  # fmt: skip
    return drawn


def base_retriever(
    retriever: str,
    entry: dict[str, Any],
    encoder: list[Path],
    checkpoint_folder: list[Path],
    token_vectors_std: float,
    max_tokens: int,
    seed: int,
    **search: Any,
) -> Retriever:
    """Return a retriever as its training starts from it, on the device that trained ones take.

    search: batch_size and autocast. Raises ConfigError for an entry that cannot be built.
    """
    import torch

    with config_place(f"retrievers.known.{retriever}"):
        model = build_retriever(
            entry,
            next(iter(encoder), None),
            token_vectors_std,
            max_tokens,
            seed,
            next(iter(checkpoint_folder), None),
        )
    return Retriever(model.to("cuda") if torch.cuda.is_available() else model, **search)


def trained_retriever(
    retriever: str, setting: str, seed: int, checkpoint: Path, **search: Any
) -> Retriever:
    """Load a retriever trained on a setting; raises DataError if the folder holds another."""
    checked_settings(checkpoint, {"retriever": retriever, "setting": setting, "seed": seed})
    return load_retriever(checkpoint, **search)


def measure(model: Retriever, texts: list[str], count: int, name: str) -> Measured:
    """Measure one model, and count what it cuts."""
    segments = [segment for text in texts for segment in segments_of_text(text, count)]
    cosines = segment_cosines(model.encode_documents, texts, count, name)
    tokenizer, limit = model.encoder.tokenizer, model.encoder.max_seq_length
    cut = [count_cut(tokenizer, some, limit) for some in (texts, segments)]
    means = cosines.mean(axis=0)
    log.info(
        "%s: mean cosine %.3f with segment 1, %.3f with segment %d; %d of %d documents and %d "
        "segments are cut at %d tokens",
        name, means[0], means[-1], count, cut[0], len(texts), cut[1], limit,
    )  # fmt: skip
    return Measured(cosines, *cut)


def main(
    corpus: Path,
    checkpoints: list[Path],
    encoder: list[Path],
    checkpoint_folder: list[Path],
    measures: Path,
    retriever: str,
    entry: dict[str, Any],
    token_vectors_std: float,
    training: dict[str, Any],
    settings: list[str],
    documents: int,
    segments: int,
    evaluation: dict[str, Any],
    seed: int,
) -> None:
    """Measure the cosine of documents with their segments (section 6, Figures 3 and 7).

    Args:
        corpus: documents of a benchmark, as JSON lines
        checkpoints: one trained model per setting, in the order of `settings`
        encoder: folder of the encoder that gives tokenizer and token vectors; none for a retriever
            that starts from a checkpoint
        checkpoint_folder: folder of the checkpoint that the retriever starts from; none for one
            from scratch
        measures: means per setting and segment with intervals, and counts, as JSON to write
        retriever: its key in the config
        entry: the retriever's block of the config
        token_vectors_std: standard deviation of the token vectors
        training: the training block of the config; only max_tokens is read
        settings: training settings, such as begin, middle, end, uniform
        documents: number to draw from the corpus
        segments: number of equal segments of each document
        evaluation: batch_size, autocast, threads, resamples, level
        seed: seed of the training, of the documents drawn, and of the resamples
    """
    set_threads(evaluation["threads"])
    search = {name: evaluation[name] for name in ("batch_size", "autocast")}
    drawn = read_documents(corpus, documents, segments, seed)
    loaders = {
        BASE: partial(
            base_retriever, retriever, entry, encoder, checkpoint_folder, token_vectors_std,
            training["max_tokens"], seed, **search,
        )
    }  # fmt: skip
    for setting, checkpoint in zip(settings, checkpoints, strict=True):
        loaders[setting] = partial(
            trained_retriever, retriever, setting, seed, checkpoint, **search
        )
    # A model is let go of before the next one is loaded.
    measured = {
        setting: measure(load(), drawn.texts, segments, f"{retriever}, {setting}")
        for setting, load in loaders.items()
    }
    resamples, level = evaluation["resamples"], evaluation["level"]
    records = segment_records(
        {setting: one.cosines for setting, one in measured.items()},
        resamples,
        level,
        keyed_generator(seed, "segments", retriever),
    )
    write_json(
        measures,
        {
            "retriever": retriever,
            "label": entry["label"],
            "count": segments,
            "settings": records,
            "counts": {
                "documents": len(drawn.texts),
                "dropped": drawn.dropped,
                "truncated": {setting: one.cut for setting, one in measured.items()},
                "truncated_segments": {s: one.cut_segments for s, one in measured.items()},
            },
            "interval": {
                "kind": "bootstrap over documents",
                "resamples": resamples,
                "level": level,
            },
        },
    )
    log.info("wrote %s", measures)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
