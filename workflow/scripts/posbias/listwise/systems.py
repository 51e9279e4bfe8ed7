"""Systems under test: a trained reranker with one seed and one way of inference."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posbias.errors import ConfigError, DataError
from posbias.listwise.collection import Collection
from posbias.listwise.cosine import CosineScorer
from posbias.listwise.reranking import INFERENCE, window_score
from posbias.listwise.score_tape import COUNTED, ScoreTape
from posbias.listwise.scorers import ListwiseScorer, load_scorer
from posbias.listwise.windows import Score
from posbias.models.checkpoints import checked_settings

log = logging.getLogger(__name__)
ALONE = "first_stage"  # the key of lists that nobody reranked
SEEDLESS = -1  # the seed of a system that was not trained


@dataclass(frozen=True)
class System:
    """A reranker ready to score; `name` is its key in every table, `seed` that of its training."""

    name: str
    seed: int
    scorer: ListwiseScorer | CosineScorer
    inference: str
    batch: int
    tape: ScoreTape | None = None

    def score(self, collection: Collection) -> Score:
        """Return its scores of windows of one collection, whose last passage is the placeholder."""
        who = f"{self.name}/{self.seed}"
        plain = window_score(self.scorer, collection, self.batch, self.tape, who)
        return INFERENCE[self.inference](plain, len(collection.doc_ids) - 1)


def reading_record(systems: Sequence[System | None]) -> list[dict[str, int]]:
    """Return per training seed what a language model counted while it read windows, and warn.

    windows_read; answers_off_letters: windows whose likeliest next token was no letter of theirs,
    so that their scores say little; windows_shortened: windows whose passages had to be cut.
    Scorers that count nothing of this have no record.
    """
    scorers = {system.seed: system.scorer for system in systems if system is not None}
    records = []
    for seed, scorer in scorers.items():
        counts = {name: getattr(scorer, name) for name in COUNTED if hasattr(scorer, name)}
        if not counts:
            continue
        records.append({"seed": seed, **counts})
        if counts["answers_off_letters"]:
            log.warning(
                "seed %d: in %d of %d windows the likeliest answer was no passage's letter; their "
                "order says little of the model.", seed, counts["answers_off_letters"],
                counts["windows_read"],
            )  # fmt: skip
    return records


def load_reranker(folder: Path, model: str, seed: int, scorer: dict[str, Any]) -> ListwiseScorer:
    """Load a checkpoint after a look at what it says of itself.

    scorer: the listwise.scorer block of the config. Raises DataError naming the folder where it
    is another model's or seed's, was changed, or was trained with another block: the same vectors
    in another order would give numbers without a sign of it.
    """
    settings = checked_settings(folder, {"reranker": model, "seed": seed})
    if settings.get("scorer") != scorer:
        raise DataError(
            f"{folder}: was trained with another listwise.scorer than the config's; delete the "
            "folder and run again."
        )
    return load_scorer(scorer["kind"], folder, scorer["options"])


def system_name(model: str, inference: str) -> str:
    """Return the key of a model under a way of inference."""
    return model if inference == "plain" else f"{model}+{inference}"


def trained_systems(
    model: str,
    checkpoints: Sequence[Path],
    seeds: Sequence[int],
    scorer: dict[str, Any],
    inferences: Sequence[str],
    batch: int,
    tape: ScoreTape | None = None,
) -> Iterator[System]:
    """Yield a model's systems, seed by seed; a model without checkpoints is the cosine reference.

    scorer: the listwise.scorer block of the config. tape: of the evaluation, for what a killed run
    has scored. Raises DataError for another model's checkpoint, ConfigError for an unknown way of
    inference.
    """
    unknown = [name for name in inferences if name not in INFERENCE]
    if unknown:
        raise ConfigError(f"inference {unknown[0]!r} does not exist; known: {', '.join(INFERENCE)}")
    if checkpoints and len(checkpoints) != len(seeds):
        raise ConfigError(f"{model}: {len(checkpoints)} checkpoints for {len(seeds)} seeds.")
    if not checkpoints:
        yield System(model, SEEDLESS, CosineScorer(), "plain", batch, tape)
        return
    for checkpoint, seed in zip(checkpoints, seeds, strict=True):
        module = load_reranker(checkpoint, model, seed, scorer)
        for inference in inferences:
            yield System(system_name(model, inference), seed, module, inference, batch, tape)
