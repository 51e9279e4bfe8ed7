"""A training that goes on from where it was cut off, and what must hold at its end."""

import contextlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from posbias.errors import DivergedError
from posbias.files import named_disk_faults

if TYPE_CHECKING:
    from torch.nn import Module
    from transformers import Trainer


def last_state(resume_dir: Path) -> Path | None:
    """Return the newest whole training state below `resume_dir`, or None.

    The trainer writes its own state file last but for the random state, so a folder that lacks
    one of them was cut off in the middle and is passed over.
    """
    states = [
        folder
        for folder in Path(resume_dir).glob("checkpoint-*")
        if (folder / "trainer_state.json").is_file() and (folder / "rng_state.pth").is_file()
    ]
    return max(states, key=lambda folder: int(folder.name.split("-")[1]), default=None)


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
