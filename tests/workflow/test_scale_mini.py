"""The real mini scale, whole: ten minutes on two cores. POSBIAS_SKIP_MINI=1 leaves it out."""

import json
import os

import pytest
from runs import succeed

LIMIT = 2400  # seconds

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(LIMIT),
    pytest.mark.skipif(os.environ.get("POSBIAS_SKIP_MINI") == "1", reason="POSBIAS_SKIP_MINI=1"),
]


def test_the_mini_scale_finds_the_papers_effects(fresh, config, capsys):
    succeed(fresh, "snakemake", "--cores", "2", limit=LIMIT - 60)
    results = fresh / "results" / config["scale"]
    with capsys.disabled():
        print("\n" + (results / "claims.txt").read_text("utf-8"))
    claims = {c["id"]: c for c in json.loads((results / "claims.json").read_text("utf-8"))}
    retrievers = len(config["retrievers"]["known"])
    direction, psi = claims["direction.all"], claims["psi.all"]
    assert direction["threshold"] == psi["threshold"] == retrievers
    assert direction["value"] >= retrievers - 1, direction["explanation"]
    assert psi["value"] == retrievers, psi["explanation"]
    report = json.loads((results / "verify.json").read_text("utf-8"))
    assert report["verdict"] != "differs", report["counts"]
    assert (report["verdict"] == "no reference numbers") == (config["expected"] is None)
