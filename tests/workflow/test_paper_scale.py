"""The paper scale, as far as it can be looked at without network, GPU and money."""

import pytest
from runs import fail, jobs, run, succeed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PROFILE = ("--profile", "profiles/paper")
SMALL = ("--cores", "1", "--config", "free_disk_gb=0")


def dry(copy, *targets: str) -> dict[str, int]:
    """Return the jobs of a dry run at the paper scale."""
    return jobs(succeed(copy, "snakemake", "-n", *targets, *PROFILE))


def test_the_whole_table_is_planned_without_a_network(fresh):
    planned = dry(fresh, "figures/psi_table.pdf")
    assert planned["train_retriever"] == 8 * 4
    assert planned["search_corpus"] == planned["evaluate_retriever"] == 8
    assert planned["measure_truncation"] == 8
    # Eight checkpoints, three rerankers and the code of one, personas and their encoder, articles,
    # questions.
    assert planned["fetch_artefact"] == 8 + 4 + 2 + 1 + 1
    assert planned["score_candidates"] == 64 and planned["choose_personas"] == 1


def test_the_other_benchmarks_are_for_those_who_read_that_far(fresh):
    planned = dry(fresh, "figures/fineweb_posq/psi_table.pdf", "figures/posir/psi_table.pdf")
    assert planned["train_retriever"] == 3 * 4
    assert planned["evaluate_retriever"] == 2 * 3 and planned["search_corpus"] == 3 * (1 + 4)


def test_fever_and_climate_fever_are_encoded_once(fresh):
    files = [
        f"results/paper/evaluation/{name}/bert_base/{setting}/measures.json"
        for name in ("fever", "climate_fever")
        for setting in ("begin", "uniform")
    ]
    planned = dry(fresh, *files)
    assert planned["join_corpora"] == 1 and planned["search_corpus"] == 32
    assert planned["evaluate_retriever"] == 2 and planned["build_benchmark"] == 2


def test_a_commit_that_is_not_known_stops_with_the_command_that_finds_it(fresh):
    told = fail(fresh, "snakemake", "downloads/fineweb_posq", *PROFILE, *SMALL)
    assert "fineweb_posq" in told and "pin_revisions.py" in told
    assert not (fresh / "downloads/fineweb_posq").exists()


def test_without_a_network_a_download_says_what_to_do(fresh):
    told = fail(fresh, "snakemake", "downloads/bert_base", *PROFILE, *SMALL)
    assert "google-bert/bert-base-uncased" in told and "offline" in told.lower()
    assert not (fresh / "downloads/bert_base").exists()


def test_the_cost_sheet_has_every_station(fresh):
    command = ("python", "workflow/scripts/plan.py", "--configs")
    told = run(fresh, *command, "[config.yaml, config/paper.yaml]").stdout
    for station in ("downloads", "queries", "verification", "training, qwen3_06b", "search, fever"):
        assert f"  {station} " in told
