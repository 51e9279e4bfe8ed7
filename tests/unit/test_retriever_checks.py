"""Choices of the retriever study that exclude each other are named before anything runs."""

import copy

import pytest
import yaml
from snakemake.utils import update_config

from config_changes import changed
from config_checks import check_consistency, check_schema
from posbias.errors import ConfigError

ASKING = {
    "generator": "lm",
    "personas": None,
    "generators": {"lm": {"kind": "local_lm", "options": {"model": "smollm2"}}},
}
PERSONAS = {"source": "own", "encoder": "minilm_l6", "nearest": 3, "batch_size": 8, "max_tokens": 9}


def with_second_benchmark(config, **other):
    """Return the config with a second, selected benchmark, changed as told."""
    known = config["benchmarks"]["known"]
    more = {**known, "second": {**known["wiki_heldout"], "label": "second", **other}}
    return changed(changed(config, "benchmarks.known", more), "benchmarks.selected", "all")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("documents.articles", "enwiki", "documents.articles: 'enwiki' .*mean 'enwiki_dump'"),
        ("article_sources.enwiki_dump.asset", "wiki", "asset: 'wiki' does not exist"),
        ("queries.generator", "close", "queries.generator: 'close' .*mean 'cloze'"),
        ("queries", ASKING, "queries.personas: null, but the generator 'lm' asks"),
        ("verification.panel.1.options", {}, "panel.minilm_l3.options: names no model"),
        ("verification.panel.1.options.model", "l3", r"panel.minilm_l3.options.model: 'l3'"),
        ("references.1.options.model", "l6", r"references.minilm_l6.options.model: 'l6'"),
        ("benchmarks.main", "squad", "benchmarks.main: 'squad' does not exist"),
        ("benchmarks.known.wiki_heldout.psi_groups", None, "main: .* has no psi_groups"),
        ("benchmarks.selected", ["squad"], "benchmarks.selected: 'squad' does not exist"),
        ("benchmarks.known.wiki_heldout.psi_groups", "bins", "'bins' is none of its groups"),
        ("benchmarks.known.wiki_heldout.groups.characters.edges", [0, 5, 5], "must rise strictly"),
        ("benchmarks.known.wiki_heldout.retrievers", ["brt"], "retrievers: 'brt' .*mean 'bert'"),
        ("benchmarks.known.wiki_heldout.kind", "squid", "wiki_heldout.*'squid'.*squad"),
        ("benchmarks.known.wiki_heldout.options", {"sampel": 3}, "options: .*queries_per_position"),
        ("benchmarks.known.wiki_heldout.files", ["squad"], "files: 'squad' does not exist"),
        ("documents.heldout_share", 0, "heldout_share: 0, but a cut by sentences"),
        ("references.0.benchmarks", ["squad"], "references.bm25.benchmarks: 'squad'"),
    ],
)
def test_a_fault_is_named(config, path, value, message):
    with pytest.raises(ConfigError, match=message):
        check_consistency(changed(config, path, value))


def test_a_benchmark_of_held_out_articles_needs_some(config):
    whole = changed(changed(config, "documents.cut", "whole"), "documents.heldout_share", 0)
    with pytest.raises(
        ConfigError, match=r"made of held-out articles, but documents.heldout_share"
    ):
        check_consistency(whole)


def test_a_generator_with_personas_is_taken(config):
    queries = {**ASKING, "personas": PERSONAS}
    check_consistency(changed(config, "queries", queries))
    with pytest.raises(ConfigError, match=r"personas\.source: 'hub' does not exist"):
        check_consistency(
            changed(config, "queries", {**queries, "personas": {**PERSONAS, "source": "hub"}})
        )


def test_benchmarks_that_share_a_corpus_must_agree(config):
    shared = changed(config, "benchmarks.known.wiki_heldout.corpus", "wikipedia")
    check_consistency(with_second_benchmark(shared))
    with pytest.raises(ConfigError, match="1, 2 shards"):
        check_consistency(with_second_benchmark(shared, shards=2))
    with pytest.raises(ConfigError, match="is the name of a benchmark"):
        check_consistency(with_second_benchmark(shared, corpus="wiki_heldout"))


def test_the_main_benchmark_is_run_and_read_by_someone(config):
    known = config["benchmarks"]["known"]
    more = {**known, "second": {**known["wiki_heldout"], "retrievers": ["qwen3"]}}
    two = changed(changed(config, "benchmarks.known", more), "benchmarks.main", "second")
    with pytest.raises(ConfigError, match=r"'second' is not among benchmarks\.selected"):
        check_consistency(changed(two, "benchmarks.selected", ["wiki_heldout"]))
    both = changed(two, "benchmarks.selected", "all")
    check_consistency(both)
    with pytest.raises(ConfigError, match=r"none of the selected .*'second'; select one of qwen3"):
        check_consistency(changed(both, "retrievers.selected", ["bert"]))


def test_a_table_of_psi_needs_thirds(config):
    groups = {"characters": {"edges": [0, 9]}}
    other = changed(config, "benchmarks.known.wiki_heldout.groups", groups)
    with pytest.raises(ConfigError, match="groups: no thirds, which say what"):
        check_consistency(changed(other, "benchmarks.known.wiki_heldout.psi_groups", "characters"))


def test_without_held_out_documents_there_is_no_listwise_study(config):
    whole = changed(changed(config, "documents.cut", "whole"), "documents.heldout_share", 0)
    squad = changed(whole, "benchmarks.known.wiki_heldout.kind", "squad")
    empty = changed(squad, "benchmarks.known.wiki_heldout.options", {})
    empty = changed(empty, "benchmarks.selected", ["wiki_heldout"])
    with pytest.raises(ConfigError, match=r"listwise\.corpora\.heldout: .*out of studies"):
        check_consistency(empty)
    check_consistency(changed(empty, "studies", ["retriever"]))


def test_only_selected_retrievers_need_labels_of_their_own(config):
    known = config["retrievers"]["known"]
    more = {**known, "other": {**known["bert"], "label": "BERT"}}
    twice = changed(config, "retrievers.known", more)
    with pytest.raises(ConfigError, match="label: 'BERT' stands twice"):
        check_consistency(twice)
    check_consistency(changed(twice, "retrievers.selected", ["other", "qwen3"]))


@pytest.mark.parametrize("scales", [("paper",), ("smol",), ("smol", "smol_questions")])
def test_every_scale_is_a_valid_overlay(root, config, scales):
    merged = copy.deepcopy(config)
    for scale in scales:
        update_config(merged, yaml.safe_load((root / f"config/{scale}.yaml").read_text("utf-8")))
    check_schema(merged, root / "workflow/schemas/config.schema.yaml")
    check_consistency(merged)
