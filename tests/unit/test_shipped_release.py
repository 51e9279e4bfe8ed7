"""The measures of our own mini run, which ship with the code, are of the configuration as it is."""

import hashlib

import pytest

from posbias.release.differences import differences
from posbias.release.unpack import published_sha256, read_manifest


@pytest.fixture(scope="module")
def archive(root, config):
    return root / config["release"]["archive"]


def test_it_is_whole(archive):
    assert published_sha256(archive) == hashlib.sha256(archive.read_bytes()).hexdigest()


def test_it_was_made_with_this_configuration(archive, config):
    """Else nobody could draw its figures; make it again with `make release`."""
    assert differences(read_manifest(archive).config, config, ["free_disk_gb"]) == []


def test_it_holds_the_measures_of_every_retriever_and_setting(archive, config):
    files = read_manifest(archive).unpacked()
    for retriever in config["retrievers"]["known"]:
        for setting in config["balance"]["settings"]:
            assert f"evaluation/wiki_heldout/{retriever}/{setting}/measures.json" in files
    assert "listwise/measures.json" in files and "provenance.json" in files
