"""Contrastive training of one retriever (retriever study, section 4.2 and App. D).

sentence-transformers' trainer and InfoNCE loss. Each length bin is a data set of its own, so a
batch never mixes bins ("chunk-aware" batches); the sampler puts no text twice into a batch, so a
document is never its own negative.
"""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from posbias.errors import ConfigError, DataError
from posbias.models.retriever import bf16_wanted
from posbias.training.arguments import keep_to_one_gpu, shared_arguments
from posbias.training.progress import progress_callback

if TYPE_CHECKING:
    from datasets import Dataset
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
    from torch import Tensor

log = logging.getLogger(__name__)

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

    Both compute the same loss and gradient; `cached` embeds twice and holds only mini-batches in
    memory: `mini_batch_size` pairs at a time, or, where `mini_batch_tokens` is given, as many
    successive texts as stay within that number of tokens. The library counts no padding there
    and does not sort the texts, so that a mini-batch may take somewhat more; a text that is
    longer than the budget forms a mini-batch of its own. Raises ConfigError for another name.
    """
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )

    shared = {"scale": options["scale"], "similarity_fct": exact_cosines}
    if options["loss"] == "plain":
        return MultipleNegativesRankingLoss(encoder, **shared)
    if options["loss"] == "cached":
        return CachedMultipleNegativesRankingLoss(
            encoder,
            **shared,
            mini_batch_size=options["mini_batch_size"],
            mini_batch_num_tokens=options.get("mini_batch_tokens"),
        )
    raise ConfigError(f"training.loss: {options['loss']!r}; known: {', '.join(LOSSES)}.")


def exact_cosines(queries: "Tensor", documents: "Tensor") -> "Tensor":
    """Return cosines (n, m) of vectors (n, d) and (m, d), in float32 also inside autocast.

    Bfloat16 has steps of 0.004 near a cosine of 0.6, which the scale makes steps of 0.08 in the
    loss.
    """
    import torch
    from sentence_transformers.util import cos_sim

    with torch.autocast(queries.device.type, enabled=False):
        return cos_sim(*(_at_least_float32(vectors) for vectors in (queries, documents)))


def _at_least_float32(vectors: "Tensor") -> "Tensor":
    import torch

    return vectors.to(torch.promote_types(vectors.dtype, torch.float32))


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

    options: the `training` block of the config. `name` heads the progress lines. On a GPU,
    products are computed in bfloat16 if autocast says so; weights and their updates stay float32.
    gradient_checkpointing trades time for memory: layers are computed again on the way back.
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

    bf16 = bf16_wanted(options.get("autocast", "none"))
    if options.get("autocast", "none") != "none" and not bf16:
        log.info("%s: training.autocast has no effect without a GPU; computing in fp32", name)
    arguments = SentenceTransformerTrainingArguments(
        **shared_arguments(options, learning_rate, seed, resume_dir),
        num_train_epochs=options["epochs"],
        batch_sampler=BatchSamplers.NO_DUPLICATES,
        multi_dataset_batch_sampler=MultiDatasetBatchSamplers.PROPORTIONAL,
        prompts={"anchor": encoder.prompts["query"]},
        bf16=bf16,
    )
    keep_to_one_gpu(arguments)
    if options.get("gradient_checkpointing", False):
        encoder[0].model.activation_checkpointing_enable({"use_reentrant": False})
    trainer = Trainer(
        model=encoder,
        args=arguments,
        train_dataset=bin_datasets(pairs),
        loss=contrastive_loss(encoder, options),
        callbacks=[progress_callback(name, resume_dir / "progress.jsonl")],
    )
    trainer.remove_callback(PrinterCallback)  # it prints every log entry; ours writes progress
    return trainer


def pairs_left_out(trainer: "SentenceTransformerTrainer") -> list[int]:
    """Return per epoch how many pairs no batch showed.

    An epoch has as many batches as its pairs fill. Where a batch must stay smaller, as what is
    left of a bin shares a text with it, the bin needs more batches than that, and the last ones
    are left out. The order of an epoch depends on the seed alone, so it is run through again here.
    """
    loader = trainer.get_train_dataloader()
    shown = []
    for epoch in range(int(trainer.args.num_train_epochs)):
        loader.batch_sampler.set_epoch(epoch)
        shown.append(len({row for batch in loader.batch_sampler for row in batch}))
    return [len(loader.dataset) - count for count in shown]
