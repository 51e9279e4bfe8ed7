"""A SLURM of this machine with the names that the profiles use, and copies to run in."""

import shutil
from pathlib import Path

import pytest
import yaml
from one_machine import CannotInstall, one_machine
from runs import copy_checkout, lent_copy, succeed, write_overlay
from submissions import BEFORE_TRAINING, CHANGE, EVALUATED, locally


@pytest.fixture(scope="session")
def profile(root) -> dict:
    """What profiles/slurm-a100 sets."""
    return yaml.safe_load((root / "profiles/slurm-a100/profile.yaml").read_text("utf-8"))


@pytest.fixture(scope="session")
def cluster(profile):
    """A running SLURM with the account and the partitions of profiles/slurm-a100."""
    site = profile["default-resources"]
    gpus = profile["set-resources"]["train_retriever"]["slurm_partition"]
    try:
        with one_machine(site["slurm_account"], site["slurm_partition"], gpus) as running:
            yield running
    except CannotInstall as fault:
        pytest.skip(f"no SLURM on this machine: {fault}")


@pytest.fixture(scope="session")
def prepared(root, tmp_path_factory) -> Path:
    """A copy in which everything before the training was made."""
    copy = copy_checkout(root, tmp_path_factory.mktemp("prepared") / "checkout")
    write_overlay(copy, CHANGE)
    succeed(copy, *locally(*BEFORE_TRAINING))
    return copy


@pytest.fixture(scope="session")
def unbroken(prepared, tmp_path_factory) -> Path:
    """A copy in which the evaluations were made by an unbroken run on this machine."""
    copy = tmp_path_factory.mktemp("unbroken") / "checkout"
    shutil.copytree(prepared, copy)
    succeed(copy, *locally(*EVALUATED))
    return copy


@pytest.fixture
def fresh(prepared, tmp_path):
    """A copy of what stands before the training."""
    with lent_copy(prepared, tmp_path / "fresh") as copy:
        yield copy
