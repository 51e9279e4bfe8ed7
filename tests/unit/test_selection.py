"""Which retrievers a run is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import ConfigError
from selection import select

KNOWN = {"bert": {}, "longformer": {}, "modernbert_base": {}, "qwen3": {}}


def chosen(selected):
    return select("retrievers", {"selected": selected, "known": KNOWN})


def test_all_of_them():
    assert chosen("all") == list(KNOWN)


@given(st.lists(st.sampled_from(list(KNOWN)), min_size=1))
def test_the_order_is_that_of_the_config_and_nothing_twice(selected):
    assert chosen(selected) == [name for name in KNOWN if name in selected]


@pytest.mark.parametrize(
    ("name", "near"), [("modernbert", "modernbert_base"), ("bret", "bert"), ("Qwen3", "qwen3")]
)
def test_a_wrong_name_comes_with_the_nearest_one(name, near):
    with pytest.raises(ConfigError) as caught:
        chosen(["bert", name])
    assert f"retrievers.selected: {name!r} does not exist. Did you mean {near!r}?" in str(
        caught.value
    )
    assert "Known: bert, longformer, modernbert_base, qwen3." in str(caught.value)


def test_a_name_like_no_other_comes_with_the_known_ones_only():
    with pytest.raises(ConfigError) as caught:
        chosen(["zzzzzz"])
    assert "Did you mean" not in str(caught.value)
    assert "Known: bert" in str(caught.value)


def test_the_configured_selection_is_valid(config):
    assert select("retrievers", config["retrievers"]) == list(config["retrievers"]["known"])
