"""Archives that were damaged, or made to do harm: refused whole, by name, with a remedy."""

import dataclasses
import hashlib
import io
import json
import lzma
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unpack_release
from posbias.errors import DataError
from posbias.release.archive import write_archive
from posbias.release.unpack import read_manifest, unpack
from release_files import left_in, release

NAME = "measures/evaluation/wiki/bert/begin/measures.json"


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The contents of a sound release, by name and in order."""
    archive = release(tmp_path_factory.mktemp("sound"))
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar.getmembers()}


def with_manifest(contents, change=lambda manifest: None):
    """Return contents whose manifest fits them again, after a change to it."""
    manifest = json.loads(contents["manifest.json"])
    manifest["files"] = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in contents.items()
        if name != "manifest.json"
    }
    change(manifest)
    return {**contents, "manifest.json": json.dumps(manifest).encode()}


def packed(path: Path, members) -> Path:
    """Write tar members, given as TarInfo with data, into an archive."""
    with lzma.open(path, "wb") as out, tarfile.open(fileobj=out, mode="w") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def plain(contents):
    return [(tarfile.TarInfo(name), data) for name, data in contents.items()]


def refuses(archive, tmp_path, match):
    """Check that an archive is refused, by its name and with a remedy, and that nothing is made."""
    inside = tmp_path / "parent" / "results"
    with pytest.raises(DataError, match=match) as fault:
        unpack(archive, inside)
    assert str(fault.value).startswith(str(archive))
    assert "etch the archive again" in str(fault.value) or "Check out" in str(fault.value)
    assert left_in(tmp_path / "parent") == {}
    assert list(inside.iterdir()) == []


def test_the_helper_makes_sound_archives(sound, tmp_path):
    unpack(packed(tmp_path / "a.tar.xz", plain(with_manifest(sound))), tmp_path / "out")
    assert (tmp_path / "out" / NAME.removeprefix("measures/")).read_bytes() == sound[NAME]


@pytest.mark.parametrize(
    "name",
    ["../evil.json", "measures/../../evil.json", "/tmp/evil.json", "measures/./evil.json",
     "measures//evil.json", "C:evil.json", "measures\\..\\evil.json", "measures/ev\til.json",
     "measures/" + "x" * 300 + ".json"],
)  # fmt: skip
@pytest.mark.parametrize("listed", [False, True], ids=["not listed", "listed"])
def test_names_that_leave_the_folder(sound, tmp_path, name, listed):
    contents = {**sound, name: b"{}"}
    contents = with_manifest(contents) if listed else contents
    refuses(packed(tmp_path / "a.tar.xz", plain(contents)), tmp_path, "file name .*(ev|xxx)")


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (tarfile.SYMTYPE, "/etc/passwd"),
        (tarfile.LNKTYPE, "manifest.json"),
        (tarfile.DIRTYPE, ""),
        (tarfile.FIFOTYPE, ""),
        (tarfile.CHRTYPE, ""),
        (tarfile.BLKTYPE, ""),
        (tarfile.GNUTYPE_SPARSE, ""),
        (tarfile.CONTTYPE, ""),
    ],
)
@pytest.mark.parametrize("first", [False, True], ids=["added", "in the place of a file"])
def test_what_is_no_plain_file(sound, tmp_path, kind, target, first):
    member = tarfile.TarInfo(NAME if first else "measures/extra.json")
    member.type, member.linkname = kind, target
    members = [(m, data) for m, data in plain(sound) if m.name != member.name]
    refuses(
        packed(tmp_path / "a.tar.xz", [*members, (member, b"")]),
        tmp_path, "no plain file|not in its manifest|cannot|lacks",
    )  # fmt: skip


def test_a_file_with_holes(sound, tmp_path):
    """Such a file is of the plain type, and only its pax headers tell."""
    members = plain(sound)
    (holed,) = (member for member, _ in members if member.name == NAME)
    size = str(len(sound[NAME]))
    holed.pax_headers = {"GNU.sparse.map": f"0,{size}", "GNU.sparse.size": size}
    refuses(packed(tmp_path / "a.tar.xz", members), tmp_path, "no plain file")


def test_a_link_and_then_a_file_through_it(sound, tmp_path):
    link = tarfile.TarInfo("measures/evaluation")
    link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
    members = plain(sound)
    refuses(
        packed(tmp_path / "a.tar.xz", [*members[:2], (link, b""), *members[2:]]),
        tmp_path, "'measures/evaluation' is a link",
    )  # fmt: skip
    assert not (tmp_path / "wiki").exists()


@pytest.mark.parametrize("name", [NAME, "manifest.json", NAME.upper()])
def test_a_file_that_is_there_twice(sound, tmp_path, name):
    members = [*plain(sound), (tarfile.TarInfo(name), b"{}")]
    refuses(packed(tmp_path / "a.tar.xz", members), tmp_path, "is there twice")


def test_a_file_that_the_manifest_does_not_list(sound, tmp_path):
    contents = {**sound, "measures/extra.json": b"{}"}
    refuses(
        packed(tmp_path / "a.tar.xz", plain(contents)), tmp_path,
        r"measures/extra\.json is not in its manifest",
    )  # fmt: skip


@pytest.mark.parametrize("name", [NAME, "LICENSE", "provenance.json"])
def test_a_file_that_is_missing(sound, tmp_path, name):
    contents = {key: data for key, data in sound.items() if key != name}
    refuses(packed(tmp_path / "a.tar.xz", plain(contents)), tmp_path, f"lacks 1 .* {name}")


@pytest.mark.parametrize("name", [NAME, "LICENSE", "config.yaml", "ro-crate-metadata.json"])
@pytest.mark.parametrize("same_size", [True, False])
def test_a_file_of_other_content(sound, tmp_path, name, same_size):
    data = sound[name][:-1] + b"!" if same_size else sound[name] + b" "
    contents = {**sound, name: data}
    refuses(packed(tmp_path / "a.tar.xz", plain(contents)), tmp_path, f"{name} (is not|has)")


@pytest.mark.parametrize("version", [0, 2, "1", 1.0, True, None])
def test_a_format_that_is_not_known(sound, tmp_path, version):
    contents = with_manifest(sound, lambda manifest: manifest.update(format=version))
    archive = packed(tmp_path / "a.tar.xz", plain(contents))
    refuses(archive, tmp_path, r"a release of format .*knows format 1\. Check out the commit")
    with pytest.raises(DataError, match="a release of format"):
        read_manifest(archive)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("format"),
        lambda m: m.pop("commit"),
        lambda m: m.update(more=1),
        lambda m: m.update(seed="42"),
        lambda m: m.update(seed=True),
        lambda m: m.update(seed=[]),
        lambda m: m.update(scale=None),
        lambda m: m.update(retrievers="bert"),
        lambda m: m.update(files=[]),
        lambda m: m["files"].pop("config.yaml"),
        lambda m: m["files"].pop("provenance.json"),
        lambda m: m["files"][NAME].pop("sha256"),
        lambda m: m["files"][NAME].update(sha256="0" * 63),
        lambda m: m["files"][NAME].update(sha256=m["files"][NAME]["sha256"].upper()),
        lambda m: m["files"][NAME].update(bytes=-1),
        lambda m: m["files"][NAME].update(bytes=True),
        lambda m: m["files"].update({"manifest.json": m["files"][NAME]}),
        lambda m: m["files"].update({"measures/provenance.json": m["files"][NAME]}),
        lambda m: m["files"].update({"measures/Provenance.json": m["files"][NAME]}),
        lambda m: m["files"].update({"measures": m["files"][NAME]}),
    ],
)  # fmt: skip
def test_a_manifest_that_is_not_sound(sound, tmp_path, change):
    contents = with_manifest(sound, change)
    refuses(
        packed(tmp_path / "a.tar.xz", plain(contents)), tmp_path,
        r"manifest\.json|unpacked to provenance\.json",
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [b"", b"no json", b"[]", b"1", b"\xff", b"[" * 9999, b'{"format": 1, "format": 1}',
     b'{"format": 1, "files": {"a": 1, "a": 1}}'],
)  # fmt: skip
def test_a_manifest_that_is_no_object(sound, tmp_path, text):
    contents = {**sound, "manifest.json": text}
    refuses(packed(tmp_path / "a.tar.xz", plain(contents)), tmp_path, "manifest.json")


def test_a_manifest_that_says_two_things_of_a_file(sound, tmp_path):
    twice = f'"files": {{"{NAME}": {{"sha256": "{"0" * 64}", "bytes": 1}},'.encode()
    text = sound["manifest.json"].replace(b'"files": {', twice)
    assert json.loads(text) == json.loads(sound["manifest.json"])  # for those who read the last
    contents = {**sound, "manifest.json": text}
    refuses(packed(tmp_path / "a.tar.xz", plain(contents)), tmp_path, "a key is there twice")


@pytest.mark.parametrize(
    "text",
    [b"- a list\n", b"a: [", b"a: &x [1]\nb: *x\n", b"!!python/object/apply:os.getcwd []\n",
     b"\xff\xfe\xff", b"a: 2024-99-99\n"],
)  # fmt: skip
def test_a_config_that_is_none_or_does_harm(sound, tmp_path, text):
    contents = with_manifest({**sound, "config.yaml": text})
    refuses(packed(tmp_path / "a.tar.xz", plain(contents)), tmp_path, r"config\.yaml")


def test_an_archive_of_another_kind(sound, tmp_path):
    contents = {name: data for name, data in sound.items() if name != "manifest.json"}
    refuses(packed(tmp_path / "a.tar.xz", plain(contents)), tmp_path, "this is no release")
    refuses(packed(tmp_path / "b.tar.xz", []), tmp_path, "found None: this is no release")
    (tmp_path / "c.tar.xz").write_bytes(lzma.compress(b"some text"))
    refuses(tmp_path / "c.tar.xz", tmp_path, "no whole tar file|no release")
    for name, data in (("d", b""), ("e", b"PK\x03\x04 text"), ("f", b"\xfd7zXZ\x00")):
        (tmp_path / f"{name}.tar.xz").write_bytes(data)
        refuses(tmp_path / f"{name}.tar.xz", tmp_path, "cut short|no whole xz file")


def test_data_behind_the_end(sound, tmp_path):
    archive = tmp_path / "a.tar.xz"
    write_archive(archive, sound)
    packed_bytes = archive.read_bytes()
    for more in (b"x", lzma.compress(b"more")):
        archive.write_bytes(packed_bytes + more)
        refuses(archive, tmp_path, "data follow its end")
    for more, match in ((b"x" * 100, "data follow its last"), (bytes(2**22), "unpacks to more")):
        archive.write_bytes(lzma.compress(lzma.decompress(packed_bytes) + more))
        refuses(archive, tmp_path, match)


def test_a_small_archive_that_unpacks_to_gigabytes(sound, tmp_path):
    """The manifest is honest about files, but a header of pax stands for far more."""
    member = tarfile.TarInfo("pax")
    member.type, member.size = tarfile.XHDTYPE, 2**31
    head = io.BytesIO()
    with tarfile.open(fileobj=head, mode="w") as tar:
        for info, data in plain(sound):
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        end = tar.offset
    archive = tmp_path / "a.tar.xz"
    with lzma.open(archive, "wb", preset=0) as out:
        out.write(head.getvalue()[:end] + member.tobuf())
        for _ in range(32):
            out.write(bytes(2**20))
    refuses(archive, tmp_path, "unpacks to more than its manifest says")


def test_a_file_that_is_larger_than_the_manifest_says_is_not_read(sound, tmp_path):
    contents = {**sound, NAME: bytes(2**23)}
    refuses(packed(tmp_path / "a.tar.xz", plain(contents)), tmp_path, "8,388,608 bytes")


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_changed_byte_is_unpacked(tmp_path_factory, sound, data):
    folder = tmp_path_factory.mktemp("flipped")
    archive = folder / "a.tar.xz"
    write_archive(archive, sound)
    content = bytearray(archive.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    archive.write_bytes(content)
    with pytest.raises(DataError):
        unpack(archive, folder / "out")
    assert left_in(folder / "out") == {}


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_no_archive_that_is_cut_short_is_unpacked(tmp_path_factory, sound, data):
    folder = tmp_path_factory.mktemp("cut")
    archive = folder / "a.tar.xz"
    write_archive(archive, sound)
    content = archive.read_bytes()
    archive.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(DataError):
        unpack(archive, folder / "out")
    assert left_in(folder / "out") == {}


def test_another_sound_archive_is_noticed_by_its_hash(tmp_path):
    one, other = release(tmp_path / "one"), release(tmp_path / "two", {"a/b.json": b"{}"})
    expected = hashlib.sha256(one.read_bytes()).hexdigest()
    with pytest.raises(DataError, match=rf"SHA-256 is [0-9a-f]{{64}}, expected {expected}"):
        unpack_release.main(other, [], str(tmp_path / "out"), expected)
    other.write_bytes(one.read_bytes())  # beside the checksum of the other
    with pytest.raises(DataError, match="its SHA-256 is"):
        unpack_release.main(other, [], str(tmp_path / "out"))
    assert left_in(tmp_path / "out") == {}


@pytest.mark.parametrize("sha256", ["", "abc", "0" * 63, "g" * 64, "A" * 64])
def test_a_hash_that_is_none(tmp_path, sha256):
    with pytest.raises(DataError, match="expected a SHA-256 of 64 digits"):
        unpack(release(tmp_path), tmp_path / "out", sha256)


@pytest.mark.parametrize("text", ["", "no hash", "0" * 64 + "  other.tar.xz", "0" * 63 + "  x"])
def test_a_checksum_file_of_another_form_or_file(tmp_path, text):
    archive = release(tmp_path)
    Path(f"{archive}.sha256").write_text(text)
    with pytest.raises(DataError, match=r"toy\.tar\.xz\.sha256: expected the SHA-256 of toy"):
        unpack_release.main(archive, [], str(tmp_path / "out"))


def test_without_any_hash_a_warning_says_so(tmp_path, caplog):
    archive = release(tmp_path)
    Path(f"{archive}.sha256").unlink()
    unpacked = [tmp_path / "out" / name for name in read_manifest(archive).unpacked()]
    unpack_release.main(archive, unpacked, str(tmp_path / "out"))
    assert "no SHA-256 to compare with" in caplog.text


def test_an_archive_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"gone\.tar\.xz: no such file\. Fetch the release"):
        read_manifest(tmp_path / "gone.tar.xz")


def test_folders_in_the_place_of_files_are_named(tmp_path):
    with pytest.raises(DataError, match="is a folder, expected a release's archive"):
        read_manifest(tmp_path)
    archive = release(tmp_path)
    checksum = Path(f"{archive}.sha256")
    checksum.unlink()
    checksum.mkdir()
    with pytest.raises(DataError, match=r"toy\.tar\.xz\.sha256: is a folder, expected the SHA"):
        unpack_release.main(archive, [], str(tmp_path / "out"))


def test_the_manifest_cannot_be_changed_by_those_who_read_it(tmp_path):
    manifest = read_manifest(release(tmp_path))
    with pytest.raises(dataclasses.FrozenInstanceError):
        manifest.commit = "other"
