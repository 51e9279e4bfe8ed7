"""What a generator would ask and what it would cost, before anything is asked."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple
from typing import Any

from posbias.queries.chat import ChatRequest
from posbias.queries.generators import Surroundings, answerer_options
from posbias.queries.llm_generator import Choice, aims_of
from posbias.queries.personas import PersonaChoices
from posbias.queries.prompts import Setting


def requests_of_stages(
    documents: Callable[[], Iterable[dict]], personas: PersonaChoices
) -> dict[str, Iterator[ChatRequest]]:
    """Return the requests of both stages, by stage, without holding them.

    documents: called once a stage. What stage 1 would choose is not known, so each document's
    nearest persona asks queries of medium length, and no document is dropped.
    """
    return {
        "stage_1": (Choice(*pair).request() for pair in personas.follow(documents())),
        "stage_2": (
            aim.request()
            for document, near in personas.follow(documents())
            for aim in aims_of(document, Setting(near[0], "university", "medium"))
        ),
    }


def expected_costs(
    name: str,
    entry: Mapping[str, Any],
    around: Surroundings,
    documents: Callable[[], Iterable[dict]],
) -> dict[str, str]:
    """Return a sentence a stage, and one for all; asks nothing and needs no key and no model.

    Raises ConfigError and DataError as the generator would.
    """
    if entry["kind"] == "cloze":
        return {"all": "asks no language model"}
    place = f"queries.generators.{name}.options"
    stages = requests_of_stages(documents, around.persona_choices(place))
    if entry["kind"] != "openai":
        return {stage: _unpaid(requests) for stage, requests in stages.items()}
    from posbias.queries.api_answerer import estimate_cost

    options = answerer_options(entry["options"])[1]
    costs = {stage: estimate_cost(asked, options, place) for stage, asked in stages.items()}
    total = type(costs["stage_1"])(*map(sum, zip(*map(astuple, costs.values()), strict=True)))
    return {stage: str(cost) for stage, cost in {**costs, "all": total}.items()}


def _unpaid(requests: Iterable[ChatRequest]) -> str:
    sizes = [len(request.prompt) for request in requests]
    return f"{len(sizes):,} calls, {sum(sizes):,} characters of prompts, no price"
