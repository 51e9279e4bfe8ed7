"""The real mini scale, whole: about ten minutes on two cores (POSBIAS_SKIP_MINI=1 leaves it out)."""

import json
import os

import pytest
from runs import environment, namespace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(2400),
    pytest.mark.skipif(os.environ.get("POSBIAS_SKIP_MINI") == "1", reason="POSBIAS_SKIP_MINI=1"),
]


def test_the_mini_scale_finds_the_papers_effects(fresh, config, capsys):
    import subprocess

    done = subprocess.run(
        [*namespace("--net"), "snakemake", "--cores", "2"],
        cwd=fresh,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2400,
    )
    assert done.returncode == 0, done.stdout[-6000:]
