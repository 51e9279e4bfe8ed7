"""That a run repeats in another copy, and what a changed value or file reruns."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from runs import (
    DATA_TABLES,
    LISTWISE_FIGURES,
    RESULTS,
    RETRIEVER_CURVES,
    RETRIEVER_TABLES,
    differences,
    fail,
    hashes,
    jobs,
    lent_copy,
    snakemake,
    succeed,
    write_overlay,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

REPEATED = ("psi_table", "segment_cosine", "evidence_moving", "audit_table", "evidence_places")
EVALUATION = f"{RESULTS}/listwise/evaluation"
LISTWISE_DRAWN = {f"make_{name}": 1 for name in LISTWISE_FIGURES}
# Figures of the retriever study that measures of retrievers are drawn in, and the others.
OF_MEASURES = {
    **{f"make_{name}": 1 for name in (*RETRIEVER_TABLES, *RETRIEVER_CURVES)},
    "make_psi_table_of": 2,
    "compare_with_paper": 1,
}
del OF_MEASURES["make_truncation"]
OF_DATA = {f"make_{name}": 1 for name in (*DATA_TABLES, "truncation_table", "evidence_places")}
# A run's record and checklist come after all measures.
RECORDED = {"gather_provenance": 1, "make_checklist": 1}
# A figure's footer holds the hash of the whole configuration.
DRAWN = {**OF_MEASURES, **OF_DATA, **LISTWISE_DRAWN, **RECORDED, "all": 1}
JUDGED = {"judge_claims": 1, "check_expected": 1}
LAST = {**DRAWN, **JUDGED}
# Two retrievers on four benchmarks, and one with another way of pooling on one of them.
TRAINED = {
    "train_retriever": 8 + 4,
    "search_corpus": 2 * 4 + 1,
    "evaluate_retriever": 2 * 4 + 1,
    "describe_retriever": 2,
    "measure_segments": 2,
    "measure_evidence_moving": 2,
}
# Its whole entry decides what it reads, so that its truncation is measured again too.
ONE_TRAINED = {
    "train_retriever": 4 + 4,
    "measure_truncation": 1,
    "search_corpus": 4 + 1,
    "evaluate_retriever": 4 + 1,
    "describe_retriever": 1,
    "measure_segments": 1,
    "measure_evidence_moving": 1,
}
SUMMARISED = {"summarise_listwise": 1, **JUDGED}
# Of the seven rerankers four are trained with IPS; the reference is evaluated and not trained.
RERANKED = {
    "train_reranker": 7,
    "estimate_propensity": 1,
    "evaluate_slots": 7,
    "evaluate_orders": 7,
    "evaluate_permutations": 2,
    **SUMMARISED,
}
WITH_IPS = {
    "train_reranker": 4,
    "evaluate_slots": 4,
    "evaluate_orders": 4,
    "evaluate_permutations": 1,
    **SUMMARISED,
}


def test_another_copy_gives_the_same_bytes(reference, fresh):
    """A figure of every kind of measure, and the reranker that uses every part of a training."""
    targets = [f"figures/{name}.pdf" for name in REPEATED]
    targets += [f"{EVALUATION}/{kind}/debiasfirst.parquet" for kind in ("slots", "permutations")]
    succeed(fresh, *snakemake(*targets))
    made = hashes(fresh, RESULTS, "figures").keys()
    assert {name for name in targets if name not in made} == set()
    assert [name for name in differences(reference, fresh) if name in made] == []


CHANGED = {
    "delta": (
        "verification: {delta: 0.31}",
        {
            "filter_candidates": 1,
            "balance_settings": 1,
            "measure_truncation": 2,
            **TRAINED,
            **LAST,
        },
    ),
    "epochs": ("training: {epochs: 2}", {**TRAINED, **LAST}),
    "learning rate": (
        "retrievers: {known: {bert: {learning_rate: 0.001}}}",
        {**ONE_TRAINED, **LAST},
    ),
    "label": (
        "retrievers: {known: {bert: {label: B}}}",
        {**ONE_TRAINED, **LAST},
    ),
    "level": (
        "evaluation: {level: 0.9}",
        {
            "evaluate_retriever": 9,
            "evaluate_reference": 8,
            "measure_segments": 2,
            "measure_evidence_moving": 2,
            "audit_queries": 1,
            **LAST,
        },
    ),
    "tolerance": ("claims: {mean_tolerance: 0.01}", {"judge_claims": 1, **DRAWN}),
    "rerankers' learning rate": (
        "listwise: {training: {learning_rate: 0.02}}",
        {**RERANKED, **DRAWN},
    ),
    "cap": ("listwise: {ips: {cap: 5.0}}", {**WITH_IPS, **DRAWN}),
    "listwise level": ("listwise: {evaluation: {level: 0.9}}", {**SUMMARISED, **DRAWN}),
    "slots": (
        "listwise: {evaluation: {slots: {queries: 29}}}",
        {"evaluate_slots": 8, **SUMMARISED, **DRAWN},
    ),
}


@pytest.fixture(scope="module")
def planned(reference, tmp_path_factory):
    """What a run would do after each change, two dry runs at a time: each takes one core."""
    with lent_copy(reference, tmp_path_factory.mktemp("changed") / "checkout") as copy:

        def dry(name: str) -> dict[str, int]:
            file = f"{name.replace(' ', '_')}.yaml"
            overlay = write_overlay(copy, CHANGED[name][0], file)
            return jobs(succeed(copy, *snakemake("-n", overlays=(overlay,))))

        with ThreadPoolExecutor(2) as pool:
            yield dict(zip(CHANGED, pool.map(dry, CHANGED), strict=True))


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_value_reruns_what_depends_on_it(planned, name):
    assert planned[name] == CHANGED[name][1]


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("training/card.py", {**TRAINED, **OF_MEASURES, **JUDGED, **RECORDED, "all": 1}),
        (
            "listwise/slots.py",
            {"evaluate_slots": 8, **SUMMARISED, **LISTWISE_DRAWN, **RECORDED, "all": 1},
        ),
    ],
)
def test_an_edited_library_file_reruns_what_uses_it(finished, module, expected):
    library = finished / "workflow/scripts/posbias" / module
    library.write_text(library.read_text("utf-8") + "\n# A comment.\n", encoding="utf-8")
    found = jobs(succeed(finished, *snakemake("-n")))
    # The causal graph is drawn from no measures.
    assert found == {n: jobs for n, jobs in expected.items() if n != "make_listwise_causal_graph"}


def test_what_a_failed_job_should_have_made_is_made_by_the_next_run(finished):
    """Older files that depend on it exist; they must not be taken for those of the new values."""
    change = write_overlay(finished, "balance: {least: 100000}")
    fail(finished, *snakemake("figures/psi_table.pdf", overlays=(change,)))
    planned = jobs(succeed(finished, *snakemake("-n", "figures/psi_table.pdf", overlays=(change,))))
    assert planned["balance_settings"] == 1 and planned["train_retriever"] == 8
