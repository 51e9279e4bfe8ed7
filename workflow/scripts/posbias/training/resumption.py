"""A training that goes on from where it was cut off, and what must hold at its end."""

import contextlib
import logging
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from posbias.errors import DataError, DivergedError
from posbias.files import named_disk_faults
from posbias.models.checkpoints import checked_settings, seal_checkpoint

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from torch.nn import Module
    from transformers import Trainer


def seal_state(folder: Path) -> None:
    """Write the SHA-256 of each file of a training state into it, which makes it a whole one."""
    seal_checkpoint(folder, {})


def last_state(resume_dir: Path) -> Path | None:
    """Return the newest whole training state below `resume_dir`, or None.

    A state without its seal, or with other files than were sealed, was cut off while it was
    written. It is removed: the trainer keeps the states with the highest steps and would throw
    away a new one for it.
    """
    found = {
        int(match[1]): folder
        for folder in Path(resume_dir).glob("checkpoint-*")
        if (match := re.fullmatch(r"checkpoint-(\d+)", folder.name))
    }
    for _, folder in sorted(found.items(), reverse=True):
        try:
            checked_settings(folder, {})
            return folder
        except DataError as fault:
            log.warning("passing over a state that is not whole (%s)", fault)
            shutil.rmtree(folder)
    return None


def train_from(trainer: "Trainer", state: Path | None, states: Path) -> None:
    """Train from a state, or from the start; a full disk below `states` is named."""
    with named_disk_faults(states):
        trainer.train(resume_from_checkpoint=str(state) if state else None)


def forget_states(resume_dir: Path) -> None:
    """Remove the states of one training, and the folder of all once it is empty."""
    shutil.rmtree(resume_dir, ignore_errors=True)
    with contextlib.suppress(OSError):  # other trainings keep their states beside ours
        Path(resume_dir).parent.rmdir()


def check_finite(model: "Module", name: str, learning_rate: float) -> None:
    """Raise DivergedError if a weight is no longer a number."""
    import torch

    for parameter, values in model.named_parameters():
        if not torch.isfinite(values).all():
            raise DivergedError(
                f"{name}: {parameter} holds values that are not numbers after the training; "
                f"lower its learning_rate (now {learning_rate:g})."
            )
