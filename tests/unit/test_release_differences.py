"""Differences of configurations: found wherever they are, named as a user would write them."""

import copy
import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.errors import ConfigError
from posbias.release.differences import SHOWN, check_same_config, differences
from posbias.release.nested import dotted, leaves
from posbias.release.unpack import read_manifest
from release_files import CONFIG, release

LEAF = st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab.", max_size=3)
TREE = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", min_size=1,
    max_size=2), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
CONFIGS = st.dictionaries(st.text("xyz", min_size=1, max_size=2), TREE, max_size=4)

BEFORE = {
    "seed": 42,
    "training": {"scale": 20, "options": {"k1": 0.9, "b": None}},
    "panel": [{"name": "bm25", "k1": 0.9}, {"name": "minilm"}],
    "edges": [1, 2, 3],
}


def changed(change):
    after = copy.deepcopy(BEFORE)
    change(after)
    return differences(BEFORE, after)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda c: None, []),
        (lambda c: c.update(seed=43), ["seed"]),
        (lambda c: c["training"]["options"].update(b=0.4), ["training.options.b"]),
        (lambda c: c["panel"][1].update(name="l6"), ["panel[1].name"]),
        (lambda c: c["panel"][0].pop("k1"), ["panel[0].k1"]),
        (lambda c: c["panel"].reverse(), ["panel[0].k1", "panel[0].name", "panel[1].k1",
                                         "panel[1].name"]),
        (lambda c: c["edges"].append(4), ["edges"]),
        (lambda c: c["edges"].clear(), ["edges"]),
        (lambda c: c.pop("training"), ["training"]),
        (lambda c: c["training"].pop("options"), ["training.options"]),
        (lambda c: c.update(new={"deep": {"er": 1}}), ["new"]),
        (lambda c: c.update(seed={"a": 1}, edges=None), ["edges", "seed"]),
        (lambda c: c["training"].update(scale=20.0), []),
        (lambda c: c.update(edges=(1, 2, 3)), []),
        (lambda c: c["edges"].__setitem__(0, True), ["edges[0]"]),
        (lambda c: c["training"]["options"].update(b=False), ["training.options.b"]),
        (lambda c: c.update(seed="42"), ["seed"]),
    ],
)  # fmt: skip
def test_each_change_is_named(change, names):
    assert changed(change) == names


def test_keys_with_dots_are_not_taken_for_others():
    assert differences({"a.b": 1}, {"a": {"b": 1}}) == ["a", "a.b"]


@given(CONFIGS, CONFIGS)
def test_it_is_symmetric_and_finds_any_difference(one, other):
    names = differences(one, other)
    assert names == differences(other, one) == sorted(set(names))
    assert differences(one, copy.deepcopy(one)) == []
    same_leaves = [(p, repr(v)) for p, v in leaves(one)] == [(p, repr(v)) for p, v in leaves(other)]
    if same_leaves:
        assert names == []
    if not names:
        assert sorted(map(repr, leaves(one))) == sorted(map(repr, leaves(other)))


@given(CONFIGS, st.data())
def test_one_changed_leaf_is_the_only_name(config, data):
    places = [(place, value) for place, value in leaves(config) if place]
    if not places:
        return
    place, value = data.draw(st.sampled_from(places))
    after = copy.deepcopy(config)
    inner = after
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = "changed" if not isinstance(value, dict | list) else "x"
    assert differences(config, after) == [dotted(place)]


def test_what_a_drawing_run_must_set_does_not_count():
    after = {**CONFIG, "metrics_from": "released",
             "release": {"archive": "elsewhere.tar.xz", "sha256": "0" * 64}}  # fmt: skip
    assert differences(CONFIG, after) == []
    # Only whole names are left out, not names that begin alike.
    assert differences({"released": 1}, {"released": 2}) == ["released"]


@pytest.mark.parametrize(
    ("ignored", "left"),
    [
        ([], ["edges", "panel[0].k1", "training.options.k1", "training.scale"]),
        (["training"], ["edges", "panel[0].k1"]),
        (["training.options", "edges"], ["panel[0].k1", "training.scale"]),
        (["panel", "edges", "training.scal"], ["training.options.k1", "training.scale"]),
        (["panel[0].k1", "panel[1]"], ["edges", "training.options.k1", "training.scale"]),
    ],
)
def test_given_names_and_all_below_them_do_not_count(ignored, left):
    after = copy.deepcopy(BEFORE)
    after["training"]["scale"] = after["training"]["options"]["k1"] = after["panel"][0]["k1"] = 7
    after["edges"] = []
    assert differences(BEFORE, after, ignored) == left


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    return read_manifest(release(tmp_path_factory.mktemp("made")))


def test_the_config_of_the_release_may_draw_it(manifest):
    check_same_config(manifest, {**CONFIG, "metrics_from": "released"}, "toy.tar.xz")


def test_another_config_is_refused_by_the_names_of_its_keys(manifest):
    other = {**CONFIG, "seed": 43, "training": {**CONFIG["training"], "epochs": 3}}
    check_same_config(manifest, other, "toy.tar.xz", ["seed", "training.epochs"])
    with pytest.raises(ConfigError) as fault:
        check_same_config(manifest, other, "toy.tar.xz")
    told = str(fault.value)
    assert told.startswith("toy.tar.xz: made with another configuration, of the toy scale.")
    assert "Keys that differ: seed, training.epochs. Draw its figures" in told


def test_of_many_keys_some_are_named_and_the_rest_counted(manifest):
    held = dataclasses.replace(manifest, config={f"k{n:02d}": n for n in range(SHOWN + 5)})
    with pytest.raises(ConfigError, match=rf"k00, .*k{SHOWN - 1} and 5 more\. Draw"):
        check_same_config(held, {}, "toy.tar.xz")
