"""What the analyses beside retrieval would cost: pooling, segments, moved evidence, the audit."""

from collections.abc import Mapping
from dataclasses import replace

from posbias.report.cost_sheet import FORWARD, MILLION, Cost, Plan, search, training

SEGMENTS = 3  # that a judge is asked of, one at a time


def pooling(plan: Plan) -> Cost:
    """Return what training and searching with other ways of pooling takes (Fig. 2)."""
    block, known = plan.config["analyses"]["pooling"], plan.config["retrievers"]["known"]
    name = block["retriever"]
    others = len([one for one in block["poolings"] if one != known[name]["pooling"]])
    (trained,) = training(replace(plan, retrievers=[name]))
    shown = [one for one in plan.config["figures"]["position_curves"] if one in plan.benchmarks]
    costs = [trained, *(search(plan, benchmark, [name]) for benchmark in shown)]
    return Cost(
        f"ways of pooling, {name}",
        others * sum(cost.jobs for cost in costs),
        others * sum(cost.gpu_hours for cost in costs),
        others * trained.disk_gb,
    )


def _read(plan: Plan, texts: float, chars: float, models: int) -> float:
    """Return the GPU-hours in which every retriever's `models` read so many texts."""
    operations = 0.0
    for name in plan.retrievers:
        model = plan.checkpoint(name)
        if model is not None:
            read = texts * min(plan.tokens(chars), plan.longest(name))
            operations += models * FORWARD * plan.parameters(model) * read
    return plan.hours(operations)


def segments(plan: Plan) -> Cost:
    """Return what reading documents whole and in segments takes, untrained and trained (Fig. 7)."""
    block = plan.config["analyses"]["segments"]
    size = plan.assumed["benchmarks"].get(block["benchmark"])
    models = 1 + len(plan.config["balance"]["settings"])
    # All segments together are as long as the document.
    hours = _read(plan, 2 * block["documents"], size["chars"], models) if size else 0.0
    return Cost("documents and segments", len(plan.retrievers), hours)


def moved_evidence(plan: Plan) -> Cost:
    """Return what reading documents with the evidence at every place takes (Table 13)."""
    block = plan.config["analyses"]["evidence_moving"]
    chars = plan.assumed["pair_chars"]
    models = len(plan.config["balance"]["settings"])
    hours = _read(plan, block["limit"] * block["positions"], chars, models)
    return Cost("moved evidence", 1 + len(plan.retrievers), hours)


def audit(plan: Plan, price: Mapping[str, float] | None) -> Cost:
    """Return what asking a judge of every segment takes (Table 7).

    price: dollars per million tokens of an API, `input` and `output`; None where none is asked.
    """
    block, call = plan.config["analyses"]["audit"], plan.assumed["calls"]["judge"]
    strata = 1 + len(plan.config["verification"]["thresholds"])
    calls = SEGMENTS * strata * block["per_stratum"]
    dollars = 0.0
    if price is not None:
        number = sum(n for n, _ in plan.documents())
        chars = sum(n * chars for n, chars in plan.documents()) / number / SEGMENTS
        sent = call["instructions"] + plan.tokens(chars) + plan.assumed["query_tokens"]
        dollars = calls * (sent * price["input"] + call["answer"] * price["output"]) / MILLION
    return Cost("audit", 1, 0.0, 0.0, dollars)
