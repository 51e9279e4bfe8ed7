"""Generate query candidates aimed at one segment each."""

import logging
from collections import Counter
from pathlib import Path
from typing import Any

from adapter import start
from posbias.errors import DataError
from posbias.files import read_jsonl, write_json, write_jsonl
from posbias.queries.generators import make_generator

log = logging.getLogger("queries")


def main(
    documents: Path, candidates: Path, summary: Path, generator: str, options: dict[str, Any],
    seed: int,
) -> None:  # fmt: skip
    """Generate query candidates for every document (section 3.1.2).

    Args:
        documents: the corpus, JSON lines
        candidates: JSON lines to write
        summary: counts of candidates by position, and of what was dropped and why
        generator: name of the generator
        options: the generator's block of the config
        seed: seed of the keyed hashes
    """
    corpus = read_jsonl(documents, ("doc_id", "text", "bin"))
    dropped: Counter = Counter()
    made = list(make_generator(generator, seed, options).generate(corpus, dropped))
    if not made:
        raise DataError(f"{documents}: the generator {generator!r} made no query of it.")
    write_jsonl(candidates, (candidate.record() for candidate in made))
    write_json(
        summary,
        {
            "generator": generator,
            "documents": len(corpus),
            "candidates": len(made),
            "by_position": dict(Counter(candidate.position for candidate in made)),
            "by_length": dict(Counter(candidate.length for candidate in made)),
            "dropped": dict(sorted(dropped.items())),
        },
    )
    log.info("wrote %d candidates for %d documents to %s", len(made), len(corpus), candidates)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
