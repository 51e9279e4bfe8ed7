"""Training of a listwise reranker on shown lists and the teacher's orders (L_First, equation 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from posbias.errors import DataError
from posbias.listwise.collection import Collection
from posbias.listwise.ips import ips_rank_loss
from posbias.listwise.losses import joint_loss, rank_loss, ranks_of
from posbias.listwise.propensity import ItemWeights
from posbias.listwise.scorers import ListwiseScorer
from posbias.training.arguments import keep_to_one_gpu, shared_arguments
from posbias.training.progress import progress_callback

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Trainer


@dataclass(frozen=True)
class Objective:
    """The joint loss of one model: which terms it has and how they are weighed.

    lm: whether L_LM is part of it; weight: of the ranking term (the paper's lambda); index,
    reduction: of `rank_loss`; weights: inverse propensities, None for the plain ranking loss.
    """

    lm: bool
    weight: float
    index: str
    reduction: str
    weights: ItemWeights | None = None

    def __call__(self, scores: "Tensor", lm_loss: "Tensor", ranks: "Tensor") -> "Tensor":
        how = {"index": self.index, "reduction": self.reduction}
        if self.weights is None:
            rank = rank_loss(scores, ranks, **how)
        else:
            rank = ips_rank_loss(scores, ranks, self.weights, **how)
        return joint_loss(rank, lm_loss if self.lm else None, self.weight)


def shown_lists(
    lists: Sequence[dict], presentations: Sequence[Sequence[np.ndarray]], collection: Collection
) -> list[dict[str, np.ndarray]]:
    """Return one training example per list and presentation: query, passages, order, all rows.

    lists: records with query_id, doc_ids and order (the teacher's, as places in doc_ids);
    presentations: per list, which of its places stands at each slot. The order of an example is
    the teacher's as slots, best first. Raises DataError naming the query of a list that is not
    of this collection, or whose order or presentation does not name every place once.
    """
    examples = []
    for record, shown in zip(lists, presentations, strict=True):
        _check_list(record, collection)
        passages = np.array([collection.doc_rows[doc_id] for doc_id in record["doc_ids"]])
        for places in shown:
            _check_places(record, places, "a presentation")
            slot_of = np.argsort(places)
            examples.append(
                {
                    "query": np.int64(collection.query_rows[record["query_id"]]),
                    "passages": passages[places],
                    "order": slot_of[np.asarray(record["order"])],
                }
            )
    if not examples:
        raise DataError("there is no list to train on; see the summary of the teacher's step.")
    return examples


def _check_list(record: dict, collection: Collection) -> None:
    where = f"training list of query {record['query_id']!r}"
    remedy = "run the teacher's step again"
    if record["query_id"] not in collection.query_rows:
        raise DataError(f"{where}: the collection lacks this query; {remedy}.")
    unknown = [doc_id for doc_id in record["doc_ids"] if doc_id not in collection.doc_rows]
    if unknown:
        raise DataError(f"{where}: the collection lacks document {unknown[0]!r}; {remedy}.")
    if len(set(record["doc_ids"])) < len(record["doc_ids"]):
        raise DataError(f"{where}: a document stands in it twice; {remedy}.")
    _check_places(record, record["order"], "the teacher's order")


def _check_places(record: dict, places: Sequence[int] | np.ndarray, what: str) -> None:
    if sorted(places) != list(range(len(record["doc_ids"]))):
        raise DataError(
            f"training list of query {record['query_id']!r}: {what} does not name each of its "
            f"{len(record['doc_ids'])} places once; run the teacher's and the augmentation's step "
            "again."
        )


def _collate(examples: list[dict[str, np.ndarray]]) -> dict[str, "Tensor"]:
    import torch

    return {
        name: torch.from_numpy(np.stack([example[name] for example in examples]))
        for name in ("query", "passages", "order")
    }


def make_reranker_trainer(
    scorer: ListwiseScorer,
    collection: Collection,
    examples: list[dict[str, np.ndarray]],
    objective: Objective,
    options: dict[str, Any],
    steps: int,
    seed: int,
    resume_dir: Path,
    name: str,
) -> "Trainer":
    """Set up transformers' trainer; its states for resumption and its progress go to `resume_dir`.

    options: the `listwise.training` block of the config; steps: updates of the weights.
    """
    from transformers import Trainer, TrainingArguments
    from transformers.trainer_callback import PrinterCallback

    class RerankerTrainer(Trainer):
        """The library's trainer with the joint loss of the study."""

        def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
            query, passages, order = (
                inputs[name].cpu().numpy() for name in ("query", "passages", "order")
            )
            scores, lm_loss = model.training_scores(collection, query, passages, order)
            loss = objective(scores, lm_loss, ranks_of(inputs["order"]))
            return (loss, scores) if return_outputs else loss

    arguments = TrainingArguments(
        **shared_arguments(options, options["learning_rate"], seed, resume_dir),
        max_steps=steps,
        gradient_accumulation_steps=options["gradient_accumulation"],
        remove_unused_columns=False,
        label_names=[],
    )
    keep_to_one_gpu(arguments)
    trainer = RerankerTrainer(
        model=scorer,
        args=arguments,
        train_dataset=examples,
        data_collator=_collate,
        callbacks=[progress_callback(name, resume_dir / "progress.jsonl")],
    )
    trainer.remove_callback(PrinterCallback)  # it prints every log entry; ours writes progress
    return trainer
