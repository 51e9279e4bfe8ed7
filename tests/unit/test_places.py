"""Names of models and data stand for folders: packaged, downloaded, or the user's own."""

import pytest

from places import models_of, place_of
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
