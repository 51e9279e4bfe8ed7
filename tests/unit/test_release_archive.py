"""Releases come back as they went in, in the same bytes each time, and only if they are sound."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unpack_release
from posbias.errors import ConfigError, DataError
from posbias.release.archive import UnsoundError, opened, write_archive
from posbias.release.contents import config_text
from posbias.release.names import fault_of_name, folded
from posbias.release.unpack import published_sha256, read_manifest, unpack
from release_files import CONFIG, MEASURES, STAMP, left_in, release, results

PART = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\:"), min_size=1,
    max_size=40,
).filter(lambda part: part not in (".", ".."))  # fmt: skip
NAMES = st.lists(PART, min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return release(tmp_path_factory.mktemp("made"))


def test_what_is_unpacked_is_what_was_measured(made, tmp_path):
    manifest = unpack(made, tmp_path, published_sha256(made))
    found = left_in(tmp_path)
    assert json.loads(found.pop("provenance.json")) == STAMP
    assert found == MEASURES
    assert manifest.unpacked() == sorted([*MEASURES, "provenance.json"])


def test_the_beginning_tells_what_the_whole_does(made, tmp_path):
    manifest = read_manifest(made)
    assert manifest == unpack(made, tmp_path)
    assert manifest.provenance() == STAMP
    assert manifest.config == CONFIG


def test_the_manifest_is_read_from_the_first_bytes(tmp_path):
    rest = {f"evaluation/{n}/measures.json": os.urandom(30_000) for n in range(20)}
    archive = release(tmp_path, rest)
    whole = archive.stat().st_size
    manifest = read_manifest(archive)
    archive.write_bytes(archive.read_bytes()[: whole // 2])
    assert read_manifest(archive) == manifest
    with pytest.raises(DataError, match=r"toy\.tar\.xz: it is (cut short|no whole tar)"):
        unpack(archive, tmp_path / "out")
    assert left_in(tmp_path / "out") == {}


def test_other_places_times_and_orders_give_the_same_bytes(made, tmp_path):
    folder = tmp_path / "elsewhere" / "results" / "toy"
    results(folder)
    for age, name in enumerate(MEASURES):
        os.utime(folder / name, (age, age))
        (folder / name).chmod(0o600)
    measured = [folder / name for name in reversed(MEASURES)] * 2
    again = release(tmp_path, measured=measured, results_folder=str(folder))
    assert again.read_bytes() == made.read_bytes()
    assert Path(f"{again}.sha256").read_text() == Path(f"{made}.sha256").read_text()


def test_another_process_with_another_hash_seed_gives_the_same_bytes(made, tmp_path, scripts):
    code = "import sys, release_files as r; from pathlib import Path; r.release(Path(sys.argv[1]))"
    path = os.pathsep.join([str(scripts), str(Path(__file__).parent)])
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": path, "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", code, tmp_path], env=environment, check=True)
    assert (tmp_path / "released" / "toy.tar.xz").read_bytes() == made.read_bytes()


@pytest.mark.parametrize(
    "changed",
    [
        {"config": {**CONFIG, "seed": 43}},
        {"stamp": {**STAMP, "note": "another note"}},
        {"stamp": {**STAMP, "date": "2026-06-01"}},
    ],
    ids=["config", "note", "date"],
)
def test_other_content_gives_other_bytes(made, tmp_path, changed):
    assert release(tmp_path, **changed).read_bytes() != made.read_bytes()


def test_nothing_in_it_tells_of_the_machine_or_the_user(made):
    with tarfile.open(made) as tar:
        members = tar.getmembers()
    assert [member.name for member in members[:2]] == ["manifest.json", "config.yaml"]
    rest = [member.name for member in members[2:]]
    assert rest == sorted(rest)
    for member in members:
        owner = (member.uid, member.gid, member.uname, member.gname)
        assert owner == (0, 0, "", "")
        assert (member.mtime, member.mode, member.isreg()) == (0, 0o644, True)
        assert fault_of_name(member.name) is None


def test_the_manifest_lists_every_other_file_by_its_hash(made):
    with tarfile.open(made) as tar:
        data = {member.name: tar.extractfile(member).read() for member in tar.getmembers()}
    manifest = json.loads(data.pop("manifest.json"))
    assert manifest["files"] == {
        name: {"sha256": hashlib.sha256(text).hexdigest(), "bytes": len(text)}
        for name, text in sorted(data.items())
    }


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum here")
def test_sha256sum_reads_the_checksum(made):
    told = subprocess.run(
        ["sha256sum", "-c", "--strict", f"{made.name}.sha256"], cwd=made.parent, capture_output=True
    )
    assert told.returncode == 0, told.stderr


@given(st.dictionaries(NAMES, st.binary(max_size=2000), min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_any_fit_names_and_contents_come_back(tmp_path_factory, contents):
    fit = {folded(name): name for name in contents if fault_of_name(name) is None}
    chosen = {name: contents[name] for name in fit.values()}
    archive = tmp_path_factory.mktemp("any") / "a.tar.xz"
    write_archive(archive, chosen)
    with opened(archive) as (_, members):
        assert {name: reader.read() for name, _, reader in members} == chosen


@given(NAMES, st.sampled_from(["../{}", "/{}", "{}/..", "a/../{}", "./{}", "{}/", "a//{}", "c:{}",
       "a\\{}", "{}\n", "\x00{}", "{}\ud800", "a/./{}"]))  # fmt: skip
def test_names_that_are_not_plain_are_unfit(name, form):
    assert fault_of_name(form.format(name)) is not None


@given(NAMES)
def test_fit_names_stay_below_their_folder(name):
    if fault_of_name(name) is None:
        joined = os.path.normpath(os.path.join("/folder", name))  # noqa: PTH118
        assert joined == f"/folder/{name}"


TREE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(
        st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=9), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.text("ab1:#-'\" \n", max_size=5), TREE, max_size=4))
@settings(deadline=None)
def test_any_config_reads_back_as_it_was(config):
    import yaml

    assert yaml.safe_load(config_text(config)) == config


def test_shared_parts_of_a_config_are_written_out(tmp_path):
    body = {"hidden_size": 128}
    config = {**CONFIG, "retrievers": {"a": body, "b": body}}
    assert read_manifest(release(tmp_path, config=config)).config == config


def test_a_measure_from_elsewhere_is_refused(tmp_path):
    other = results(tmp_path / "results" / "mini") / next(iter(MEASURES))
    with pytest.raises(DataError, match=r"results/mini/.*: not below .*results/toy"):
        release(tmp_path, measured=[other])


@pytest.mark.parametrize("name", ["pool.jsonl", "run.txt", "model.safetensors"])
def test_texts_runs_and_models_are_refused(tmp_path, name):
    with pytest.raises(DataError, match=rf"{name}: no measure; .* licences of their own"):
        release(tmp_path, {name: b"text"})


def test_no_measures_are_no_release(tmp_path):
    with pytest.raises(DataError, match="no measures to release"):
        release(tmp_path, {})


def test_a_missing_measure_is_named(tmp_path):
    missing = tmp_path / "results" / "toy" / "gone.json"
    with pytest.raises(DataError, match=r"gone\.json: cannot be read \(No such file"):
        release(tmp_path, measured=[missing])
    assert not (tmp_path / "released").exists()


def test_names_that_meet_where_case_is_ignored_are_refused(tmp_path):
    with pytest.raises(DataError, match="are the same where case is ignored"):
        release(tmp_path, {"a/Bert.json": b"{}", "a/bert.json": b"{}"})


def test_the_provenance_of_another_run_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"provenance\.json: commit is 'abcdef0', the release's is"):
        release(tmp_path, stamp={**STAMP, "commit": "1234567"})


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"toy\.zip: a release's name ends in \.tar\.xz"):
        release(tmp_path, archive=tmp_path / "toy.zip")


def test_the_script_unpacks_what_the_rule_names(made, tmp_path):
    unpacked = [tmp_path / name for name in read_manifest(made).unpacked()]
    unpack_release.main(made, unpacked, str(tmp_path))
    assert all(path.is_file() for path in unpacked)
    with pytest.raises(DataError, match="not those that the workflow expected"):
        unpack_release.main(made, unpacked[1:], str(tmp_path))


def test_what_lies_in_the_way_is_named_and_nothing_is_written(made, tmp_path):
    (tmp_path / "verification").write_text("a file of the user's")
    with pytest.raises(DataError, match=r"verification: in the way of .*filter_statistics\.csv"):
        unpack(made, tmp_path)
    assert left_in(tmp_path) == {"verification": b"a file of the user's"}


@pytest.mark.parametrize("what", ["a file", "a link to nowhere"])
def test_a_file_in_the_place_of_the_results_folder_is_named(made, tmp_path, what):
    place = tmp_path / "results" / "toy"
    place.parent.mkdir()
    if what == "a file":
        place.write_text("of the user's")
    else:
        place.symlink_to(tmp_path / "gone")
    with pytest.raises(DataError, match=r"results/toy: in the way of .*; move it elsewhere"):
        unpack(made, place)
    with pytest.raises(DataError, match=r"results/toy: in the way of .*results/toy/deeper"):
        unpack(made, place / "deeper")


def test_a_results_folder_on_another_disk_is_followed(made, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "evaluation").symlink_to(tmp_path / "disk")
    unpack(made, tmp_path / "results")
    assert (tmp_path / "disk" / "wiki" / "bert" / "begin" / "measures.json").is_file()


def test_reading_a_manifest_imports_nothing_heavy(scripts):
    code = (
        "import sys, posbias.release.unpack, posbias.release.differences\n"
        "print([m for m in ('torch', 'numpy', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=scripts, capture_output=True, text=True)
    assert told.stdout.strip() == "[]", told.stderr


def test_data_that_unpack_to_more_than_allowed_stop(tmp_path):
    archive = tmp_path / "a.tar.xz"
    write_archive(archive, {"a.json": bytes(20 * 2**20), "b.json": b""})
    with pytest.raises(UnsoundError, match="more than its manifest says"), opened(archive) as (
        _, members,
    ):  # fmt: skip
        members.expect(100, 1)
        for _, _, reader in members:
            reader.read()
