"""JSON that is broken: file, line and a remedy are named, whatever the parser trips over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import DataError, PosbiasError
from posbias.files import lone_surrogate, read_json, read_jsonl, write_jsonl

MARK = b"\xef\xbb\xbf"  # the byte order mark that some editors begin a file with
DEEP = (b"[" * 100_000, b"]" * 100_000)
LONG = b"9" * 5000  # digits; Python reads 4,300 at most


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b'{"a": 1', "not a JSON object"),
        (b"", "not a JSON object"),
        (b"\xff\xfe\xff", "not a JSON object"),
        (b"[1, 2]", "expected an object, found list"),
        (b"3", "expected an object, found int"),
        (b'{"a": %s%s}' % DEEP, "not a JSON object (maximum recursion"),
        (b'{"a": %s}' % LONG, "not a JSON object (Exceeds the limit"),
        (b'{"b": 1}', "the field(s) a are missing; found b"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_bad_line_is_named(tmp_path, line, fault):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"a": 1}\n' + line + b"\n" + b'{"a": 2}\n')
    with pytest.raises(DataError) as caught:
        read_jsonl(path, ("a",))
    assert f"{path}, line 2: {fault}" in str(caught.value)


def test_a_line_that_is_no_json_comes_with_a_remedy(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"a": 1}\n{"a"')
    with pytest.raises(
        DataError, match=r"line 2.*mend the line, or, if a run made the file, delete it"
    ):
        read_jsonl(path)


def test_all_missing_fields_are_named_at_once(tmp_path):
    path = tmp_path / "a.jsonl"
    write_jsonl(path, [{"a": 1}])
    assert read_jsonl(path, ["a"]) == [{"a": 1}]
    with pytest.raises(DataError, match="b, c are missing"):
        read_jsonl(path, ("a", "b", "c"))


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", '{"a": 1}'.encode("utf-16"), b"".join(DEEP), DEEP[0], LONG],
    ids=["empty", "cut short", "no UTF-8", "UTF-16", "deep", "deep and cut short", "long number"],
)
def test_a_bad_json_file_is_named_with_a_remedy(tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(
        DataError, match=r"bad\.json: not valid JSON .*mend it, or, if a run made it, delete"
    ):
        read_json(path)


@pytest.mark.parametrize("read", [read_json, read_jsonl])
def test_a_missing_file_is_a_fault_that_a_user_can_mend(tmp_path, read):
    with pytest.raises(PosbiasError, match=r"nowhere\.json"):
        read(tmp_path / "nowhere.json")


def test_a_byte_order_mark_is_no_part_of_the_value(tmp_path):
    (tmp_path / "a.json").write_bytes(MARK + '{"naïve": "北京"}\r\n'.encode())
    assert read_json(tmp_path / "a.json") == {"naïve": "北京"}
    (tmp_path / "a.jsonl").write_bytes(MARK + b'{"a": 1}\r\n{"a": 2}\r\n')
    assert read_jsonl(tmp_path / "a.jsonl") == [{"a": 1}, {"a": 2}]
    (tmp_path / "a.json").write_bytes(MARK)
    with pytest.raises(DataError, match="not valid JSON"):
        read_json(tmp_path / "a.json")


@pytest.mark.parametrize("number", [int("9" * 4300), -(10**4000)])
def test_numbers_that_python_can_read_are_read(tmp_path, number):
    (tmp_path / "a.json").write_text(f"[{number}]")
    assert read_json(tmp_path / "a.json") == [number]


def test_values_of_a_common_depth_are_read(tmp_path):
    (tmp_path / "a.json").write_text("[" * 200 + "]" * 200)
    value = read_json(tmp_path / "a.json")
    for _ in range(199):
        (value,) = value
    assert value == []


@given(st.text())
def test_a_lone_surrogate_is_what_utf8_cannot_hold(text):
    try:
        text.encode()
        held = True
    except UnicodeEncodeError:
        held = False
    assert (lone_surrogate(text) is None) == held


def test_the_first_lone_surrogate_is_named_and_a_pair_is_none():
    assert lone_surrogate("Å \udc00\ud83d") == "U+DC00"
    assert lone_surrogate("\ud83d") == "U+D83D"
    assert lone_surrogate("naïve 🙂 北京") is None
    assert lone_surrogate("") is None
