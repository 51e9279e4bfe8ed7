"""Arguments of the library's trainers that all trainings share: both studies' config blocks."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import TrainingArguments


def shared_arguments(
    options: dict[str, Any], learning_rate: float, seed: int, resume_dir: Path
) -> dict[str, Any]:
    """Return the keyword arguments for transformers' TrainingArguments.

    options: batch_size, warmup_ratio (share of all steps), schedule, weight_decay,
    max_grad_norm, save_every and log_every (steps) of a training block of the config.
    """
    return {
        "output_dir": str(resume_dir),
        "per_device_train_batch_size": options["batch_size"],
        "learning_rate": learning_rate,
        "warmup_steps": options["warmup_ratio"],  # below 1, a share
        "lr_scheduler_type": options["schedule"],
        "weight_decay": options["weight_decay"],
        "max_grad_norm": options["max_grad_norm"],
        "optim": "adamw_torch",
        "seed": seed,
        "data_seed": seed,
        "save_strategy": "steps",
        "save_steps": options["save_every"],
        "save_total_limit": 2,  # training/progress.py seals the newer one, then removes the older
        "logging_strategy": "steps",
        "logging_steps": options["log_every"],
        "logging_nan_inf_filter": False,  # a loss that is no number must be seen
        "report_to": "none",
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
    }


def keep_to_one_gpu(arguments: "TrainingArguments") -> None:
    """Make a trainer use one GPU, however many the machine shows.

    By itself it would give each a batch and put a wrapper around the model: batches, and with them
    in-batch negatives and steps, would depend on the machine.
    """
    arguments._n_gpu = min(arguments.n_gpu, 1)
