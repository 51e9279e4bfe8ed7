"""What a user sees when something is wrong: one clear message, no traceback, nothing half-made."""

import json
import re
import shutil
from pathlib import Path

import pytest
from runs import (
    RESULTS,
    fail,
    hashes,
    namespace,
    run,
    snakemake,
    succeed,
    write_overlay,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

CORPUS = f"{RESULTS}/corpus/documents.jsonl"
# Puts the results on a small disk of their own; what a run leaves on it is in the folder left.
SMALL_DISK = """
mv results kept && mkdir results
mount -t tmpfs -o size="$1" tmpfs results && cp -a kept/. results
shift
"$@"
code=$?
cp -a results left
exit $code
"""


def log_of(copy, name: str) -> str:
    """Return a rule's own log, which must not hold a traceback."""
    text = (copy / "logs/shrunken" / name).read_text("utf-8")
    assert "Traceback" not in text and "error: " in text, text
    return text


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("training: {epoch: 3}", ["epoch"]),
        ("verificaton: {delta: 0.2}", ["verificaton"]),
        ("training: {batch_size: many}", ["many", "integer"]),
        ("retrievers: {selected: [brt]}", ["'brt'", "Did you mean 'bert'?"]),
        ("documents: {bin_edges: [288, 240, 192]}", ["documents.bin_edges", "rise"]),
        ("listwise: {main_stage: minilm}", ["listwise.main_stage", "Did you mean 'minilm_l"]),
        ("listwise: {stride: 6}", ["listwise.stride", "exceeds the window of 5"]),
        ("listwise: {models: {first: {ips: true}}}", ["listwise.roles.baseline", "'first'"]),
    ],
    ids=[
        "unknown key", "unknown block", "wrong type", "unknown retriever", "falling edges",
        "unknown first stage", "wide stride", "baseline with IPS",
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_named_before_anything_runs(fresh, change, named):
    output = fail(fresh, *snakemake("-n", overlays=(write_overlay(fresh, change),)))
    assert [text for text in named if text not in output] == []


def test_a_bin_without_documents_is_named(fresh):
    change = "documents: {bin_edges: [192, 240, 900000, 1000000]}"
    fail(fresh, *snakemake(CORPUS, overlays=(write_overlay(fresh, change),)))
    log = log_of(fresh, "build_corpus.log")
    assert "bin 900000-1000000 is empty" in log and "documents.bin_edges" in log
    assert not (fresh / CORPUS).exists()


@pytest.mark.parametrize(
    ("asset", "target", "log"),
    [
        ("wikipedia", CORPUS, "build_corpus.log"),
        ("minilm_l6", f"{RESULTS}/encoders/minilm_l6", "prepare_encoders.log"),
    ],
)
def test_a_corrupted_asset_is_named_with_its_remedy(fresh, config, asset, target, log):
    change = f"assets: {{{asset}: {{sha256: {'ab' * 32}}}}}"
    output = fail(fresh, *snakemake(target, overlays=(write_overlay(fresh, change),)))
    for text in (output, log_of(fresh, log)):
        assert config["assets"][asset]["file"] in text and "corrupted" in text
        assert "make reinstall" in text
    assert not (fresh / target).exists()


def test_a_family_that_does_not_exist_is_named(finished):
    change = "retrievers: {known: {bert: {family: brt}}}"
    target = f"{RESULTS}/models/bert/begin"
    fail(finished, *snakemake(target, overlays=(write_overlay(finished, change),)))
    log = log_of(finished, "train_retriever/bert-begin.log")
    assert "'brt' does not exist in the transformers library" in log
    assert not (finished / target).exists()


def test_a_cell_that_is_too_small_is_named(finished):
    change = "balance: {least: 100000}"
    target = f"{RESULTS}/balance/budget.json"
    fail(finished, *snakemake(target, overlays=(write_overlay(finished, change),)))
    log = log_of(finished, "balance_settings.log")
    assert re.search(r"bin \d+-\d+, position (begin|middle|end): \d+ verified queries", log)
    assert "100000 are needed" in log
    assert not (finished / target).exists()


def test_propensities_that_count_no_whole_lists_are_named(finished):
    file = f"{RESULTS}/listwise/propensity/42.json"
    record = json.loads((finished / file).read_text("utf-8"))
    record["counts"][0][0] += 1
    (finished / file).write_text(json.dumps(record), encoding="utf-8")
    target = f"{RESULTS}/listwise/models/noaug_ips/42"
    fail(finished, *snakemake(target))
    log = log_of(finished, "train_reranker/noaug_ips-42.log")
    assert f"{file}: propensity matrix: slot 1 was counted" in log
    assert "delete the file and estimate the propensities again" in log
    assert not (finished / target).exists()


def test_training_lists_that_were_changed_are_named(finished):
    lists = finished / RESULTS / "listwise/training/lists.jsonl"
    lines = lists.read_text("utf-8").splitlines(keepends=True)
    lists.write_text(lines[0] + lines[1][:-20] + "\n", encoding="utf-8")
    target = f"{RESULTS}/listwise/models/first/42"
    fail(finished, *snakemake(target))
    assert f"{RESULTS}/listwise/training/lists.jsonl, line 2" in log_of(
        finished, "augment_lists.log"
    )


def fail_on_small_disk(
    copy: Path, spare: int, target: str, free_disk_gb: float
) -> tuple[str, set[str]]:
    """Make a target with `spare` bytes of disk left; return the output and the new files."""
    (copy / "results").mkdir(exist_ok=True)
    before = namespace("--mount")
    mount = ("mount", "-t", "tmpfs", "tmpfs", "results")
    if not before or run(copy, *before, *mount).returncode:
        pytest.skip("no mount is permitted here")
    old = set(hashes(copy, "results"))
    pages = sum(-((copy / name).stat().st_size // -4096) + 2 for name in old)
    command = snakemake(
        target, overlays=(write_overlay(copy, f"free_disk_gb: {free_disk_gb}"),), cores=1
    )
    size = str(pages * 4096 + spare)
    output = fail(copy, *before, "sh", "-c", SMALL_DISK, "sh", size, *command)
    shutil.rmtree(copy / "kept")
    (copy / "results").rmdir()  # the small disk was mounted on it
    (copy / "left").rename(copy / "results")
    return output, set(hashes(copy, "results")) - old


def test_a_nearly_full_disk_stops_a_run_before_it_starts(fresh):
    output, left = fail_on_small_disk(fresh, 2**20, CORPUS, free_disk_gb=0.5)
    assert "0.0 GB free on this disk and 0.0 GB made so far" in output
    assert "needs 0.5 GB" in output and "free_disk_gb" in output
    assert left == set() and not (fresh / "logs/shrunken/build_corpus.log").exists()


@pytest.mark.parametrize(
    ("spare", "target", "log"),
    [
        (2**15, CORPUS, "build_corpus.log"),
        (20 * 2**20, f"{RESULTS}/encoders/minilm_l6", "prepare_encoders.log"),
    ],
    ids=["documents", "weights"],
)
def test_a_disk_that_fills_up_is_named_and_nothing_half_written_stays(fresh, spare, target, log):
    output, left = fail_on_small_disk(fresh, spare, target, free_disk_gb=0)
    for text in (output, log_of(fresh, log)):
        assert f"{target}: no space left on the disk" in text and "Free some space" in text
    assert left == set()


def test_a_disk_that_fills_up_in_a_training_state_costs_nothing_but_time(reference, finished):
    """The first state, of 5 MB, is cut off in the middle; with space, the run is made good."""
    target = f"{RESULTS}/models/bert/begin"
    shutil.rmtree(finished / target)
    output, left = fail_on_small_disk(finished, 3 * 2**20, target, free_disk_gb=0)
    for text in (output, log_of(finished, "train_retriever/bert-begin.log")):
        assert "no space left on the disk" in text and "Free some space" in text
    states = [name for name in left if re.search(r"/resume/bert-begin/.*/checkpoint-", name)]
    assert states != []
    assert {Path(name).name for name in left - set(states)} <= {"origin.json", "progress.jsonl"}
    succeed(finished, *snakemake(target))
    assert hashes(finished, target) == hashes(reference, target) != {}
