"""The record of a run: costs from Snakemake's benchmark files, machine, seeds, revisions."""

import json
import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gather_provenance
from job_files import HEADER, benchmarks, job
from posbias.errors import DataError
from posbias.report.job_costs import job_costs, read_jobs, summed
from posbias.report.machine import (
    ABSENT,
    FAILED,
    cpu_model,
    gpus,
    machine,
    packages,
    pinned,
    system_text,
    versions_of,
)
from posbias.report.run_provenance import (
    fetched,
    intervals_of,
    run_record,
    seeds_of_config,
    sizes_of_config,
)
from release_files import ROOT, STAMP

CONFIG = {
    "studies": ["retriever"],
    "seed": 42,
    "assets": {},
    "downloads": {
        "here": {"repo": "a/here", "type": "model", "revision": "c" * 40, "licence": "MIT"},
        "absent": {"repo": "a/absent", "type": "dataset", "revision": None, "licence": None},
    },
    "documents": {"max_per_bin": {"train": 500}, "bin_edges": [1, 2], "min_words": 3},
    "training": {"epochs": 2, "loss": "plain", "gradient_checkpointing": False},
    "listwise": {"seeds": [42, 43], "training": {"epochs": 3}},
}


RULES = ["train", "evaluate", "deep", "never_ended"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return benchmarks(
        tmp_path_factory.mktemp("benchmarks"),
        {
            "train/bert-begin.tsv": [job(10, "200", "9")],
            "train/bert-end.tsv": [job(30, "100", "25.5")],
            "evaluate.tsv": [job(2, "50", "NA"), job(4, "-", "3")],
            "deep/a/b.tsv": [job(0.25, "NA", "NA")],
            "never_ended.tsv": [],
        },
    )


def test_costs_by_rule_are_sums_and_maxima(folder):
    costs = job_costs(folder, RULES)
    assert costs["left_out"] == {"files": 0, "names": []}
    by_rule = {one.pop("rule"): one for one in costs["stations"]}
    assert list(by_rule) == ["deep", "evaluate", "never_ended", "train"]
    assert by_rule["train"] == {
        "jobs": 2, "seconds": 40.0, "longest_seconds": 30.0, "cpu_seconds": 34.5,
        "max_rss_mb": 200.0, "jobs_without_cpu_time": 0, "jobs_without_memory": 0,
    }  # fmt: skip
    assert by_rule["evaluate"] == {
        "jobs": 2, "seconds": 6.0, "longest_seconds": 4.0, "cpu_seconds": 3.0,
        "max_rss_mb": 50.0, "jobs_without_cpu_time": 1, "jobs_without_memory": 1,
    }  # fmt: skip
    # What no job knows is not nothing.
    assert (by_rule["deep"]["cpu_seconds"], by_rule["deep"]["max_rss_mb"]) == (None, None)
    assert (by_rule["never_ended"]["jobs"], by_rule["never_ended"]["seconds"]) == (0, None)
    assert (costs["total"]["jobs"], costs["total"]["seconds"]) == (5, 46.25)


def test_files_of_rules_that_the_run_does_not_have_are_counted_not_summed(folder, tmp_path):
    assert job_costs(folder, ["train"])["total"]["seconds"] == 40
    left = benchmarks(tmp_path, {"train.tsv": [job(1)], "trained.tsv": [job(9)],
                                 "old/a.tsv": [job(9)], "old/b.tsv": []})  # fmt: skip
    (left / "old" / "c.tsv").write_text("not written by Snakemake")
    costs = job_costs(left, ["train"])
    assert costs["left_out"] == {"files": 4, "names": ["old", "trained"]}
    assert [one["rule"] for one in costs["stations"]] == ["train"]
    assert costs["total"]["seconds"] == 1


def test_without_benchmark_files_nothing_is_known(tmp_path):
    costs = job_costs(tmp_path / "none", RULES)
    assert costs["stations"] == []
    assert costs["total"]["jobs"] == 0
    assert costs["total"]["seconds"] is costs["total"]["max_rss_mb"] is None


NUMBER = st.none() | st.floats(0, 1e6)
JOBS = st.lists(st.fixed_dictionaries({"s": NUMBER, "cpu_time": NUMBER, "max_rss": NUMBER}))


@given(JOBS, st.integers(0, 5))
def test_the_costs_of_parts_make_up_the_whole(jobs, cut):
    whole, parts = summed(jobs), [summed(jobs[:cut]), summed(jobs[cut:])]
    for name in ("jobs", "jobs_without_cpu_time", "jobs_without_memory"):
        assert whole[name] == sum(part[name] for part in parts)
    for name in ("seconds", "cpu_seconds"):
        known = [part[name] for part in parts if part[name] is not None]
        assert (whole[name] is None) == (not known)
        if known:
            assert math.isclose(whole[name], sum(known), rel_tol=1e-12)
    known = [part["max_rss_mb"] for part in parts if part["max_rss_mb"] is not None]
    assert whole["max_rss_mb"] == max(known, default=None)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (HEADER + job("soon"), "column 's': 'soon' is no amount"),
        (HEADER + job(-1), "column 's': '-1' is no amount"),
        (HEADER + job(1, "inf"), "column 'max_rss': 'inf' is no amount"),
        ("a\tb\n1\t2\n", "without a column 's'"),
        (b"\xff\xfe\x00", "no table"),
    ],
)
def test_a_file_that_snakemake_did_not_write_is_named(tmp_path, text, match):
    path = tmp_path / "rule.tsv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if isinstance(text, bytes):
        path.write_bytes(b"s\tmax_rss\n" + text)
    with pytest.raises(DataError, match=rf"rule\.tsv.*{match}"):
        read_jobs(path)


def test_every_pin_of_the_lock_is_read():
    lock = ROOT / "envs" / "lock.txt"
    lines = lock.read_text().splitlines()
    assert len(pinned(lock)) == sum("==" in line and not line.startswith("#") for line in lines)


def test_versions_are_those_installed(tmp_path):
    lock = tmp_path / "lock.txt"
    lock.write_text(
        "# a comment==1\npytest==0.0.1  # old\nhas-marker==1.0 ; python_version < '4'\n"
    )
    found = {one["name"]: one for one in packages(lock, ("torch",))}
    assert found["pytest"] == {"name": "pytest", "pinned": "0.0.1", "installed": pytest.__version__}
    assert found["has-marker"] == {"name": "has-marker", "pinned": "1.0", "installed": None}
    assert found["torch"]["pinned"] is None


def nvidia(folder, monkeypatch, script):
    (folder / "nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    found, how = gpus()
    assert how
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for the program")
def test_gpus_are_those_that_the_driver_tells(tmp_path, monkeypatch):
    told = nvidia(tmp_path, monkeypatch, "echo 'A100, 40 GiB, 550.1'; echo 'T4, 15 GiB, 550.1'")
    assert [gpu["name"] for gpu in told] == ["A100", "T4"]
    assert told[0] == {"name": "A100", "memory": "40 GiB", "driver": "550.1"}
    assert nvidia(tmp_path, monkeypatch, "exit 0") == []
    assert nvidia(tmp_path, monkeypatch, "echo No devices were found; exit 6") is None
    assert gpus() == (None, FAILED)
    (tmp_path / "nvidia-smi").unlink()
    assert gpus() == ([], ABSENT)


def test_the_processor_is_named(tmp_path):
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: A Processor @ 2 GHz\n")
    assert cpu_model(tmp_path / "cpuinfo") == "A Processor @ 2 GHz"


@pytest.mark.parametrize(
    ("release", "told"),
    [("5.15.0-89-generic", "Linux 5.15.0"), ("6.8", "Linux 6.8"), ("odd", "Linux"),
     ("4.18.0-477.10.1.el8_8.x86_64", "Linux 4.18.0")],
)  # fmt: skip
def test_the_kernel_is_told_without_what_its_builder_calls_it(monkeypatch, release, told):
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.release", lambda: release)
    assert system_text() == machine()["system"] == told


def test_versions_of_packages_are_the_installed_ones_or_those_of_the_lock(tmp_path):
    lock = tmp_path / "lock.txt"
    lock.write_text("pytest==0.0.1\nOnly_In.Lock==3.1\n")
    found = versions_of(["pytest", "only-in-lock", "no-such-package"], lock)
    assert found == {"pytest": pytest.__version__, "only-in-lock": "3.1"}


def test_nothing_names_the_machine_or_its_user(monkeypatch):
    monkeypatch.setattr("platform.node", lambda: "a-host-name")
    monkeypatch.setenv("USER", "a-user-name")
    text = json.dumps(machine())
    assert "a-host-name" not in text and "a-user-name" not in text
    assert machine()["cores"] >= machine()["usable_cores"] >= 1


def test_seeds_and_sizes_are_those_of_the_studies_that_run():
    both = {**CONFIG, "studies": ["retriever", "listwise"]}
    assert seeds_of_config(CONFIG) == {"seed": 42}
    assert seeds_of_config(both) == {
        "seed": 42, "listwise.seeds[0]": 42, "listwise.seeds[1]": 43
    }  # fmt: skip
    assert sizes_of_config(CONFIG) == {"documents.max_per_bin.train": 500, "training.epochs": 2}
    assert sizes_of_config(both)["listwise.training.epochs"] == 3


def test_sizes_of_analyses_are_recorded_and_names_of_the_same_key_are_not():
    analyses = {"moving": {"positions": 10}, "zones": {"segments": 5, "at_each_end": 2}}
    config = {**CONFIG, "analyses": analyses, "retrievers": {"bert": {"positions": "rope"}}}
    assert sizes_of_config(config).items() - sizes_of_config(CONFIG).items() == {
        ("analyses.moving.positions", 10), ("analyses.zones.segments", 5),
        ("analyses.zones.at_each_end", 2),
    }  # fmt: skip


def test_intervals_are_counted_by_kind(tmp_path):
    one = {"kind": "bootstrap over queries", "resamples": 10, "level": 0.95}
    for n, content in enumerate(
        [
            {"interval": one},
            {"interval": dict(reversed(one.items()))},
            {},
            {"interval": None},
            [],
            {"interval": {**one, "level": 0.9}},
        ]
    ):
        (tmp_path / f"{n}.json").write_text(json.dumps(content))  # fmt: skip
    (tmp_path / "a.csv").write_text("no,json")
    found = intervals_of(sorted(tmp_path.iterdir()))
    assert found == [
        {"interval": {**one, "level": 0.9}, "files": 1},
        {"interval": one, "files": 2},
        {"interval": None, "files": 3},
    ]


def download(folder, **changed):
    manifest = {
        "name": "here", "repo": "a/here", "type": "model", "revision": "d" * 40,
        "licence": "apache-2.0", "files": [{}, {}], "total_bytes": 7,
    }  # fmt: skip
    (folder / "here").mkdir(parents=True)
    (folder / "here" / "manifest.json").write_text(json.dumps({**manifest, **changed}))
    return folder


def test_the_script_records_a_whole_run(folder, tmp_path):
    measured = tmp_path / "measures.json"
    measured.write_text('{"interval": {"kind": "k", "resamples": 5, "level": 0.95}}')
    record = tmp_path / "provenance.json"
    gather_provenance.main(
        [measured], ROOT / "envs" / "lock.txt", record, str(folder),
        str(download(tmp_path / "downloads")), CONFIG, STAMP, ["here"], RULES,
    )  # fmt: skip
    found = json.loads(record.read_text())
    assert {name: found[name] for name in STAMP} == STAMP
    assert found["config"] == CONFIG
    assert found["total"]["seconds"] == 46.25
    here, absent = found["downloads"]
    assert (here["fetched"], here["revision"], here["files"], here["bytes"]) == (
        True, "d" * 40, 2, 7
    )  # fmt: skip
    assert (absent["fetched"], absent["revision"], absent["bytes"]) == (False, None, None)
    assert [row["used"] for row in found["licences"]] == [True, False]
    assert found["licences"][0]["licence"] == "MIT"


def test_a_broken_manifest_of_a_download_is_named(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "manifest.json").write_text("{}")
    with pytest.raises(DataError, match=r"here/manifest\.json: without name"):
        fetched(CONFIG, tmp_path)


def test_a_record_of_a_run_without_anything_is_still_one(tmp_path):
    config = {"assets": {}, "downloads": {}}
    lock = tmp_path / "lock.txt"
    lock.write_text("")
    record = run_record([], config, STAMP, [], lock, tmp_path / "none", tmp_path / "none", [])
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    empty = ("stations", "seeds", "sizes", "intervals", "downloads", "licences")
    assert not any(record[name] for name in empty)
