"""The profile against a real SLURM: requests, groups, refusals, more memory, a killed driver."""

import shutil
import time

import pytest
from runs import differences, run, succeed
from submissions import (
    EVALUATED,
    SETTINGS,
    TRAINED,
    kill_driver_in_training,
    recover,
    run_name,
    submitting,
    write_site,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def told(cluster, prepared, profile, tmp_path_factory) -> dict:
    """What came of a run whose driver was killed, and which went on as the documents say.

    One of its searches is given too little memory at first.
    """
    copy = tmp_path_factory.mktemp("cluster") / "checkout"
    shutil.copytree(prepared, copy)
    resources = profile["set-resources"]
    little = "300 if wildcards.searched == 'wiki_fine' and attempt == 1 else 3000 * attempt"
    resources = {**resources, "search_corpus": {**resources["search_corpus"], "mem_mb": little}}
    write_site(copy, **{"set-resources": resources})
    killed = kill_driver_in_training(copy)
    left = cluster.queued(killed)
    recover(copy, cluster, killed)
    output = succeed(copy, *submitting(*EVALUATED), more=cluster.environment)
    return {
        "copy": copy,
        "left": left,
        "killed": cluster.accounted(killed),
        "accounts": cluster.accounted(run_name(output)),
    }


def jobs_of(accounts: list[dict], start: str) -> list[dict]:
    """Return the accounts of the jobs whose comment, the rule or group, starts like this."""
    return [row for row in accounts if row["Comment"].startswith(start)]


def asked(row: dict) -> tuple:
    """Return what a job asked for: partition, CPUs, GPUs, memory, time."""
    tres = dict(part.split("=") for part in row["ReqTRES"].split(","))
    return row["Partition"], tres["cpu"], tres.get("gres/gpu", "0"), tres["mem"], row["Timelimit"]


def test_a_training_gets_a_gpu_and_what_the_profile_says(told):
    trainings = jobs_of(told["accounts"], "rule_train_retriever")
    assert {asked(row) for row in trainings} == {("a100", "8", "1", "48000M", "12:00:00")}
    assert {row["Account"] for row in trainings} == {"posbias"}
    settings = [row["Comment"].rsplit("_", 1)[1] for row in trainings]
    assert len(settings) == len(set(settings)) and set(settings) <= set(SETTINGS)


def test_a_search_that_lacks_memory_is_submitted_again_with_more(told):
    first, second = jobs_of(told["accounts"], "rule_search_corpus_wildcards_bert_wiki_fine")
    assert asked(first) == ("a100", "8", "1", "300M", "03:00:00")
    assert asked(second) == ("a100", "8", "1", "6000M", "06:00:00")
    assert first["State"] != "COMPLETED" and second["State"] == "COMPLETED"
    (other,) = jobs_of(told["accounts"], "rule_search_corpus_wildcards_bert_wiki_heldout")
    assert asked(other) == ("a100", "8", "1", "3000M", "03:00:00")


def test_evaluations_share_a_submission_without_a_gpu(told):
    (group,) = jobs_of(told["accounts"], "rule_evaluations_")
    assert asked(group) == ("cpu", "8", "0", "48000M", "03:00:00")


def test_nothing_else_was_submitted(told):
    known = ("rule_train_retriever", "rule_search_corpus", "rule_evaluations_")
    assert [row for row in told["accounts"] if not row["Comment"].startswith(known)] == []


def test_jobs_of_a_killed_driver_run_on_until_they_are_cancelled(told):
    assert told["left"] != [], "nothing was left to cancel"
    assert "CANCELLED" in {row["State"].split()[0] for row in told["killed"]}


def test_after_the_recovery_trainings_go_on_to_the_bytes_of_an_unbroken_run(told, unbroken):
    logs = (told["copy"] / "logs/shrunken/train_retriever").glob("*.log")
    assert [log.name for log in logs if "resuming from" in log.read_text("utf-8")] != []
    assert differences(unbroken, told["copy"]) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gres": "gpu:a100:8"}, "node configuration is not available"),
        ({"mem_mb": 9000000}, "node configuration is not available"),
        ({"slurm_partition": "h100"}, "invalid partition"),
        ({"runtime": 5 * 24 * 60}, "Requested time limit is invalid"),
    ],
    ids=[
        "more GPUs than a node has",
        "more memory than a node has",
        "no such partition",
        "more time than a partition allows",
    ],
)
def test_a_request_that_no_node_can_fulfil_fails_at_once(cluster, fresh, profile, change, says):
    training = {**profile["set-resources"]["train_retriever"], **change}
    write_site(fresh, retries=0, **{"set-resources": {"train_retriever": training}})
    began = time.monotonic()
    done = run(fresh, *submitting(TRAINED), more=cluster.environment)
    assert done.returncode == 1, done.stdout[-4000:]
    assert says in done.stdout and "train_retriever" in done.stdout
    assert "Traceback" not in done.stdout
    assert cluster.queued(run_name(done.stdout)) == []
    assert time.monotonic() - began < 60


def test_an_unknown_account_is_told_with_those_that_are_known(cluster, fresh):
    write_site(fresh, retries=0, **{"default-resources": {"slurm_account": "nobody"}})
    told = run(fresh, *submitting(TRAINED), more=cluster.environment)
    assert told.returncode == 1, told.stdout[-4000:]
    assert "account nobody appears to be invalid" in told.stdout and "posbias" in told.stdout
