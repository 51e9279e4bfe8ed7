"""Figures from the measures of a release: the same bytes, without any training, and no others."""

import json
import shutil
import tarfile

import pytest
from runs import (
    DATA_TABLES,
    LISTWISE_FIGURES,
    RESULTS,
    RETRIEVER_FIGURES,
    fail,
    hashes,
    jobs,
    lent_copy,
    snakemake,
    succeed,
    write_overlay,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

ARCHIVE = "released/shrunken.tar.xz"
RELEASED = (
    "--config", "metrics_from=released", f"release={{archive: {ARCHIVE}}}",
)  # fmt: skip
MEASURING = ("train_", "search_", "evaluate_", "measure_", "build_", "generate_", "score_")


@pytest.fixture(scope="module")
def release(reference, tmp_path_factory):
    """The folder of a release of the reference run: archive and checksum."""
    with lent_copy(reference, tmp_path_factory.mktemp("release") / "run") as copy:
        succeed(copy, *snakemake(ARCHIVE))
        return shutil.copytree(copy / "released", tmp_path_factory.mktemp("released") / "files")


@pytest.fixture
def received(fresh, release):
    """A copy of the checkout in which nothing ran, with the release beside it."""
    shutil.copytree(release, fresh / "released", dirs_exist_ok=True)
    return fresh


def test_every_figure_and_verdict_is_drawn_again_to_the_same_bytes(reference, received):
    told = succeed(received, *snakemake(*RELEASED))
    ran = jobs(told)
    assert [rule for rule in ran if rule.startswith(MEASURING)] == []
    assert ran["unpack_release"] == 1
    names = (*RETRIEVER_FIGURES, *LISTWISE_FIGURES)
    drawn, drawn_before = hashes(received, "figures"), hashes(reference, "figures")
    same = [name for name in drawn_before if not name.endswith(".meta.json")]
    assert {f"figures/{name}.pdf" for name in names} <= set(same)
    assert [name for name in same if drawn.get(name) != drawn_before[name]] == []
    for verdict in ("claims.json", "claims.txt", "claims.html", "verify.json"):
        ours = received / "results/released/shrunken" / verdict
        assert ours.read_bytes() == (reference / RESULTS / verdict).read_bytes()


def test_the_archive_holds_what_made_the_measures(release):
    with tarfile.open(release / "shrunken.tar.xz") as archive:
        names = archive.getnames()
        manifest = json.load(archive.extractfile("manifest.json"))
        crate = json.load(archive.extractfile("ro-crate-metadata.json"))
    assert set(manifest["files"]) == set(names) - {"manifest.json"}
    for name in ("config.yaml", "provenance.json", "lock.txt", "LICENSE", ".zenodo.json"):
        assert name in names
    described = {entry["@id"] for entry in crate["@graph"]}
    assert set(names) - {"ro-crate-metadata.json"} <= described


def test_another_configuration_is_refused_with_the_keys_that_differ(received):
    change = write_overlay(received, "training: {epochs: 3}\nevaluation: {level: 0.9}")
    told = fail(received, *snakemake("-n", *RELEASED, overlays=(change,)))
    assert "training.epochs" in told and "evaluation.level" in told


def test_a_damaged_archive_is_refused_and_nothing_is_unpacked(received):
    archive = received / ARCHIVE
    content = bytearray(archive.read_bytes())
    content[-2000] ^= 1
    archive.write_bytes(content)
    told = fail(received, *snakemake(f"figures/{DATA_TABLES[0]}.pdf", *RELEASED))
    assert "shrunken.tar.xz" in told and "sha-256" in told.lower()
    assert not list((received / "results/released").rglob("*.json"))


def test_a_missing_archive_is_named(fresh):
    assert ARCHIVE in fail(fresh, *snakemake("-n", *RELEASED))
