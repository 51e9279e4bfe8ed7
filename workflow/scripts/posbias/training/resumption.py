"""A training that goes on from where it was cut off, and what must hold at its end."""

import contextlib
import logging
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from posbias.errors import DataError, DivergedError
from posbias.files import named_disk_faults
from posbias.models.checkpoints import SETTINGS_FILE, checked_settings, seal_checkpoint

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from torch.nn import Module
    from transformers import Trainer


def seal_state(folder: Path) -> None:
    """Write the SHA-256 of each file of a training state into it, which makes it a whole one."""
    seal_checkpoint(folder, {})


def _states(resume_dir: Path) -> list[Path]:
    """Return the folders of training states, newest first."""
    found = {
        int(match[1]): folder
        for folder in Path(resume_dir).glob("checkpoint-*")
        if folder.is_dir() and (match := re.fullmatch(r"checkpoint-(\d+)", folder.name))
    }
    return [folder for _, folder in sorted(found.items(), reverse=True)]


def forget_older(newest: Path) -> None:
    """Remove the states beside one that is sealed."""
    for folder in _states(newest.parent):
        if folder != newest:
            shutil.rmtree(folder)


def _is_whole(state: Path) -> bool:
    if not (state / SETTINGS_FILE).is_file():
        log.warning("%s: was cut off while it was written; passing it over", state)
        return False
    try:
        sealed = checked_settings(state, {}).get("files")
    except (DataError, OSError, AttributeError) as fault:  # the seal itself may be damaged
        log.warning("passing over a damaged state (%s)", fault)
        return False
    return isinstance(sealed, dict) and bool(sealed)


def last_state(resume_dir: Path) -> Path | None:
    """Return the newest whole training state below `resume_dir`, or None.

    A state without its seal, or with other files than were sealed, was cut off while it was
    written, or damaged since. It is removed: it would only take room.
    """
    for folder in _states(resume_dir):
        if _is_whole(folder):
            return folder
        shutil.rmtree(folder)
    return None


def train_from(trainer: "Trainer", state: Path | None, states: Path) -> None:
    """Train from a state, or from the start; a full disk below `states` is named."""
    with named_disk_faults(states):
        trainer.train(resume_from_checkpoint=str(state) if state else None)


def forget_states(resume_dir: Path) -> None:
    """Remove the states of one job, and the folder of all if nothing else lies in it."""
    shutil.rmtree(resume_dir, ignore_errors=True)
    with contextlib.suppress(OSError):  # the states of other jobs, the lock of this one
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
