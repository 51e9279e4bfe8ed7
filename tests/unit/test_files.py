"""Files that appear whole or not at all, and faults that name file, line and remedy."""

import errno
import gzip
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import DataError, PosbiasError
from posbias.files import (
    content_hash,
    read_json,
    read_jsonl,
    sha256_file,
    stream_jsonl,
    whole_directory,
    whole_file,
    write_json,
    write_jsonl,
    write_text,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False,
    allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
UTF8 = st.characters(exclude_categories=["Cs"])
RECORDS = st.lists(
    st.dictionaries(st.text(UTF8), st.text(UTF8) | st.floats(-1, 1), max_size=4), max_size=5
)


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@given(RECORDS)
def test_json_lines_come_back_as_they_were(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("lines") / "records.jsonl"
    assert write_jsonl(path, iter(records)) == len(records)
    assert read_jsonl(path) == records
    # Separators that are line ends elsewhere (U+2028, U+0085) must not split a record.
    assert path.read_bytes().count(b"\n") == len(records)


def test_text_is_utf8_and_readable_as_such(tmp_path):
    record = {"id": "Å-01\t", "text": "naïve — 北京 🙂\u2028"}
    write_jsonl(tmp_path / "a.jsonl", [record])
    write_json(tmp_path / "a.json", record)
    assert "naïve — 北京 🙂" in (tmp_path / "a.jsonl").read_text("utf-8")
    assert read_json(tmp_path / "a.json") == record == read_jsonl(tmp_path / "a.jsonl")[0]


def test_the_locale_does_not_matter(tmp_path, scripts):
    code = (
        "import sys; from posbias.files import *\n"
        "write_jsonl(sys.argv[1], [{'text': '\\u5317\\u4eac'}])\n"
        "print(len(read_jsonl(sys.argv[1])))"
    )
    path = tmp_path / "a.jsonl"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code, path], cwd=scripts, env=environment, capture_output=True
    )
    assert done.stdout.strip() == b"1", done.stderr
    assert path.read_bytes() == '{"text": "北京"}\n'.encode()


@pytest.mark.parametrize("old", [None, "old"])
def test_a_fault_in_the_middle_leaves_what_was_there(tmp_path, old):
    path = tmp_path / "sub" / "records.jsonl"
    if old is not None:
        write_text(path, old)

    def records():
        yield {"a": 1}
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        write_jsonl(path, records())
    assert left_in(path.parent) == ([] if old is None else ["records.jsonl"])
    if old is not None:
        assert path.read_text() == old


def test_the_final_name_appears_only_at_the_end(tmp_path):
    path = tmp_path / "table.csv"
    with whole_file(path) as part:
        part.write_text("a,b\n")
        assert part.parent == path.parent  # renaming across disks would not be atomic
        assert not path.exists()
    assert left_in(tmp_path) == ["table.csv"]


def test_a_killed_process_leaves_no_file_of_that_name(tmp_path, scripts):
    code = (
        "import os, sys; from posbias.files import write_jsonl\n"
        "write_jsonl(sys.argv[1], ({'n': n} if n < 9999 else os._exit(9) for n in range(10000)))"
    )
    path = tmp_path / "a.jsonl"
    done = subprocess.run([sys.executable, "-c", code, path], cwd=scripts)
    assert done.returncode == 9
    assert not path.exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_a_number_is_refused(tmp_path, value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", {"psi": value})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_jsonl(tmp_path / "a.jsonl", [{"a": 1}, {"margin": [value]}])
    assert left_in(tmp_path) == []


def test_a_stream_gives_the_records_before_a_fault_and_reads_no_further(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": 2}\n{"b": 3}\nno json\n')
    assert list(itertools.islice(stream_jsonl(path, ("a",)), 2)) == [{"a": 1}, {"a": 2}]
    records = stream_jsonl(path, ("a",))
    assert [next(records), next(records)] == [{"a": 1}, {"a": 2}]
    with pytest.raises(DataError, match="line 3: the field"):
        next(records)


@given(RECORDS)
def test_packed_lines_are_read_like_plain_ones(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("packed") / "a.jsonl"
    write_jsonl(path, records)
    packed = path.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_jsonl(packed) == records


@pytest.mark.parametrize(
    "damage",
    [lambda packed: packed[:-20], lambda packed: b"{}\n", lambda packed: packed[:30] + b"xxxx" * 9],
    ids=["cut short", "not packed", "overwritten"],
)
def test_a_damaged_archive_is_named_with_a_remedy(tmp_path, damage):
    path = tmp_path / "a.jsonl.gz"
    lines = "".join(json.dumps({"a": n, "hash": content_hash(n)}) + "\n" for n in range(99))
    path.write_bytes(damage(gzip.compress(lines.encode())))
    with pytest.raises(DataError, match=r"a\.jsonl\.gz.*(fetch the file again|mend the line)"):
        read_jsonl(path)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named_with_a_remedy(tmp_path, monkeypatch, code):
    path = tmp_path / "a.json"
    write_text(path, "old")

    def full(source, target):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(PosbiasError, match=r"a\.json: no space left .* Free some space"):
        write_json(path, {"a": 1})
    assert left_in(tmp_path) == ["a.json"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch, code):
    def refused(*arguments, **options):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(PosbiasError, match=r"a\.json; mend the rights"):
        write_json(tmp_path / "new" / "a.json", {"a": 1})


def test_other_faults_of_the_system_pass_through(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(FileExistsError):
        write_text(tmp_path / "file" / "a.txt", "text")


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("this user cannot mount a file system in memory")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_disk_that_fills_up_keeps_the_old_file(small_disk):
    path = small_disk / "records.jsonl"
    write_jsonl(path, [{"old": True}])
    with pytest.raises(PosbiasError, match="no space left on the disk"):
        write_jsonl(path, ({"n": n, "text": "x" * 100} for n in range(2000)))
    with pytest.raises(PosbiasError, match="no space left on the disk"):
        write_text(path, "x" * 200_000)
    with (
        pytest.raises(PosbiasError, match="no space left"),
        whole_directory(small_disk / "model") as part,
    ):
        (part / "weights").write_bytes(bytes(200_000))
    assert left_in(small_disk) == ["records.jsonl"]
    assert read_jsonl(path) == [{"old": True}]
    write_jsonl(path, [{"new": True}])  # and there is space again
    assert read_jsonl(path) == [{"new": True}]


def fill(folder: Path, text: str) -> None:
    with whole_directory(folder) as part:
        (part / "weights").write_text(text)


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    model = tmp_path / "deep" / "model"
    with whole_directory(model) as part:
        (part / "weights").write_text("old")
        (part / "extra").write_text("old")
        assert not model.exists()
    fill(model, "new")
    assert left_in(model) == ["weights"]
    assert (model / "weights").read_text() == "new"
    assert left_in(model.parent) == ["model"]


def test_a_fault_while_a_folder_is_filled_keeps_the_old_one(tmp_path):
    model = tmp_path / "model"
    fill(model, "old")
    with pytest.raises(RuntimeError), whole_directory(model) as part:
        (part / "weights").write_text("new")
        raise RuntimeError
    assert left_in(tmp_path) == ["model"]
    assert (model / "weights").read_text() == "old"


WRITING = """
import sys, time
from posbias import files
files.os.getpid = lambda: 1  # as in a container
with files.whole_file(sys.argv[1]) as part:
    part.write_text(sys.argv[2])
    print("written", flush=True)
    time.sleep(float(sys.argv[3]))
"""


def test_two_processes_of_one_number_do_not_write_into_each_other(tmp_path, scripts):
    """In containers, and on nodes that share a disk, process numbers repeat."""
    path = tmp_path / "file"
    both = [
        subprocess.Popen(
            [sys.executable, "-c", WRITING, path, text, seconds],
            cwd=scripts,
            stdout=subprocess.PIPE,
        )
        for text, seconds in (("the first", "60"), ("the second", "0"))
    ]
    try:
        assert all(process.stdout.readline() == b"written\n" for process in both)
        assert both[1].wait(60) == 0
    finally:
        for process in both:
            process.kill()
            process.wait()
            process.stdout.close()
    assert path.read_text() == "the second"


@given(JSON, st.randoms())
def test_the_hash_of_a_value_does_not_depend_on_key_order(value, random):
    def shuffled(value):
        if isinstance(value, dict):
            keys = list(value)
            random.shuffle(keys)
            return {key: shuffled(value[key]) for key in keys}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    try:
        expected = content_hash(value)
    except UnicodeEncodeError:  # lone surrogates are no text
        return
    assert content_hash(shuffled(value)) == expected
    assert content_hash({"inner": value}) != expected
    assert len(content_hash(value, length=20)) == 20


def test_the_hash_of_a_file_is_sha256(tmp_path):
    write_text(tmp_path / "a", "abc")
    assert sha256_file(tmp_path / "a") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_lines_are_plain_json(tmp_path):
    write_jsonl(tmp_path / "a.jsonl", [{"b": 1, "a": None}])
    assert (tmp_path / "a.jsonl").read_text() == '{"b": 1, "a": null}\n'
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {"a": None, "b": 1}
