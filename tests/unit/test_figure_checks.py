"""What figures show and analyses read is checked before anything runs."""

import copy

import pytest

from config_changes import changed
from config_checks import check_consistency
from posbias.errors import ConfigError


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("figures.fine", "wiki_fin", "figures.fine: 'wiki_fin' does not exist.*'wiki_fine'"),
        ("figures.fine", "wiki_leads", "figures.fine: 'wiki_leads' has no psi_groups"),
        ("figures.fine", "wiki_heldout", "figures.fine: 'wiki_heldout' has no bins"),
        ("figures.position_curves", ["wiki_leads"], "position_curves: 'wiki_leads' has no psi"),
        ("figures.standard", ["fever"], "figures.standard: 'fever' does not exist"),
        ("figures.reversed", "wiki_heldout", "'wiki_heldout' is no reversed copy of 'wiki_fine'"),
        ("benchmarks.known.wiki_reversed.files", [], "wiki_reversed.files: .*name just it"),
        ("benchmarks.known.wiki_reversed.files", ["x"], "wiki_reversed.files: 'x' does not exist"),
        ("benchmarks.known.wiki_reversed.files", ["wiki_reversed"], "is reversed itself"),
        ("benchmarks.known.wiki_reversed.options", {"segments": 4}, "in 4 segments, .* of 5"),
        ("benchmarks.known.wiki_reversed.retrievers", ["bert"], "need the same retrievers"),
        ("benchmarks.known.wiki_reversed.groups", {"thirds": {}, "bins": {"count": 10}}, "zones"),
        ("analyses.pooling.retriever", "bertt", "pooling.retriever: 'bertt' does not.*'bert'"),
        ("analyses.segments.benchmark", "squad", "segments.benchmark: 'squad' does not exist"),
        ("analyses.segments.pair", ["gpt3"], "segments.pair: 'gpt3' does not.*'gpt2'"),
        ("analyses.evidence_moving.short", ["gpt3"], "evidence_moving.short: 'gpt3'"),
        ("analyses.evidence_moving.pairs", "msmarco", "pairs: 'msmarco' does not exist"),
        ("analyses.evidence_moving.known.wiki.kind", "wiki", "known.wiki: kind 'wiki' is not one"),
        ("analyses.evidence_moving.known.wiki.files", ["fever"], "wiki.files: 'fever' does not"),
        ("analyses.audit.judge", "gpt", "audit.judge: 'gpt' does not exist"),
        ("analyses.audit.judges.words.kind", "word", "words.kind: 'word' does not.*'words'"),
        ("analyses.evidence_places.wiki_leads.kind", "word", "wiki_leads: kind 'word'"),
        ("analyses.evidence_places.wiki_leads.options", {"least": 1}, "wiki_leads.options.*least"),
        ("comparison.retrievers.BERT-base", "bart", "comparison.retrievers: 'bart'.*'bert'"),
        ("comparison.retrievers.BERT-base", "gpt2", "comparison.retrievers: 'gpt2' stands twice"),
        ("comparison.benchmarks.FEVER", "wiki_lead", "comparison.benchmarks: .*'wiki_leads'"),
    ],
)
def test_a_fault_is_named_with_its_place(config, path, value, message):
    with pytest.raises(ConfigError, match=message):
        check_consistency(changed(config, path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("figures.fine", None),
        ("figures.reversed", None),
        ("figures.standard", []),
        ("comparison.retrievers.BERT-base", None),
        ("benchmarks.selected", ["wiki_heldout"]),
        ("retrievers.selected", ["bert"]),
    ],
)
def test_a_run_may_leave_parts_out(config, path, value):
    check_consistency(changed(config, path, value))


def test_only_what_is_asked_of_a_benchmark_that_is_not_run_is_a_fault(config):
    alone = copy.deepcopy(config)
    alone["benchmarks"]["selected"] = ["wiki_heldout", "wiki_reversed"]
    with pytest.raises(ConfigError, match=r"wiki_reversed.files: 'wiki_fine' does not exist"):
        check_consistency(alone)
