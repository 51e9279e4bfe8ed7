"""What a generator would ask and what it would cost, before anything is asked."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any

from posbias.queries.chat import ChatRequest
from posbias.queries.generators import Surroundings, answerer_options, check_kind
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


@dataclass(frozen=True)
class Unpriced:
    """What a model of our own, or none, is asked: calls and characters of their prompts."""

    calls: int
    characters: int

    def __str__(self) -> str:
        return f"{self.calls:,} calls, {self.characters:,} characters of prompts, no price"


def expected_costs(
    name: str,
    entry: Mapping[str, Any],
    around: Surroundings,
    documents: Callable[[], Iterable[dict]],
) -> dict[str, Any]:
    """Return an Estimate or Unpriced of each stage and of `all`; both print as a sentence.

    Asks nothing and needs no key and no model. Raises ConfigError and DataError as the generator
    would.
    """
    check_kind(name, entry)
    if entry["kind"] == "cloze":
        return {"all": Unpriced(0, 0)}
    place = f"queries.generators.{name}.options"
    stages = requests_of_stages(documents, around.persona_choices(place))
    if entry["kind"] != "openai":
        costs = {stage: _unpriced(asked) for stage, asked in stages.items()}
    else:
        from posbias.queries.api_answerer import estimate_cost

        options = answerer_options(entry["options"])[1]
        costs = {stage: estimate_cost(asked, options, place) for stage, asked in stages.items()}
    kind = type(costs["stage_1"])
    return {**costs, "all": kind(*map(sum, zip(*map(astuple, costs.values()), strict=True)))}


def _unpriced(requests: Iterable[ChatRequest]) -> Unpriced:
    sizes = [len(request.prompt) for request in requests]
    return Unpriced(len(sizes), sum(sizes))
