"""The cost sheet: closed-form numbers, sums, a shared corpus paid for once, gaps named."""

import copy
import subprocess
import sys

import pytest
import yaml
from snakemake.utils import update_config

import plan as script
from posbias.errors import ConfigError
from posbias.report import analysis_costs, cost_sheet
from posbias.report.cost_sheet import Cost, Plan


@pytest.fixture(scope="module")
def paper(root):
    return script.read_configs([root / "config.yaml", root / "config/paper.yaml"])


@pytest.fixture(scope="module")
def assumed(root):
    return yaml.safe_load((root / "config/plan.yaml").read_text("utf-8"))


def plan_of(config, assumed, retrievers=("bert_base",), benchmarks=("squad_posq",)):
    return Plan(config, list(retrievers), list(benchmarks), assumed)


def test_an_hour_of_a_gpu_is_what_it_computes_in_an_hour(paper, assumed):
    plan = plan_of(paper, assumed)
    assert plan.hours(assumed["gpu_tflops"] * 1e12 * 3600) == pytest.approx(1)


def test_training_is_eight_operations_a_parameter_and_token(paper, assumed):
    (cost,) = cost_sheet.training(plan_of(paper, assumed))
    # BERT sees 512 tokens of a document at most; the bins' means are 384, 768, … 6144 characters.
    tokens = [min(chars / 4.3, 512) + 20 for chars in (384, 768, 1536, 3072, 6144)]
    operations = 8 * 110e6 * sum(tokens) * 8189 * 3 * 4
    assert cost.jobs == 4 and cost.gpu_hours == pytest.approx(operations / 94e12 / 3600)
    assert cost.disk_gb == pytest.approx(4 * 4 * 0.11)


def test_an_api_costs_what_it_reads_and_writes(paper, assumed):
    free, paid = (
        cost_sheet.queries(plan_of(paper, assumed), price, None)[-1].dollars
        for price in (None, {"input": 0.15, "output": 0.6})
    )
    documents, calls = 5 * 196534, assumed["calls"]
    written = documents * (calls["first"]["answer"] + 3 * calls["second"]["answer"])
    assert free == 0 and paid > written * 0.6 / 1e6
    doubled = cost_sheet.queries(plan_of(paper, assumed), {"input": 0.3, "output": 1.2}, None)
    assert doubled[-1].dollars == pytest.approx(2 * paid)


def test_without_the_cascade_every_member_sees_everything(paper, assumed):
    config = copy.deepcopy(paper)
    config["verification"]["cascade"] = False
    full = cost_sheet.verification(plan_of(config, assumed)).gpu_hours
    spared = cost_sheet.verification(plan_of(paper, assumed)).gpu_hours
    sizes = [assumed["parameters"][f"{name}_reranker"] for name in ("jina", "gte", "bge")]
    share = (sizes[0] + assumed["passed_on"] * sum(sizes[1:])) / sum(sizes)
    assert spared == pytest.approx(share * full)


def test_a_shared_corpus_is_paid_for_once(paper, assumed):
    names = ["fever", "climate_fever"]
    targets = script.sheet(plan_of(paper, assumed, benchmarks=["squad_posq", *names]))
    first, second = (targets[name][-1] for name in names)
    assert second.gpu_hours < first.gpu_hours / 1000 and second.jobs == 1 and first.jobs == 33


def test_the_sum_is_the_sum(paper, assumed):
    costs = [Cost("a", 1, 2.0, 3.0, 4.0), Cost("b", 10, 20.0, 30.0, 40.0)]
    assert cost_sheet.total("both", costs) == Cost("both", 11, 22.0, 33.0, 44.0)
    plan = plan_of(paper, assumed, paper["retrievers"]["selected"], paper["benchmarks"]["selected"])
    targets = script.sheet(plan)
    everything = cost_sheet.total("all of it", [c for costs in targets.values() for c in costs])
    assert f"{everything.gpu_hours:,.1f}" in script.printed(targets).splitlines()[-1]
    # 32 trainings, each once
    assert sum(c.jobs for c in targets[script.MAIN_TARGET] if "training" in c.station) == 32


def test_other_ways_of_pooling_are_trained_and_searched_as_their_retriever_is(paper, assumed):
    name, shown = paper["analyses"]["pooling"]["retriever"], paper["figures"]["position_curves"]
    plan = plan_of(paper, assumed, [name], shown)
    one = [*cost_sheet.training(plan), *(cost_sheet.search(plan, b, [name]) for b in shown)]
    cost = analysis_costs.pooling(plan_of(paper, assumed, ["bert_base"], shown))
    assert cost.jobs == 3 * sum(c.jobs for c in one) == 3 * (4 + 2 + 2)
    assert cost.gpu_hours == pytest.approx(3 * sum(c.gpu_hours for c in one))


def test_a_document_and_its_segments_are_read_untrained_and_under_four_settings(paper, assumed):
    cost = analysis_costs.segments(plan_of(paper, assumed))
    tokens = 2 * 10000 * 735 / 4.3
    assert cost.gpu_hours == pytest.approx(5 * 2 * 110e6 * tokens / 94e12 / 3600)
    moved = analysis_costs.moved_evidence(plan_of(paper, assumed))
    assert moved.gpu_hours == pytest.approx(4 * 2 * 110e6 * 1130 * 10 * 512 / 94e12 / 3600)


def test_a_judge_is_asked_of_three_segments_of_every_stratum(paper, assumed):
    plan = plan_of(paper, assumed)
    price = {"input": 1.0, "output": 10.0}
    segment = (384 + 768 + 1536 + 3072 + 6144) / 5 / 3
    expected = 15000 * (180 + segment / 4.3 + 20 + 10 * 45) / 1e6
    assert analysis_costs.audit(plan, price).dollars == pytest.approx(expected)
    assert analysis_costs.audit(plan, None).dollars == 0


def test_a_mirrored_benchmark_fetches_nothing(paper, assumed):
    targets = script.sheet(plan_of(paper, assumed, ["qwen3_06b"], ["squad_posq", "posir_reversed"]))
    assert targets["posir_reversed"][0].jobs == 0 and targets["posir_reversed"][1].jobs > 0


def test_a_model_of_which_nothing_is_assumed_is_named(paper, assumed):
    less = {**assumed, "parameters": {}}
    with pytest.raises(ConfigError, match=r"plan.yaml, parameters: nothing .* 'bert_base'"):
        cost_sheet.training(plan_of(paper, less))


def test_downloads_are_complete(paper, assumed):
    assert set(paper["downloads"]) == set(assumed["download_gb"])


def test_the_mini_scale_has_a_sheet_too(root, assumed):
    config = script.read_configs([root / "config.yaml"])
    plan = plan_of(config, assumed, config["retrievers"]["known"], ["wiki_heldout"])
    everything = [c for costs in script.sheet(plan).values() for c in costs]
    assert sum(c.dollars + c.gpu_hours for c in everything) < 0.01
    assert sum(c.jobs for c in everything if "training" in c.station) == 32


def test_the_command_names_a_file_that_is_missing(root):
    command = [sys.executable, "workflow/scripts/plan.py", "--configs", "[config.yaml, no.yaml]"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 1 and "no.yaml: not a readable configuration" in done.stderr


@pytest.mark.parametrize("text", ["a: [", "- a", "3"])
def test_what_is_no_configuration_is_named(tmp_path, text):
    (tmp_path / "bad.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bad\.yaml: (not a readable|expected keys)"):
        script.read_configs([tmp_path / "bad.yaml"])


def test_overlays_are_merged_as_the_workflow_does(root):
    merged = yaml.safe_load((root / "config.yaml").read_text("utf-8"))
    update_config(merged, yaml.safe_load((root / "config/paper.yaml").read_text("utf-8")))
    assert script.read_configs([root / "config.yaml", root / "config/paper.yaml"]) == merged
