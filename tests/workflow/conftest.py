"""One unbroken shrunken run a session, and copies of the checkout with and without its results."""

import shutil
from pathlib import Path

import pytest
from runs import copy_checkout, lent_copy, snakemake, succeed


@pytest.fixture(scope="session")
def snapshot(root, tmp_path_factory) -> Path:
    """The checkout as it is now: all runs of a session are about the same files."""
    return copy_checkout(root, tmp_path_factory.mktemp("snapshot") / "checkout")


@pytest.fixture(scope="session")
def reference(snapshot, tmp_path_factory):
    """A copy in which the shrunken workflow ran once, and unbroken; its output is `run.txt`.

    Tests read it and may run Snakemake where nothing is to be done; for all else there is
    `finished`.
    """
    copy = tmp_path_factory.mktemp("reference") / "checkout"
    shutil.copytree(snapshot, copy)
    (copy / "run.txt").write_text(succeed(copy, *snakemake()), encoding="utf-8")
    yield copy
    shutil.rmtree(copy)


@pytest.fixture
def fresh(snapshot, tmp_path):
    """A copy in which nothing ran yet."""
    with lent_copy(snapshot, tmp_path / "fresh") as copy:
        yield copy


@pytest.fixture
def finished(reference, tmp_path):
    """A copy of the finished run, to change."""
    with lent_copy(reference, tmp_path / "finished") as copy:
        yield copy
