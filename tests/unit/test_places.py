"""Names of models and data stand for folders: packaged, downloaded, or the user's own."""

import pytest

from places import files_below, models_of, place_of, size_below
from posbias.errors import ConfigError

DOWNLOADS = {"bert_base": {}, "squad": {}}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("minilm_l3", "<results>/encoders/minilm_l3"),
        ("smollm2", "<results>/language_models/smollm2"),
        ("bert_base", "downloads/bert_base"),
        ("data/my.jsonl", "data/my.jsonl"),
        ("/models/own", "/models/own"),
        ("./own", "./own"),
    ],
)
def test_a_name_stands_for_one_place(name, place):
    assert place_of("somewhere", name, DOWNLOADS) == place


def test_a_name_of_nothing_comes_with_its_place_and_the_nearest_one():
    with pytest.raises(
        ConfigError, match=r"config, a\.b: 'bert' .*mean 'bert_base'.*Known: minilm"
    ):
        place_of("a.b", "bert", DOWNLOADS)


def test_models_are_those_that_options_name_each_once():
    entries = [
        {"kind": "bm25", "options": {"k1": 1}},
        {"kind": "cosine", "options": {"model": "minilm_l6"}},
        {"kind": "cross_encoder", "options": {"model": "bert_base", "code": "squad"}},
        {"kind": "cosine", "options": {"model": "minilm_l6"}},
        {"kind": "openai", "options": {"model": "gpt-4o-mini"}},
    ]
    assert models_of(entries) == ["minilm_l6", "bert_base", "squad"]


def test_a_users_folder_is_named_by_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/deep").mkdir(parents=True)
    (tmp_path / "data/deep/b.txt").write_text("bb")
    (tmp_path / "data/a.txt").write_text("a")
    (tmp_path / "downloads/x").mkdir(parents=True)
    (tmp_path / "downloads/x/a.txt").write_text("made by a rule")
    assert files_below("./data") == ["data/a.txt", "data/deep/b.txt"]
    for made in ("downloads/x", "<results>/encoders/minilm_l6", "data", "data/a.txt", ""):
        assert files_below(made) == []
    assert size_below("data") == 3 and size_below("nowhere") == 0


def test_a_path_without_a_slash_is_told_how_to_write_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mydata").mkdir()
    with pytest.raises(ConfigError, match=r"'mydata' is a path; write it as '\./mydata'"):
        place_of("benchmarks.known.own.files", "mydata", DOWNLOADS)
