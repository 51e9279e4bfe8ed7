"""Say what the generator would ask and what that would cost; ask nothing."""

import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any

from adapter import start
from posbias.files import stream_jsonl, write_json
from posbias.queries.generators import Surroundings
from posbias.queries.query_costs import expected_costs

log = logging.getLogger("estimate")


def main(
    documents: Path,
    estimate: Path,
    generator: str,
    entry: dict[str, Any],
    seed: int,
    personas: list[Path],
) -> None:
    """Estimate calls, tokens and dollars of both stages of a generator (section 3.1.2).

    Args:
        documents: the corpus, JSON lines
        estimate: calls, tokens and dollars by stage and in all, to write, JSON
        generator: name of the generator
        entry: the generator's block of the config, kind and options
        seed: seed of the keyed hashes
        personas: the choices of choose_personas, then the list that they were made from unless it
            is our own; none for a generator that asks in nobody's name
    """
    costs = expected_costs(
        generator,
        entry,
        Surroundings(seed, {}, personas, None),
        lambda: stream_jsonl(documents, ("doc_id", "text", "bin")),
    )
    for stage, cost in costs.items():
        log.info("%s, %s: %s", generator, stage, cost)
    write_json(estimate, {stage: asdict(cost) for stage, cost in costs.items()})


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
