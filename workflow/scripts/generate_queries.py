"""Generate query candidates aimed at one segment each."""

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adapter import start
from posbias.errors import DataError
from posbias.files import stream_jsonl, write_json, write_jsonl
from posbias.logs import Heartbeat
from posbias.queries.generators import Surroundings, make_generator
from posbias.queries.personas import count_lines
from posbias.queries.query_costs import expected_costs

log = logging.getLogger("queries")


def main(
    documents: Path,
    candidates: Path,
    summary: Path,
    generator: str,
    entry: dict[str, Any],
    seed: int,
    answers: Path,
    personas: list[Path],
    models: list[Path],
    model_names: list[str],
    dry_run: bool = False,
) -> None:
    """Generate query candidates for every document (section 3.1.2).

    Args:
        documents: the corpus, JSON lines
        candidates: JSON lines to write
        summary: counts of candidates by position, and of what was dropped and why
        generator: name of the generator
        entry: the generator's block of the config, kind and options
        seed: seed of the keyed hashes
        answers: folder of the logs of answers, which outlive a failed run
        personas: the choices of choose_personas, then the list that they were made from unless it
            is our own; none for a generator that asks in nobody's name
        models: model folders
        model_names: their names in the config, in the same order
        dry_run: say what would be asked and what it would cost, ask and write nothing
    """
    around = Surroundings(
        seed, dict(zip(model_names, models, strict=True)), personas, Path(answers)
    )

    def corpus() -> Iterator[dict]:
        return stream_jsonl(documents, ("doc_id", "text", "bin"))

    for stage, cost in expected_costs(generator, entry, around, corpus).items():
        log.info("%s, %s: %s", generator, stage, cost)
    if dry_run:
        return
    maker = make_generator(generator, entry, around)
    bins, positions, lengths, dropped = (Counter() for _ in range(4))
    heartbeat = Heartbeat("documents taken", count_lines(documents))

    def counted() -> Iterator[dict]:
        for document in corpus():
            bins[document["bin"]] += 1
            yield document
            heartbeat.beat(bins.total())

    def rows() -> Iterator[dict]:
        for candidate in maker.generate(counted(), dropped):
            positions[candidate.position] += 1
            lengths[candidate.length] += 1
            yield candidate.record()
        if not positions:
            reasons = f" Dropped: {dict(sorted(dropped.items()))}." if dropped else ""
            raise DataError(
                f"{documents}: the generator {generator!r} made no query of it.{reasons}"
            )

    made = write_jsonl(candidates, rows())
    write_json(
        summary,
        {
            "generator": generator,
            "documents": bins.total(),
            "candidates": made,
            "by_position": dict(positions),
            "by_length": dict(lengths),
            "dropped": dict(sorted(dropped.items())),
            **maker.summary(),
        },
    )
    log.info("wrote %d candidates for %d documents to %s", made, bins.total(), candidates)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
