"""What every job of the paper scale would ask a cluster for, from a dry run of both profiles."""

import json
import math
import sys
from collections import Counter

import pytest
from runs import copy_checkout, succeed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

CPU, GPU = ("cpu", None), ("a100", "gpu:a100:1")
# Partition and GPUs, CPUs, gigabytes, hours of a first attempt; all else are tables and figures.
ASKED = {
    "audit_queries": (CPU, 8, 32, 4),  # an API is asked
    "balance_settings": (CPU, 1, 16, 1),
    "build_benchmark": (CPU, 1, 32, 4),
    "build_corpus": (CPU, 1, 24, 12),
    "choose_personas": (GPU, 8, 48, 12),
    "describe_retriever": (CPU, 4, 8, 1 / 3),
    "evaluate_retriever": (CPU, 4, 24, 3),
    "filter_candidates": (CPU, 1, 16, 2),
    "generate_queries": (CPU, 8, 32, 48),  # an API is asked
    "join_corpora": (CPU, 1, 32, 4),
    "locate_evidence": (CPU, 1, 32, 4),
    "make_evidence_pairs": (CPU, 1, 32, 8),
    "measure_evidence_moving": (GPU, 8, 24, 2),
    "measure_segments": (GPU, 8, 24, 2),
    "measure_truncation": (CPU, 1, 16, 2),
    "score_candidates": (GPU, 8, 32, 3),
    "search_corpus": (GPU, 8, 48, 3),
    "train_retriever": (GPU, 8, 48, 12),
}
TABLE = (CPU, 1, 2, 1 / 3)
# On the machine that starts the run: it reaches the hub and the API, nodes often do not.
LOCAL = {"fetch_artefact", "generate_queries", "audit_queries"}
GROUPS = {"evaluate_retriever": 8, "describe_retriever": 12}  # jobs a submission
TABLES_OF_A_GROUP = 12
FOUR = "train_reranker estimate_propensity evaluate_slots evaluate_orders evaluate_permutations"


def asked(copy, *arguments: str) -> list[dict]:
    """Return what each job of a dry run asks for."""
    command = (sys.executable, "tests/slurm/asked.py", "asked.json", *arguments)
    succeed(copy, *command)
    return json.loads((copy / "asked.json").read_text("utf-8"))


def request(job: dict) -> tuple:
    """Return partition and GPUs, CPUs, gigabytes, hours."""
    place = (job["partition"], job["gres"])
    return place, job["cpus"], job["memory"] / 1000, job["time"] / 60


@pytest.fixture(scope="module")
def copy(root, tmp_path_factory):
    """The checkout, in which dry runs leave their traces."""
    return copy_checkout(root, tmp_path_factory.mktemp("requests") / "checkout")


@pytest.fixture(scope="module")
def paper(copy) -> list[dict]:
    """The jobs of the retriever study at paper scale, but for the target itself."""
    profiles = ("--profile", "profiles/slurm-a100", "--profile", "profiles/paper")
    jobs = asked(copy, "retriever_study", *profiles)
    return [job for job in jobs if job["rule"] != "retriever_study"]


def test_each_rule_asks_for_what_it_needs(paper):
    found = {(job["rule"], request(job)) for job in paper if job["rule"] != "fetch_artefact"}
    references = {what for rule, what in found if rule == "evaluate_reference"}
    assert references == {(GPU, 8, 48, 4), (CPU, 8, 48, 4)}  # an encoder, BM25
    found = {(rule, what) for rule, what in found if rule != "evaluate_reference"}
    assert {rule: what for rule, what in found if what != TABLE} == ASKED
    assert len(found) == len({rule for rule, _ in found})
    drawn = {rule for rule, what in found if what == TABLE}
    assert drawn and all(rule.startswith(("make_", "compare_")) for rule in drawn)


def test_what_needs_a_network_stays_where_the_network_is(paper):
    assert {job["rule"] for job in paper if job["local"]} == LOCAL


def test_no_gpu_job_waits_for_the_limit_of_one_machine(paper):
    assert {job["accelerators"] for job in paper} == {0}


def test_short_jobs_share_submissions_and_the_page_tells_how_many(paper, root):
    submitted = [job for job in paper if not job["local"]]
    grouped = [job for job in submitted if job["group"] is not None]
    submissions = len(submitted) - len(grouped) + len({job["group"] for job in grouped})
    tables = [job for job in grouped if job["rule"] not in GROUPS]
    assert {request(job) for job in tables} == {TABLE}
    expected = {rule: sum(job["rule"] == rule for job in paper) for rule in GROUPS}
    expected = {rule: math.ceil(number / GROUPS[rule]) for rule, number in expected.items()}
    for rule, number in expected.items():
        assert len({job["group"] for job in grouped if job["rule"] == rule}) == number, rule
    assert len({job["group"] for job in tables}) == math.ceil(len(tables) / TABLES_OF_A_GROUP)
    alone = {job["rule"] for job in submitted if job["group"] is None}
    assert alone & GROUPS.keys() == set()
    assert {rule for rule in alone if rule not in ASKED} == {
        "compare_with_paper",  # reads all tables
        "evaluate_reference",
    }
    page = " ".join((root / "docs/cluster.md").read_text("utf-8").split())
    counts = Counter(job["rule"] for job in submitted)
    rest = submissions - sum(counts[rule] for rule in ("search_corpus", "score_candidates",
                                                       "train_retriever")) - 10  # fmt: skip
    for said in (
        f"has {len(submitted)} jobs for the cluster",
        f"Grouped they are {submissions} submissions",
        f"{len(grouped)} evaluations, descriptions, tables and figures",
        f"{counts['search_corpus']} searches, {counts['score_candidates']} scorings, "
        f"{counts['train_retriever']} trainings and {rest} others",
    ):
        assert said in page, said
    readme = (root / "README.md").read_text("utf-8")
    assert f"({len(submitted)} jobs become {submissions} submissions)" in readme


def test_the_listwise_study_gets_four_gpus(copy):
    jobs = asked(copy, "all", "--profile", "profiles/slurm-a100")
    four = {job["rule"]: request(job) for job in jobs if job["rule"] in FOUR.split()}
    assert set(four) == set(FOUR.split())
    assert {what[:2] for what in four.values()} == {(("a100", "gpu:a100:4"), 16)}
    assert four.pop("train_reranker")[2:] == (240, 24)
    assert {what[2:] for what in four.values()} == {(120, 24)}


def test_the_small_scales_need_no_gpu_and_every_rule_grows(copy):
    jobs = asked(copy, "all", "--profile", "profiles/slurm")
    assert {(job["partition"], job["gres"]) for job in jobs} == {CPU}
    grouped = [job for job in jobs if job["group"] is not None]
    assert len(jobs) - len(grouped) + len({job["group"] for job in grouped}) < 0.85 * len(jobs)
    assert {job["memory"] for job in jobs if job["rule"] == "train_retriever"} == {6000}
