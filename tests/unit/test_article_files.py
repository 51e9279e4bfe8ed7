"""Where the files of a table of articles are looked for, and what is refused."""

from pathlib import Path

import pytest

from posbias.corpus.tables import find_tables
from posbias.errors import ConfigError


def touch(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return [folder / name for name in names]


def test_files_come_in_the_order_of_their_names_and_once(tmp_path):
    b, a, c = touch(tmp_path, "en/b.parquet", "en/a.parquet", "fr/c.parquet")
    touch(tmp_path, "en/readme.md")
    (tmp_path / "en/d.parquet").mkdir()  # a folder is no file
    assert find_tables(["en/*.parquet"], [tmp_path]) == [a, b]
    assert find_tables(["en/b.parquet", "**/*.parquet", str(a)], [tmp_path]) == [a, b, c]
    assert find_tables([f"{tmp_path}/*/?.parquet"], []) == [a, b, c]


def test_where_a_folder_is_given_the_working_directory_is_not_looked_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (fetched,) = touch(tmp_path / "downloads/wiki", "a.parquet")
    touch(tmp_path, "a.parquet", "only_here.parquet")
    folder = tmp_path / "downloads/wiki"
    assert find_tables(["*.parquet"], [folder]) == [fetched]
    for pattern in ("only_*.parquet", "only_here.parquet"):
        with pytest.raises(ConfigError) as caught:
            find_tables([pattern], [folder])
        assert f"no file matches {pattern!r} in {folder};" in str(caught.value)
    assert find_tables(["*.parquet"], []) == [Path("a.parquet"), Path("only_here.parquet")]


@pytest.mark.parametrize("place", ["gone", "a.parquet"])
def test_a_place_that_is_no_folder_is_named(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    touch(tmp_path, "a.parquet")
    with pytest.raises(ConfigError, match=f"{place} is no folder; name the one that holds"):
        find_tables(["*.parquet"], [tmp_path / place])


def test_of_several_folders_the_first_with_a_match_gives_the_files(tmp_path):
    first, only = touch(tmp_path, "one/a.parquet", "two/b.parquet")
    touch(tmp_path, "two/a.parquet")
    places = [tmp_path / "one", tmp_path / "two"]
    assert find_tables(["a.parquet"], places) == [first]
    assert find_tables(["b.parquet"], places) == [only]
    with pytest.raises(ConfigError, match=f"in {places[0]}, {places[1]};"):
        find_tables(["c.parquet"], places)


def test_a_name_with_signs_of_a_pattern_stands_for_itself(tmp_path):
    (path,) = touch(tmp_path, "part[1].jsonl")
    assert find_tables(["part[1].jsonl"], [tmp_path]) == [path]


@pytest.mark.parametrize(
    "pattern", ["*.parquet", "no/where.parquet", "/no/where/*.parquet", "**x/"]
)
def test_a_pattern_without_files_is_named(tmp_path, pattern):
    touch(tmp_path, "a.csv")
    with pytest.raises(ConfigError) as caught:
        find_tables([pattern], [tmp_path])
    assert repr(pattern) in str(caught.value)


def test_every_pattern_must_have_a_file(tmp_path):
    touch(tmp_path, "a.parquet")
    with pytest.raises(ConfigError, match=r"no file matches 'b\*\.parquet' in"):
        find_tables(["a.parquet", "b*.parquet"], [tmp_path])


def test_files_of_two_kinds_are_named(tmp_path):
    touch(tmp_path, "a.parquet", "b.parquet", "c.jsonl", "d.jsonl.gz")
    with pytest.raises(ConfigError, match=r"b\.parquet and .*d\.jsonl\.gz are of two kinds"):
        find_tables(["*.*"], [tmp_path])
    assert len(find_tables(["*.jsonl*"], [tmp_path])) == 2


def test_a_suffix_that_nothing_reads_is_named(tmp_path):
    touch(tmp_path, "a.parquet", "b.csv")
    with pytest.raises(ConfigError, match=r"b\.csv is none of \.parquet, \.jsonl, \.jsonl\.gz"):
        find_tables(["*"], [tmp_path])
