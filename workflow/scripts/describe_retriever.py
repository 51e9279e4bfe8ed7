"""Describe one retriever: what it starts from, its attention, its parameters, its training."""

import logging
from pathlib import Path

from adapter import start
from posbias.files import write_json
from posbias.models.description import describe_checkpoint

log = logging.getLogger("describe")


def main(checkpoint: Path, described: Path, retriever: str) -> None:
    """Describe a retriever, so that its tables need no checkpoint (paper, Tables 2, 9 and 10).

    Args:
        checkpoint: folder of the retriever, trained on any setting
        described: what the tables say of it, JSON
        retriever: key of the retriever in the config
    """
    facts = describe_checkpoint(checkpoint, retriever)
    write_json(described, facts)
    log.info("%s: %d parameters, %s trained", retriever, facts["parameters"],
             facts["trained_parameters"])  # fmt: skip


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
