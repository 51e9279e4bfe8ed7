"""Measure how a retriever's score of a document changes as its evidence moves through it."""

import logging
from pathlib import Path
from typing import Any

from adapter import start
from posbias.errors import ConfigError, DataError
from posbias.files import write_json
from posbias.keyed import keyed_generator
from posbias.models.checkpoints import checked_settings
from posbias.models.encoder import set_threads
from posbias.models.retriever import load_retriever
from posbias.representation.evidence_moving import INTERVAL_KIND, moving_record
from posbias.representation.evidence_pairs import read_pairs
from posbias.representation.moving_scores import pair_counts, score_pairs

NEEDED = ("batch_size", "autocast", "threads", "resamples", "level")

log = logging.getLogger("moving")


def main(
    pairs: Path,
    checkpoints: list[Path],
    measures: Path,
    retriever: str,
    label: str,
    settings: list[str],
    positions: int,
    snap: str,
    evaluation: dict[str, Any],
    seed: int,
) -> None:
    """Measure the mean cosine of query and document by place of the evidence (Tables 5, 13).

    Args:
        pairs: queries, and documents taken apart, JSON lines
        checkpoints: one trained model per setting, in the order of `settings`
        measures: mean cosine by position, range, and what was cut, to write, JSON
        retriever: its key in the config
        label: its name in tables
        settings: training settings, such as begin, middle, end, uniform
        positions: number of places, from the begin to the end of the document
        snap: words (the nearest place where no word is cut) or characters
        evaluation: batch_size, autocast, threads, resamples, level
        seed: of the bootstrap
    """
    missing = [name for name in NEEDED if name not in evaluation]
    if missing:
        raise ConfigError(f"evaluation: {', '.join(missing)} is missing.")
    set_threads(evaluation["threads"])
    chosen = read_pairs(pairs)
    if not chosen:
        raise DataError(f"{pairs}: holds no pair; run the step that makes it again.")
    counts = pair_counts(chosen, positions, snap) | {"truncated": {}}
    records = {}
    for setting, checkpoint in zip(settings, checkpoints, strict=True):
        checked_settings(checkpoint, {"retriever": retriever, "setting": setting})
        model = load_retriever(checkpoint, evaluation["batch_size"], evaluation["autocast"])
        scores = score_pairs(model, chosen, positions, snap, f"moving, {retriever}, {setting}")
        rng = keyed_generator(seed, "evidence_moving", retriever, setting)
        record = moving_record(scores.cosines, evaluation["resamples"], evaluation["level"], rng)
        records[setting] = record
        counts["truncated"][setting] = scores.cut
        log.info(
            "%s, %s: peak p%d, lowest p%d, range %.4f",
            label, setting, record["peak"], record["lowest"], record["range"],
        )  # fmt: skip
    write_json(
        measures,
        {
            "retriever": retriever,
            "label": label,
            "positions": positions,
            "snap": snap,
            "settings": records,
            "counts": counts,
            "interval": {
                "kind": INTERVAL_KIND,
                "resamples": evaluation["resamples"],
                "level": evaluation["level"],
            },
            "seed": seed,
        },
    )


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
