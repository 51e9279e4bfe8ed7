"""What is wrong with the listwise study's configuration is told in one line, with a remedy."""

import pytest

from config_changes import changed
from config_checks import check_consistency
from posbias.errors import ConfigError

DEPTHS = "evaluation.permutations.depths"
LEADS = {"source": "leads", "min_chars": 100, "max_chars": 200, "limit": 10}
FUSION = "first_stages.rrf.options"


def changed_study(config: dict, changes: dict[str, object]) -> dict:
    """Return a copy of the config with values of its listwise block set, in their order."""
    for path, value in changes.items():
        config = changed(config, f"listwise.{path}", value)
    return config


@pytest.mark.parametrize(
    ("path", "value", "near"),
    [
        ("collections.wiki.corpus", "helout", "heldout"),
        ("train_collection", "trian", "train"),
        ("test_collections", ["wiki", "lead"], "leads"),
        ("main_stage", "minilm_13", "minilm_l3"),
        ("training_stage", "bm52", "bm25"),
        ("first_stages.rrf.options.of", ["bm25", "minilm_l33"], "minilm_l3"),
        ("first_stages.minilm_l3.options.encoder", "minilm_l5", "minilm_l"),
        ("teacher.2.options.encoder", "minilm", "minilm_l"),
        ("roles.baseline", "frist", "first"),
        ("roles.proposed", "debiasfrist", "debiasfirst"),
        ("evaluation.slots.collection", "wikis", "wiki"),
        ("evaluation.permutations.collections", ["wiki", "title"], "titles"),
    ],
)
def test_a_name_that_does_not_exist_comes_with_the_nearest_that_does(config, path, value, near):
    with pytest.raises(ConfigError) as caught:
        check_consistency(changed_study(config, {path: value}))
    message = str(caught.value)
    assert message.startswith("config, listwise.") and path.removeprefix("teacher.2.") in message
    assert f"Did you mean '{near}" in message and "Known: " in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test_collections": ["wiki", "train"]}, "'train' is the train_collection"),
        ({"collections.wiki.corpus": "train"}, "test_collections: wiki: searched in the passages"),
        ({"corpora.heldout.split": "train"}, "test_collections: wiki: searched in the passages"),
        (
            {"corpora.heldout": LEADS, "collections.train.corpus": "leads"},
            "test_collections: wiki, leads, titles: searched in the passages",
        ),
        ({"collections.titles.corpus": "heldout"}, "collections.titles: titles ask for lead"),
        ({"corpora.leads.min_chars": 448}, "corpora.leads: min_chars 448 exceeds max_chars 447"),
        ({"collections.wiki.label": "lead sections"}, "label: 'lead sections' stands twice"),
    ],
)
def test_what_is_tested_on_is_apart_from_what_is_trained_on(config, changes, message):
    with pytest.raises(ConfigError, match=message):
        check_consistency(changed_study(config, changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stride": 21}, "listwise.stride: 21 exceeds the window of 20"),
        ({"depth": 19}, "listwise.window: 20 exceeds depth 19"),
        ({"cutoff": 101}, "listwise.cutoff: 101 exceeds depth 100"),
        (
            {f"{DEPTHS}.0.depth": 30, f"{DEPTHS}.0.aggregates": ["borda"]},
            "add an entry of depth 20",
        ),
        ({f"{DEPTHS}.1.depth": 101}, "depths: 101 exceeds depth 100"),
        ({f"{DEPTHS}.1.depth": 20}, "depths: 20 stands twice"),
        ({f"{DEPTHS}.1.aggregates": ["borda", "kemeny"]}, "kemeny is exact.*not for 100"),
        ({"window": 5, "stride": 3}, "none of .20, 100. is a single window"),
    ],
)
def test_windows_and_depths_fit_into_each_other(config, changes, message):
    with pytest.raises(ConfigError, match=message):
        check_consistency(changed_study(config, changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({FUSION: {"k": 60}}, "rrf.options: missing a required argument: 'of'"),
        ({FUSION: {"of": ["bm25"]}}, "rrf.options: missing a required argument: 'k'"),
        ({f"{FUSION}.of": "bm25"}, "rrf.options.of: 'bm25' is no list of first stages"),
        ({f"{FUSION}.of": []}, "rrf.options.of: .* is no list of first stages"),
        ({f"{FUSION}.of": [1]}, "rrf.options.of: 1 does not exist"),
        ({f"{FUSION}.of": ["rrf"]}, "rrf.options.of: rrf must stand before the fusion"),
        (
            {
                "first_stages.bm25": {
                    "label": "A",
                    "kind": "fusion",
                    "options": {"of": ["rrf"], "k": 1},
                }
            },
            "bm25.options.of: rrf must stand before the fusion",
        ),
        (
            {"first_stages.minilm_l3.options": {}},
            "first_stages.minilm_l3.options: missing .* 'encoder'",
        ),
        ({"teacher.1.options": {}}, "teacher.minilm_l3.options: missing .* 'encoder'"),
        ({"teacher.0.options.k2": 1}, "teacher.bm25.options: .*'k2'; its options: backend, k1, b"),
        ({"first_stages.bm25.options": {}}, "first_stages.bm25.options: missing .* 'backend'"),
        ({"teacher.1.name": "bm25"}, "teacher, name: 'bm25' stands twice"),
        ({"first_stages.rrf.label": "BM25"}, "first_stages, label: 'BM25' stands twice"),
        ({"embedding.encoders": ["minilm_l6"]}, "scorer.encoders: 'minilm_l3' does not exist"),
        (
            {"embedding.encoders": ["minilm_l6"], "scorer.encoders": ["minilm_l6"]},
            "minilm_l3.options.encoder: 'minilm_l3' does not exist",
        ),
    ],
)
def test_searches_have_what_they_search_with(config, changes, message):
    with pytest.raises(ConfigError, match=message):
        check_consistency(changed_study(config, changes))


LANGUAGE_MODEL = {"scorer.kind": "causal_lm", "scorer.model": "smollm2", "scorer.options": {}}
WINDOWS_OF_27 = {"window": 27, f"{DEPTHS}.0": {"depth": 27, "aggregates": ["borda"]}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scorer.kind": "causal_lm"}, "scorer.model: causal_lm starts from a language model"),
        ({"scorer.model": "smollm2"}, "scorer.model: passage_embedding starts from no model"),
        ({"scorer.options.largest_window": 19}, "largest_window: 19 leaves no room .* of 20"),
        ({"scorer.options.largest_window": "x"}, "largest_window: 'x' leaves no room"),
        ({**LANGUAGE_MODEL, **WINDOWS_OF_27}, "window: 27 passages, and causal_lm has 26 letters"),
    ],
)
def test_the_scorer_can_take_a_window(config, changes, message):
    with pytest.raises(ConfigError, match=message):
        check_consistency(changed_study(config, changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"augmentation": {"none": 1, "random": 1}},
            "posaug.augmentation: 'rotation' does not exist",
        ),
        ({"models.first.ips": True}, "roles.baseline: 'first' is trained with IPS"),
        ({"roles.proposed": "first"}, "roles: 'first' is both baseline and proposed"),
        ({"models.posaug.label": "FIRST"}, "references, label: 'FIRST' stands twice"),
        ({"references.cosine.label": "FIRST"}, "references, label: 'FIRST' stands twice"),
        ({"references": {"first": {"label": "x"}}}, "references, name: 'first' stands twice"),
        ({"references": {"first_stage": {"label": "x"}}}, "name 'first_stage' is taken"),
    ],
)
def test_models_are_told_apart_and_have_their_roles(config, changes, message):
    with pytest.raises(ConfigError, match=message):
        check_consistency(changed_study(config, changes))


def test_a_model_must_not_take_the_first_stages_name(config):
    model = {**config["listwise"]["models"]["first"], "label": "x"}
    with pytest.raises(ConfigError, match="name 'first_stage' is taken"):
        check_consistency(changed_study(config, {"models.first_stage": model}))


def test_first_and_last_slots_do_not_overlap(config):
    check_consistency(changed(config, "claims.first_slots", 10))
    with pytest.raises(
        ConfigError, match=r"claims.first_slots: 11 first and 11 last slots overlap"
    ):
        check_consistency(changed(config, "claims.first_slots", 11))


@pytest.mark.parametrize(
    "changes",
    [
        LANGUAGE_MODEL,
        {"stride": 20},
        {"cutoff": 100},
        {"depth": 100, f"{DEPTHS}.1.depth": 40},
        {"corpora.leads.min_chars": 447},
        {"test_collections": ["wiki", "leads"]},
        {f"{FUSION}.of": ["bm25"]},
    ],
)
def test_other_right_values_are_taken(config, changes):
    check_consistency(changed_study(config, changes))
