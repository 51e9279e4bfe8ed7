"""What several files look at: the packaged encoder, a fake hosted model, a listwise study."""

from pathlib import Path

import pytest

from config_changes import asset_of
from posbias.assets import find_asset


@pytest.fixture(scope="session")
def encoder_folder(config) -> Path:
    """The folder of all-MiniLM-L6-v2 inside its package."""
    return find_asset(**asset_of(config, "minilm_l6")).parent


@pytest.fixture
def server(monkeypatch):
    """A server that speaks a hosted model's protocol and misbehaves on demand (fake_openai)."""
    from fake_openai import KEY, FakeOpenAI

    with FakeOpenAI() as fake:
        monkeypatch.setenv("TOY_URL", fake.url)
        monkeypatch.setenv("TOY_KEY", KEY)
        yield fake


@pytest.fixture
def path(tmp_path) -> Path:
    """Where a test keeps the log of its answers."""
    return tmp_path / "answers.jsonl"


@pytest.fixture
def toy_retrievers(monkeypatch):
    """The toy retrievers of search_toy, which the scripts load in the place of checkpoints."""
    from search_toy import install, toy_models

    models = toy_models()
    install(monkeypatch, models)
    return models


@pytest.fixture
def toy_collection(tmp_path) -> dict:
    """The files of a benchmark of N documents, by the scripts' argument names."""
    from search_toy import N, write_collection

    return write_collection(tmp_path, range(N))


@pytest.fixture(scope="session")
def listwise_chain(tmp_path_factory):
    """A whole listwise study on made-up texts; look at its files, do not change them."""
    torch = pytest.importorskip("torch")
    from listwise_chain import fake_encoders, run_chain

    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        fake_encoders(patch)
        root = tmp_path_factory.mktemp("listwise")
        patch.setattr("select_passages.find_asset", lambda: root / "leads.json")
        return run_chain(root)
