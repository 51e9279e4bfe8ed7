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
        ("analyses.audit.judges.words.kind", "word", "judges.words: kind 'word' does not exist"),
        ("analyses.evidence_places.wiki_leads.kind", "word", "wiki_leads: kind 'word'"),
        ("analyses.evidence_places.wiki_leads.options", {"least": 1}, "wiki_leads.options.*least"),
        ("comparison.retrievers.BERT-base", "bart", "comparison.retrievers: 'bart'.*'bert'"),
        ("comparison.retrievers.BERT-base", "gpt2", "comparison.retrievers: gpt2 stands for two"),
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
    with pytest.raises(ConfigError, match=r"wiki_reversed.files: 'wiki_fine' is not among"):
        check_consistency(alone)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("figures.fine", "", "figures.fine: '' does not exist"),
        ("analyses.evidence_moving.known.wiki.files", [], "wiki.files: .*name just it"),
        ("analyses.evidence_moving.known.wiki.files", ["wiki_leads"], "does not say where its ev"),
        ("analyses.audit.judges.words.options", {"least_share": 2}, "words.options: least_share"),
        ("analyses.audit.judges.words.options", {"least": 0.5}, "words.options.*least"),
        ("analyses.audit.judges.more", {"kind": "openai", "options": {}}, "more.options"),
        ("analyses.audit.judges.more", {"kind": "local_lm", "options": {}}, "names no model"),
        ("analyses.evidence_places.wiki_leads", {"kind": "fever", "files": [], "options": {}},
         "wiki_leads.files: empty"),
        ("benchmarks.known.wiki_reversed.files", ["wiki_leads"], "knows of no positions"),
        ("benchmarks.known.wiki_fine.groups.zones.at_each_end", 3, "zones: 3 segments at each end"),
        ("benchmarks.known.wiki_leads.options.min_chars", 500, "min_chars exceeds max_chars"),
        ("comparison.retrievers.BART", None, None),
        ("comparison.retrievers.BART", "bert", "retrievers"),
        ("comparison.benchmarks.Nothing", "wiki_leads", "Nothing"),
        ("comparison.tolerance.ndcg.near", 0.0, "tolerance.ndcg: equal and near must rise"),
    ],
)  # fmt: skip
def test_what_a_late_job_would_stumble_over_is_refused_at_once(config, path, value, message):
    wrong = changed(config, path, value)
    if message is None:
        check_consistency(wrong)
        return
    with pytest.raises(ConfigError, match=message):
        check_consistency(wrong)


def test_what_is_known_but_not_selected_is_said_to_be_so(config):
    alone = changed(config, "benchmarks.selected", ["wiki_fine"])
    alone = changed(alone, "benchmarks.main", "wiki_fine")
    with pytest.raises(ConfigError, match=r"'wiki_heldout' is not among those selected"):
        check_consistency(alone)
