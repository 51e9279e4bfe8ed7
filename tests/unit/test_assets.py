"""Files inside installed packages: found by name, checked by hash."""

import pytest

from config_changes import asset_of
from posbias.assets import find_asset
from posbias.errors import AssetError
from posbias.files import sha256_file


def test_finds_a_file_without_importing_its_package(fake_package):
    hashes = fake_package("fake-model", {"fake/__init__.py": b"1 / 0", "fake/w/a.bin": b"abc"})
    path = find_asset("fake-model", "w/a.bin", hashes["fake/w/a.bin"])
    assert path.read_bytes() == b"abc"
    # Names of packages are the same under any spelling.
    assert find_asset("Fake_Model", "w/a.bin", hashes["fake/w/a.bin"]) == path


def test_a_missing_package_comes_with_the_remedy():
    with pytest.raises(AssetError, match=r"no-such-package.*a\.bin.*make install"):
        find_asset("no-such-package", "a.bin", "0" * 64)


def test_another_content_is_refused_with_both_hashes(fake_package):
    hashes = fake_package("fake-model", {"fake/a.bin": b"abc"})
    path = find_asset("fake-model", "a.bin", hashes["fake/a.bin"])
    path.write_bytes(b"abd")
    with pytest.raises(AssetError) as caught:
        find_asset("fake-model", "a.bin", hashes["fake/a.bin"])
    for part in (str(path), sha256_file(path), hashes["fake/a.bin"], "make reinstall"):
        assert part in str(caught.value)


def test_a_listed_file_that_is_gone_is_named(fake_package):
    hashes = fake_package("fake-model", {"fake/a.bin": b"abc"})
    path = find_asset("fake-model", "a.bin", hashes["fake/a.bin"])
    path.unlink()
    with pytest.raises(AssetError, match=r"a\.bin is missing; reinstall fake-model"):
        find_asset("fake-model", "a.bin", hashes["fake/a.bin"])


@pytest.mark.parametrize(
    ("file", "count"), [("a.bin", 2), ("x/a.bin", 1), ("c.bin", 0), ("b.bin", 0)]
)
def test_exactly_one_file_must_match(fake_package, file, count):
    content = {"fake/x/a.bin": b"1", "fake/y/a.bin": b"2", "fake/b.bin": b"3"}
    hashes = fake_package("fake-model", content, unlisted=("fake/b.bin",))
    if count == 1:
        assert find_asset("fake-model", file, hashes["fake/x/a.bin"]).read_bytes() == b"1"
        return
    with pytest.raises(AssetError, match=f"holds {count} files that end in {file}, expected one"):
        find_asset("fake-model", file, hashes["fake/x/a.bin"])


def test_a_package_without_a_list_of_files_is_refused(fake_package, tmp_path):
    fake_package("fake-model", {"fake/a.bin": b"1"})
    (tmp_path / "site" / "fake_model-1.0.dist-info" / "RECORD").unlink()
    with pytest.raises(AssetError, match="holds 0 files"):
        find_asset("fake-model", "a.bin", "0" * 64)


def test_the_configured_assets_are_installed_and_whole(config):
    for name in config["assets"]:
        path = find_asset(**asset_of(config, name))
        assert path.stat().st_size > 100_000, name
