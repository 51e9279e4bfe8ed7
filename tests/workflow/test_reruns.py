"""That a run repeats in another copy, and what a changed value or file reruns."""

import pytest
from runs import (
    LISTWISE_FIGURES,
    MEASURED_FIGURES,
    RESULTS,
    RETRIEVER_FIGURES,
    differences,
    hashes,
    jobs,
    snakemake,
    succeed,
    write_overlay,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

EVALUATION = f"{RESULTS}/listwise/evaluation"
LISTWISE_DRAWN = {f"make_{name}": 1 for name in LISTWISE_FIGURES}
RETRIEVERS_DRAWN = {f"make_{name}": 1 for name in (*MEASURED_FIGURES, "truncation_table")}
# A figure's footer holds the hash of the whole configuration.
DRAWN = {**RETRIEVERS_DRAWN, **LISTWISE_DRAWN, "all": 1}
JUDGED = {"judge_claims": 1, "check_expected": 1}
LAST = {**DRAWN, **JUDGED}
TRAINED = {"train_retriever": 8, "search_corpus": 2, "evaluate_retriever": 2}
# Its whole entry decides what it reads, so that its truncation is measured again too.
ONE_TRAINED = {
    "train_retriever": 4,
    "measure_truncation": 1,
    "search_corpus": 1,
    "evaluate_retriever": 1,
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
    """All of the retriever study, and the reranker that uses every part of a training."""
    targets = [f"figures/{name}.pdf" for name in RETRIEVER_FIGURES]
    targets += [f"{EVALUATION}/{kind}/debiasfirst.parquet" for kind in ("slots", "permutations")]
    succeed(fresh, *snakemake(*targets))
    made = hashes(fresh, RESULTS, "figures").keys()
    assert {name for name in targets if name not in made} == set()
    assert [name for name in differences(reference, fresh) if name in made] == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            "verification: {delta: 0.31}",
            {
                "filter_candidates": 1,
                "balance_settings": 1,
                "measure_truncation": 2,
                **TRAINED,
                **LAST,
            },
        ),
        ("training: {epochs: 2}", {**TRAINED, **LAST}),
        (
            "retrievers: {known: {bert: {learning_rate: 0.001}}}",
            {**ONE_TRAINED, **LAST},
        ),
        (
            "retrievers: {known: {bert: {label: B}}}",
            {**ONE_TRAINED, **LAST},
        ),
        (
            "evaluation: {level: 0.9}",
            {"evaluate_retriever": 2, "evaluate_reference": 2, **LAST},
        ),
        ("claims: {mean_tolerance: 0.01}", {"judge_claims": 1, **DRAWN}),
        ("listwise: {training: {learning_rate: 0.02}}", {**RERANKED, **DRAWN}),
        ("listwise: {ips: {cap: 5.0}}", {**WITH_IPS, **DRAWN}),
        ("listwise: {evaluation: {level: 0.9}}", {**SUMMARISED, **DRAWN}),
        (
            "listwise: {evaluation: {slots: {queries: 29}}}",
            {"evaluate_slots": 8, **SUMMARISED, **DRAWN},
        ),
    ],
    ids=[
        "delta", "epochs", "learning rate", "label", "level", "tolerance",
        "rerankers' learning rate", "cap", "listwise level", "slots",
    ],
)  # fmt: skip
def test_a_changed_value_reruns_what_depends_on_it(finished, change, expected):
    overlay = write_overlay(finished, change)
    assert jobs(succeed(finished, *snakemake("-n", overlays=(overlay,)))) == expected


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("training/card.py", {**TRAINED, **RETRIEVERS_DRAWN, **JUDGED, "all": 1}),
        ("listwise/slots.py", {"evaluate_slots": 8, **SUMMARISED, **LISTWISE_DRAWN, "all": 1}),
    ],
)
def test_an_edited_library_file_reruns_what_uses_it(finished, module, expected):
    library = finished / "workflow/scripts/posbias" / module
    library.write_text(library.read_text("utf-8") + "\n# A comment.\n", encoding="utf-8")
    found = jobs(succeed(finished, *snakemake("-n")))
    # The causal graph and the table of truncation are drawn from no measures.
    drawn_all_the_same = ("make_listwise_causal_graph", "make_truncation_table")
    assert found == {name: n for name, n in expected.items() if name not in drawn_all_the_same}
