"""The packaged encoder, whose tokenizer and token vectors the retrievers take."""

from pathlib import Path

import pytest

from posbias.assets import find_asset


@pytest.fixture(scope="session")
def encoder_folder(config) -> Path:
    """The folder of all-MiniLM-L6-v2 inside its package."""
    return find_asset(**config["assets"]["minilm_l6"]).parent
