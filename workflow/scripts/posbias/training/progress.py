"""Progress of a training: one line at most every 30 seconds, and every entry as JSON lines."""

import json
import logging
import math
from pathlib import Path
from typing import Any

from posbias.errors import DivergedError
from posbias.logs import Heartbeat
from posbias.training.resumption import forget_older, seal_state

log = logging.getLogger(__name__)


def progress_callback(name: str, path: Path) -> Any:
    """Return a trainer callback that logs '<name> step/steps loss … eta …' and appends to `path`.

    It also seals every state that the trainer has saved, and removes the one before.

    The steps of a resumed training count on from where it stopped. The callback raises
    DivergedError if the loss is no longer a number.
    """
    from transformers import TrainerCallback

    class Progress(TrainerCallback):
        def on_train_begin(self, args, state, control, **kwargs):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.heartbeat = Heartbeat(name, total=state.max_steps, done=state.global_step)
            log.info("%s starts at step %d of %d", name, state.global_step, state.max_steps)

        def on_log(self, args, state, control, logs=None, **kwargs):
            entry = {"step": state.global_step, "steps": state.max_steps, **(logs or {})}
            with path.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(entry) + "\n")
            loss = entry.get("loss")
            if loss is not None:
                if not math.isfinite(loss):
                    raise DivergedError(
                        f"{name}: the loss is {loss} at step {state.global_step}; "
                        f"lower its learning_rate (now {args.learning_rate:g})."
                    )
                self.heartbeat.beat(state.global_step, f"loss {loss:.3f}")

        def on_save(self, args, state, control, **kwargs):
            newest = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            seal_state(newest)
            if args.save_total_limit:
                forget_older(newest)

    return Progress()
