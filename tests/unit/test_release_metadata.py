"""The descriptions in a release: RO-Crate, deposit, README, from CITATION.cff and the run."""

import hashlib
import json
import re
import tarfile
from urllib.parse import unquote

import pytest
import yaml

from posbias.errors import ConfigError, DataError
from posbias.release.citation import read_citation
from posbias.release.own_paths import own_paths
from posbias.release.ro_crate import ro_crate
from posbias.release.zenodo import zenodo_metadata
from release_files import CONFIG, MEASURES, ROOT, STAMP, release

PEOPLE = {
    "title": "toy: an example",
    "version": "1.2",
    "license": "MIT",
    "doi": "10.5281/zenodo.1",
    "repository-code": "https://example.org/toy",
    "date-released": "2026-06-01",
    "authors": [
        {"given-names": "Ada", "name-particle": "von", "family-names": "Löwe",
         "orcid": "https://orcid.org/0000-0001-2345-6789", "affiliation": "A University"},
        {"name": "The group"},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    names = {**MEASURES, "evaluation/a b/ä%.json": b"{}"}
    archive = release(tmp_path_factory.mktemp("made"), names)
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar.getmembers()}


def citation(folder, **changed):
    path = folder / "CITATION.cff"
    path.write_text(yaml.safe_dump({**PEOPLE, **changed}))
    return read_citation(path)


def entities(text):
    graph = json.loads(text)["@graph"]
    by_id = {entity["@id"]: entity for entity in graph}
    assert len(by_id) == len(graph), "an id is there twice"
    return by_id


def references(value):
    """Yield every reference of a JSON-LD value to another entity."""
    if isinstance(value, list):
        for inner in value:
            yield from references(inner)
    elif isinstance(value, dict):
        if set(value) == {"@id"}:
            yield value["@id"]
        else:
            for key, inner in value.items():
                if key != "conformsTo":
                    yield from references(inner)


def test_the_crate_is_what_version_1_1_asks_for(made):
    found = entities(made["ro-crate-metadata.json"])
    descriptor, root = found["ro-crate-metadata.json"], found["./"]
    assert descriptor["@type"] == "CreativeWork"
    assert descriptor["about"] == {"@id": "./"}
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert root["@type"] == "Dataset"
    assert root["name"] and root["description"]
    assert found[root["license"]["@id"]]["name"] == "Apache-2.0"


def test_every_reference_of_the_crate_leads_somewhere(made):
    found = entities(made["ro-crate-metadata.json"])
    assert set(references(list(found.values()))) <= set(found)


def test_the_crate_describes_every_file_by_its_hash(made):
    found = entities(made["ro-crate-metadata.json"])
    files = {unquote(key): one for key, one in found.items() if one["@type"] == "File"}
    assert files.keys() == made.keys() - {"ro-crate-metadata.json"}
    assert "hasPart" not in files
    for name, one in files.items():
        if name != "manifest.json":  # whose hash would depend on the crate's own
            assert one["sha256"] == hashlib.sha256(made[name]).hexdigest()
            assert one["contentSize"] == str(len(made[name]))
    part_of = [*references(found["./"]["hasPart"]), *references(found["measures/"]["hasPart"])]
    assert sorted(map(unquote, part_of)) == sorted([*files, "measures/"])


def test_ids_of_files_are_written_as_in_addresses(made):
    found = entities(made["ro-crate-metadata.json"])
    assert found["measures/evaluation/a%20b/%C3%A4%25.json"]["encodingFormat"] == "application/json"


def test_no_date_is_made_up(tmp_path):
    dated = (ROOT / "CITATION.cff").read_text("utf-8")
    undated = re.sub(r"^date-released:.*\n", "", dated, flags=re.MULTILINE)
    assert undated != dated
    (tmp_path / "CITATION.cff").write_text(undated, encoding="utf-8")
    archive = release(tmp_path, citation=tmp_path / "CITATION.cff")
    with tarfile.open(archive) as tar:
        crate = entities(tar.extractfile("ro-crate-metadata.json").read())
        deposit = json.loads(tar.extractfile(".zenodo.json").read())
    assert "datePublished" not in crate["./"] and "publication_date" not in deposit


def test_a_date_that_is_given_is_in_both(tmp_path):
    archive = release(tmp_path, stamp={**STAMP, "date": "2026-07-01"})
    with tarfile.open(archive) as tar:
        crate = entities(tar.extractfile("ro-crate-metadata.json").read())
        deposit = json.loads(tar.extractfile(".zenodo.json").read())
    assert crate["./"]["datePublished"] == deposit["publication_date"] == "2026-07-01"


def test_people_and_groups_are_told_apart(tmp_path):
    project = citation(tmp_path)
    found = entities(ro_crate("t", "d", project, {}, project.date))
    ada, group = (found[one["@id"]] for one in found["./"]["author"])
    assert (ada["@type"], ada["name"]) == ("Person", "Ada von Löwe")
    assert ada["@id"] == "https://orcid.org/0000-0001-2345-6789"
    assert (group["@type"], group["name"]) == ("Organization", "The group")
    assert found["./"]["identifier"] == "10.5281/zenodo.1"
    assert found["#software"]["url"] == "https://example.org/toy"
    deposit = json.loads(zenodo_metadata("t", "d", project, project.date))
    assert deposit["creators"] == [
        {"name": "Löwe, Ada", "affiliation": "A University", "orcid": "0000-0001-2345-6789"},
        {"name": "The group"},
    ]
    assert (deposit["license"], deposit["publication_date"]) == ("mit", "2026-06-01")


def test_the_projects_own_citation_names_both_papers():
    project = read_citation(ROOT / "CITATION.cff")
    assert [work.identifier for work in project.works] == ["arXiv:2605.26578", "arXiv:2604.03642"]
    assert project.made_with == f"posbias-replication {project.version}"


@pytest.mark.parametrize("name", ["title", "version", "license", "authors"])
def test_a_citation_that_lacks_something_is_named(tmp_path, name):
    with pytest.raises(DataError, match=rf"CITATION\.cff: without {name}; add"):
        citation(tmp_path, **{name: None})


def test_a_citation_that_is_no_yaml_is_named(tmp_path):
    (tmp_path / "CITATION.cff").write_text("a: [")
    with pytest.raises(DataError, match=r"CITATION\.cff: not a readable citation file"):
        read_citation(tmp_path / "CITATION.cff")


def test_a_release_needs_all_of_its_origin(tmp_path):
    stamp = {name: value for name, value in STAMP.items() if name != "retrievers"}
    with pytest.raises(ConfigError, match="lacks retrievers"):
        release(tmp_path, stamp=stamp)


def test_the_readme_says_what_it_is_and_how_to_draw_from_it(made):
    text = made["README.md"].decode()
    for part in ("toy scale: nothing real", "commit abcdef0", "hash 0123456789ab", "bert, qwen3",
                 "| measures | 4 files", "metrics_from: released", "toy.tar.xz"):  # fmt: skip
        assert part in text


def test_a_changed_checkout_is_told_in_the_log_and_by_the_archive(tmp_path, caplog):
    stamp = {**STAMP, "commit": "abcdef0-dirty"}
    (tmp_path / "dirty.json").write_text(json.dumps(stamp))
    texts = {}
    for name, changed in (
        ("clean", {}),
        ("dirty", {"stamp": stamp, "provenance": tmp_path / "dirty.json"}),
    ):
        caplog.clear()
        with tarfile.open(release(tmp_path / name, **changed)) as tar:
            texts[name] = tar.extractfile("README.md").read().decode()
        assert ("differ from this commit" in caplog.text) == (name == "dirty")
    assert "differed" not in texts["clean"]
    assert "commit abcdef0-dirty (files differed from this commit" in texts["dirty"]


def test_paths_of_ones_own_in_the_config_are_told_before_others_read_them(tmp_path, caplog):
    release(tmp_path / "one")
    assert "paths of this machine" not in caplog.text
    config = {**CONFIG, "downloads": {"mine": {"path": "/home/ada/texts"}}}
    release(tmp_path / "two", config=config)
    assert "downloads.mine.path (/home/ada/texts)" in caplog.text


@pytest.mark.parametrize(
    ("value", "own"),
    [
        ("/data/a.jsonl", True), ("./a.jsonl", True), ("../a", True), ("~/a", True),
        ("~ada/a", True), ("C:\\texts", True), ("C:/texts", True), ("\\\\server\\a", True),
        ("released/mini.tar.xz", False), ("google-bert/bert-base", False), ("N/A", False),
        ("https://example.org/a", False), ("query: ", False), ("...", False), ("~ 5", False),
        ("", False), ("/ ", False),
    ],
)  # fmt: skip
def test_what_is_a_path_of_ones_own(value, own):
    config = {"benchmarks": {"known": {"b": {"files": ["wiki", value], "count": 3}}}}
    assert own_paths(config) == ({"benchmarks.known.b.files[1]": value} if own else {})
    # The path of a download is one of the user's whatever it looks like.
    assert bool(own_paths({"downloads": {"d": {"path": value}}})) == bool(value)
    assert own_paths({"downloads": {"d": {"path": None, "repo": "a/b"}}}) == {}
