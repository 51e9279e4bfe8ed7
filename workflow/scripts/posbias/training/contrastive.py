"""Contrastive training of one retriever (retriever study, section 4.2 and App. D).

sentence-transformers' trainer and InfoNCE loss. Each length bin is a data set of its own, so a
batch never mixes bins ("chunk-aware" batches); the sampler puts no text twice into a batch, so a
document is never its own negative.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from posbias.errors import ConfigError, DataError
from posbias.training.arguments import shared_arguments
from posbias.training.progress import progress_callback

if TYPE_CHECKING:
    from datasets import Dataset
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer

LOSSES = ("plain", "cached")


def bin_datasets(pairs: Iterable[dict]) -> dict[str, "Dataset"]:
    """Return one data set per length bin with columns `anchor` (query) and `positive` (document).

    pairs: records with bin, query and text. Raises DataError if there are none.
    """
    from datasets import Dataset

    rows: dict[str, dict[str, list[str]]] = {}
    for pair in pairs:
        columns = rows.setdefault(pair["bin"], {"anchor": [], "positive": []})
        columns["anchor"].append(pair["query"])
        columns["positive"].append(pair["text"])
    if not rows:
        raise DataError("the training set is empty; run the balancing step again.")
    return {name: Dataset.from_dict(columns) for name, columns in sorted(rows.items())}


def contrastive_loss(encoder: "SentenceTransformer", options: dict):
    """Return InfoNCE over in-batch negatives, plain or with cached gradients (GradCache).

    Both compute the same loss and gradient; `cached` holds only `mini_batch_size` pairs in
    memory at a time. Raises ConfigError for another name.
    """
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )

    if options["loss"] == "plain":
        return MultipleNegativesRankingLoss(encoder, scale=options["scale"])
    if options["loss"] == "cached":
        return CachedMultipleNegativesRankingLoss(
            encoder, scale=options["scale"], mini_batch_size=options["mini_batch_size"]
        )
    raise ConfigError(f"training.loss: {options['loss']!r}; known: {', '.join(LOSSES)}.")


def make_trainer(
    encoder: "SentenceTransformer",
    pairs: Iterable[dict],
    options: dict,
    learning_rate: float,
    seed: int,
    resume_dir: Path,
    name: str,
) -> "SentenceTransformerTrainer":
    """Set up the trainer; its states for resumption go to `resume_dir`, its progress too.

    options: the `training` block of the config. `name` heads the progress lines.
    """
    from sentence_transformers import (
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.base.sampler import BatchSamplers, MultiDatasetBatchSamplers
    from transformers.trainer_callback import PrinterCallback

    class Trainer(SentenceTransformerTrainer):
        """The library's trainer without its own model card: training/card.py writes ours."""

        def add_model_card_callback(self, default_args_dict: dict) -> None:
            pass

    arguments = SentenceTransformerTrainingArguments(
        **shared_arguments(options, learning_rate, seed, resume_dir),
        num_train_epochs=options["epochs"],
        batch_sampler=BatchSamplers.NO_DUPLICATES,
        multi_dataset_batch_sampler=MultiDatasetBatchSamplers.PROPORTIONAL,
        prompts={"anchor": encoder.prompts["query"]},
    )
    trainer = Trainer(
        model=encoder,
        args=arguments,
        train_dataset=bin_datasets(pairs),
        loss=contrastive_loss(encoder, options),
        callbacks=[progress_callback(name, resume_dir / "progress.jsonl")],
    )
    trainer.remove_callback(PrinterCallback)  # it prints every log entry; ours writes progress
    return trainer
