"""The registry of query generators: a new kind is one entry here and one block in the config."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from posbias.errors import ConfigError
from posbias.options import check_options
from posbias.queries.candidates import Candidate
from posbias.queries.cloze import ClozeGenerator

if TYPE_CHECKING:
    from posbias.queries.personas import PersonaChoices

# Options of LlmGenerator, whoever answers it.
LLM_OPTIONS = ("documents_at_once", "allowed_failures")


class QueryGenerator(Protocol):
    """Makes candidates from document records (`doc_id`, `text`, `bin`)."""

    name: str

    def generate(self, documents: Iterable[dict], dropped: Counter) -> Iterator[Candidate]: ...

    def summary(self) -> dict[str, Any]:
        """Return what is to be known about the making, after it."""
        ...


@dataclass(frozen=True)
class Surroundings:
    """What a generator may need besides its options.

    models: model folders by name; personas: the file of choices, then the list that they were
    made from unless it is our own; answers: folder of the logs of answers.
    """

    seed: int
    models: Mapping[str, Path] = field(default_factory=dict)
    personas: Sequence[Path] = ()
    answers: Path | None = None

    def persona_choices(self, place: str) -> "PersonaChoices":
        """Raises ConfigError where there is none, DataError for a faulty list."""
        from posbias.queries.personas import PersonaChoices

        if not self.personas:
            raise ConfigError(
                f"{place}: this kind asks in the name of personas; set queries.personas."
            )
        return PersonaChoices(*self.personas)

    def log(self, name: str, place: str) -> Path:
        """Return the log of a generator's answers; raises ConfigError without a folder for it."""
        if self.answers is None:
            raise ConfigError(f"{place}: this kind keeps its answers; name a folder for them.")
        return self.answers / f"{name}.jsonl"


def _cloze(name: str, options: dict, around: Surroundings, place: str) -> QueryGenerator:
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    own = {"seed": around.seed, "stopwords": frozenset(STOPWORDS_EN_PLUS), "name": name}
    check_options(place, ClozeGenerator, options, own=own)
    return ClozeGenerator(**own, **options)


def _openai(name: str, options: dict, around: Surroundings, place: str) -> QueryGenerator:
    from posbias.queries.api_answerer import make_api_answerer
    from posbias.queries.api_budget import Prices
    from posbias.queries.api_completion import Usage
    from posbias.queries.api_options import read_options
    from posbias.queries.llm_generator import LlmGenerator

    own, options = answerer_options(options)
    prices, counts = Prices(read_options(options, place)), Counter()
    answerer = make_api_answerer(options, around.log(name, place), around.seed, counts, place)

    def dollars(used: Counter) -> float:
        return prices.dollars(
            Usage(used["input_tokens"], used["cached_tokens"], used["output_tokens"])
        )

    personas = around.persona_choices(place)
    return LlmGenerator(answerer, personas, name, counts, dollars, **own)


def _local_lm(name: str, options: dict, around: Surroundings, place: str) -> QueryGenerator:
    from posbias.queries.llm_generator import LlmGenerator
    from posbias.queries.local_lm import LocalLm
    from posbias.queries.logged_answerer import LoggedAnswerer, Unpaid

    own, options = answerer_options(options)
    model = options.pop("model", None)
    if model not in around.models:
        raise ConfigError(f"{place}: model {model!r} is not one of {', '.join(around.models)}.")
    given = {"name": model, "seed": around.seed}
    check_options(place, LocalLm, options, given=2, own=given)
    log, personas = around.log(name, place), around.persona_choices(place)
    local = LocalLm.load(around.models[model], **given, **options)
    counts: Counter = Counter()
    answerer = LoggedAnswerer(Unpaid(local, local.settings), log, counts)
    return LlmGenerator(answerer, personas, name, counts, **own)


def answerer_options(options: Mapping[str, Any]) -> tuple[dict, dict]:
    """Part the options of all generators that ask a model from those of their answerers."""
    own = {key: value for key, value in options.items() if key in LLM_OPTIONS}
    return own, {key: value for key, value in options.items() if key not in own}


GENERATORS: dict[str, Callable[[str, dict, Surroundings, str], QueryGenerator]] = {
    "cloze": _cloze,
    "local_lm": _local_lm,
    "openai": _openai,
}


def check_kind(name: str, entry: Mapping[str, Any]) -> None:
    """Raise ConfigError for a generator of an unknown kind, listing the known ones."""
    if entry["kind"] not in GENERATORS:
        raise ConfigError(
            f"queries.generators.{name}: kind {entry['kind']!r} does not exist; known: "
            f"{', '.join(sorted(GENERATORS))}."
        )


def make_generator(name: str, entry: Mapping[str, Any], around: Surroundings) -> QueryGenerator:
    """Build the generator of a config entry `{kind, options}`.

    Raises ConfigError for an unknown kind, listing the known ones, and for what its options lack.
    """
    check_kind(name, entry)
    place = f"queries.generators.{name}.options"
    return GENERATORS[entry["kind"]](name, dict(entry["options"]), around, place)
