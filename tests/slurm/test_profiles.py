"""The profiles as files: rules that exist, keys that do not collide, requests that grow."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SUBMITTING = ("slurm", "slurm-a100")
RULES = "\n".join(path.read_text("utf-8") for path in (ROOT / "rules").glob("*.smk"))
NAMES = set(re.findall(r"^(?:use )?rule (?:\w+ as )?(\w+)(?::| with:)", RULES, re.MULTILINE))


def read(name: str) -> dict:
    """Return what a profile sets."""
    return yaml.safe_load((ROOT / "profiles" / name / "profile.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", SUBMITTING)
def test_every_rule_that_a_profile_names_exists(name):
    found = read(name)
    named = [
        rule for key in ("set-resources", "set-threads", "groups") for rule in found.get(key, {})
    ]
    assert sorted(set(named) - NAMES) == []


@pytest.mark.parametrize("name", SUBMITTING)
def test_what_a_job_gets_grows_with_its_attempts(name):
    for rule, resources in read(name)["set-resources"].items():
        for kind in ("mem_mb", "runtime"):
            if kind in resources:
                first, second = (eval(resources[kind], {"attempt": n}) for n in (1, 2))
                assert second > first > 0, (rule, kind)


@pytest.mark.parametrize("name", SUBMITTING)
def test_retries_are_submissions_and_never_inside_a_job(name):
    assert read(name)["retries"] >= 1
    assert "retries:" not in RULES


@pytest.mark.parametrize("name", SUBMITTING)
def test_groups_have_components_and_need_no_gpu(name):
    found = read(name)
    assert set(found["groups"].values()) == set(found["group-components"])
    for rule in found["groups"]:
        assert "gres" not in found["set-resources"].get(rule, {}), rule


def test_profiles_that_are_layered_set_different_things():
    # Of two profiles that set a key, only one is heard, for the whole key.
    assert set(read("slurm-a100")) & (set(read("paper")) | set(read("default"))) == set()


def test_trainings_and_scorings_of_the_paper_scale_have_a_gpu():
    resources = read("slurm-a100")["set-resources"]
    one = "train_retriever score_candidates search_corpus choose_personas"
    four = "train_reranker estimate_propensity evaluate_slots evaluate_orders evaluate_permutations"
    assert {resources[rule]["gres"] for rule in one.split()} == {"gpu:a100:1"}
    assert {resources[rule]["gres"] for rule in four.split()} == {"gpu:a100:4"}
    partition = resources["train_retriever"]["slurm_partition"]
    for rule, asked in resources.items():
        gres, where = asked.get("gres", ""), asked.get("slurm_partition")
        assert ("gpu" in gres) == (where is not None), rule
        assert where is None or partition in where, rule


def test_jobs_share_the_gpu_of_one_machine_and_each_have_one_on_a_cluster():
    """The limit of profiles/paper would hold back a cluster, if its profile did not lift it."""
    assert "accelerators=1" in read("paper")["resources"]
    counting = {
        name
        for name, body in re.findall(r"^rule (\w+):\n((?:(?: {4}.*)?\n)+)", RULES, re.MULTILINE)
        if " accelerators=" in body
    }
    on_the_cluster = read("slurm-a100")["set-resources"]
    with_gpu = {rule for rule, asked in on_the_cluster.items() if "gres" in asked}
    assert counting == with_gpu != set()
    assert {on_the_cluster[rule]["accelerators"] for rule in with_gpu} == {0}
