"""Train one listwise reranker with one seed on the teacher's orders."""

import logging
import math
from pathlib import Path
from typing import Any

import numpy as np

from adapter import start
from posbias.errors import DataError
from posbias.files import (
    content_hash,
    read_jsonl,
    sha256_file,
    whole_directory,
    write_text,
)
from posbias.listwise.card import reranker_card
from posbias.listwise.lists import read_collection
from posbias.listwise.propensity import ItemWeights, inverse_weights, read_propensity
from posbias.listwise.scorers import build_scorer
from posbias.listwise.training import Objective, make_reranker_trainer, shown_lists
from posbias.models.checkpoints import seal_checkpoint
from posbias.models.encoder import set_threads
from posbias.training.resumption import check_finite, forget_states, last_state, train_from

log = logging.getLogger("train")


def read_shown(shown: Path, lists: list[dict]) -> list[list[np.ndarray]]:
    """Read the presentations of the lists, in their order."""
    records = read_jsonl(shown, ("query_id", "shown"))
    if [r["query_id"] for r in records] != [r["query_id"] for r in lists]:
        raise DataError(f"{shown}: other queries than the lists; run the augmentation again.")
    return [[np.array(order) for order in record["shown"]] for record in records]


def read_weights(
    propensity: list[Path], window: int, options: dict[str, Any]
) -> ItemWeights | None:
    """Read the inverse propensities that a model trains with; none were given, none come back."""
    if not propensity:
        return None
    return inverse_weights(read_propensity(propensity[0], window), **options)


def main(
    passages: Path,
    queries: Path,
    qrels: Path,
    vectors: Path,
    query_vectors: Path,
    lists: Path,
    shown: Path,
    propensity: list[Path],
    base: list[Path],
    checkpoint: Path,
    model: str,
    entry: dict[str, Any],
    scorer: dict[str, Any],
    training: dict[str, Any],
    ips: dict[str, Any],
    seed: int,
    resume_dir: Path,
    scale: dict[str, str],
) -> None:
    """Train one reranker (equation 6).

    Args:
        passages: JSON lines with doc_id and text
        queries: JSON lines with query_id and text
        qrels: judgements in TREC format
        vectors: the passages' vectors, by encoder
        query_vectors: the queries' vectors, by encoder
        lists: training lists with the teacher's orders
        shown: the orders in which the model's augmentation shows them
        propensity: the propensity matrix, or nothing for a model without IPS
        base: folder of the language model to start from, or nothing
        checkpoint: folder to write
        model: key of the model in the config
        entry: label, augmentation, ips and lm of the model
        scorer: the listwise.scorer block of the config
        training: the listwise.training block of the config
        ips: mode, zero_cells, floor, smoothing and cap of the inverse propensities
        seed: seed of weights and batches
        resume_dir: folder for states to resume from; removed after success
        scale: name and note of the scale, for the model card
    """
    set_threads(training["threads"])
    collection, _ = read_collection(
        passages, queries, qrels, vectors, query_vectors, scorer["encoders"]
    )
    if bool(propensity) != entry["ips"]:
        raise DataError(
            f"{model}: ips is {entry['ips']}, and {len(propensity)} files of propensities were "
            "given; a model with ips needs one, any other none."
        )
    records = read_jsonl(lists, ("query_id", "doc_ids", "order"))
    examples = shown_lists(records, read_shown(shown, records), collection)
    weights = read_weights(propensity, len(records[0]["doc_ids"]), ips)
    # As many updates for every model, however many variants of a list it is shown.
    batch = training["batch_size"] * training["gradient_accumulation"]
    steps = math.ceil(len(records) / batch) * training["epochs"]
    settings = {
        "reranker": model,
        "seed": seed,
        "entry": entry,
        "scorer": scorer,
        "training": training,
        "ips": ips if propensity else None,
        "steps": steps,
        "lists": len(records),
        "data_sha256": {
            f"{path.parent.name}/{path.name}": sha256_file(path)
            for path in (lists, shown, vectors, query_vectors, *propensity)
        },
    }
    name = f"train {model}/{seed}"
    states = Path(resume_dir) / content_hash(settings)
    module = build_scorer(
        scorer["kind"], collection, scorer["options"], seed, base[0] if base else None
    )
    state = last_state(states)
    log.info("%s: %d lists, %d shown orders, %d steps%s", name, len(records), len(examples),
             steps, f", resuming from {state}" if state else "")  # fmt: skip
    objective = Objective(
        entry["lm"], training["rank_weight"], training["index"], training["reduction"], weights
    )
    trainer = make_reranker_trainer(
        module, collection, examples, objective, training, steps, seed, states, name
    )
    train_from(trainer, state, states)
    check_finite(module, name, training["learning_rate"])
    settings |= {
        "parameters": sum(p.numel() for p in module.parameters()),
        "shown_orders": len(examples),
        "seen_orders": min(steps * batch, len(examples)),
        "weights": None
        if weights is None
        else {n: getattr(weights, n) for n in ("zero_cells", "floored", "capped")},
    }
    with whole_directory(checkpoint) as part:
        module.save(part)
        write_text(part / "README.md", reranker_card({**settings, **scale}))
        seal_checkpoint(part, settings)
    forget_states(resume_dir)
    log.info("%s: wrote %s after %d steps", name, checkpoint, trainer.state.global_step)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
